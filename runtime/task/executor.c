/*
 * executor.c -- one poll, what its answer means, and the calls that make polls happen.
 *
 * A poll is transition 2 of task.h, the user's function, and transition 4, 5, 6 or
 * 7. Everything that other code may read meanwhile (`current`, `running`, the
 * state, the counts) is right before the function is called and again before
 * `cleanup` is; nothing of the task is read after its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/executor.h"

#include "runtime/runtime.h"
#include "runtime/task/budget.h"
#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

static void
check_executor(const struct rt_executor *executor)
{
    rt_check(executor, RT__EXECUTOR_MAGIC);
}

static void
verify(const struct rt_executor *executor)
{
#ifdef RT_VERIFY
    rt_executor_audit(executor);
#else
    (void)executor;
#endif
}

void
rt__executor_admit(struct rt_executor *executor, const struct rt_task *task)
{
    if (executor->sched->ops->admit != NULL) {
        executor->sched->ops->admit(executor->sched, task->target.key.index, task->rank);
    }
}

void
rt__executor_rank(struct rt_executor *executor, const struct rt_task *task)
{
    if (executor->sched->ops->rank != NULL) {
        executor->sched->ops->rank(executor->sched, task->target.key.index, task->rank);
    }
}

void
rt__executor_remove(struct rt_executor *executor, const struct rt_task *task)
{
    rt_assert(executor->woken > 0);
    executor->woken--;
    executor->sched->ops->remove(executor->sched, task->target.key.index);
}

static struct rt_task *
task_at(const struct rt_executor *executor, uint32_t index)
{
    struct rt_target *target = rt_slab_at(&executor->targets, index, NULL);
    if (target == NULL || target->woken != rt__task_woken) {
        return NULL;
    }
    return rt_container_of(target, struct rt_task, target);
}

/* Transition 4. T12: a waker must exist, in a slot or as a clone, or the task sleeps forever. */
static inline void
go_to_sleep(struct rt_task *task)
{
    rt_assert(task->state == RT_TASK_RUNNING);
    if (rt_list_empty(&task->slots) && task->target.clones == 0) {
        rt_fault(RT_E_NO_WAKER, task->name, "a poll returned PENDING and no waker was stored");
    }
    task->state = RT_TASK_SLEEPING;
}

/* Transition 4 of a task that was woken during its poll. */
static void
go_on(struct rt_executor *executor, struct rt_task *task)
{
    task->state = RT_TASK_WOKEN;
    if (executor->self_wake == RT_SELF_WAKE_AFTER_POLL) {
        rt__executor_push(executor, task);
    }
}

/* What an answer other than "woken again, and pending" means. `task` may be gone afterwards. */
static void
settle(struct rt_executor *executor, struct rt_task *task, rt_poll answer)
{
    if (task->state == RT_TASK_RUNNING_DEREG) {
        rt__task_end(task, RT_TASK_CANCELLED, NULL);
        return;
    }
    switch (answer) {
    case RT_READY:
        rt__task_end(task, RT_TASK_DONE, NULL);
        return;
    case RT_PARKED:
    case RT_PENDING:
        if (task->state == RT_TASK_RUNNING_WOKEN) {
            go_on(executor, task);
        } else if (answer == RT_PARKED) {
            rt__task_end(task, RT_TASK_PARKED, NULL);
        } else {
            go_to_sleep(task);
        }
        return;
    }
    rt_fault(RT_E_INVALID, task->name, "a poll answered something that is no rt_poll");
}

/* As rt_cx_init and rt_cx_poison, in the path of every poll: rt_executor_init has set what never
 * changes. */
static inline void
begin_context(struct rt_executor *executor, struct rt_task *task)
{
    struct rt_cx *cx = &executor->cx;
    cx->magic = RT_CX_MAGIC;
    cx->runtime = executor->runtime;
    cx->task = task;
    cx->waker.data = rt_key_pack(task->target.key);
    executor->budget_left = executor->budget;
}

/* The check fails, and there is no task to find. */
static inline void
end_context(struct rt_cx *cx)
{
    cx->magic = 0;
    cx->task = NULL;
}

/* Polls `task`, which was just popped from the policy. Inlined explicitly: every poll of every run
 * goes through one of the four callers, and this is most of what they do. */
__attribute__((always_inline)) static inline void
poll_task(struct rt_executor *executor, struct rt_task *task)
{
    rt_assert(task->state == RT_TASK_WOKEN);
    rt_assert(executor->woken > 0);
    executor->woken--;
    executor->counters.polled++;
    task->polls++;
    /* The mark goes before the call: a wake from here on is for the next poll (T6). */
    task->state = RT_TASK_RUNNING;
    executor->current = task;
    begin_context(executor, task);
    RT_PROBE(POLL, task->object.id, RT_HERE, NULL, 0);
    rt_poll answer = task->poll(task, &executor->cx);
    RT_PROBE(POLLED, task->object.id, RT_HERE, NULL, (uint64_t)answer);
    end_context(&executor->cx);
    executor->current = NULL;
    /* The two answers of most polls first. */
    if (answer == RT_PENDING && task->state == RT_TASK_RUNNING_WOKEN) {
        go_on(executor, task);
    } else if (answer == RT_PENDING && task->state == RT_TASK_RUNNING) {
        go_to_sleep(task);
    } else {
        settle(executor, task, answer);
    }
}

/* The end of a run: clears `running`, and allows the next notification once the queue is empty. */
static void
leave_run(struct rt_executor *executor)
{
    executor->running = false;
    if (executor->woken == 0) {
        executor->notified = false;
    }
    verify(executor);
}

static inline void
enter_run(struct rt_executor *executor)
{
    check_executor(executor);
    if (__builtin_expect(executor->running, 0)) {
        rt_fault(RT_E_REENTERED, executor->current != NULL ? executor->current->name : NULL,
                "the executor was run from inside itself");
    }
    rt__check_here(executor);
    executor->running = true;
    if (executor->begin_round != NULL) {
        executor->begin_round(executor->runtime);
    }
}

/* The policy's next task, or NULL. A policy may let others work before it answers (the simulator's
 * does), so that no task may be left when it does; or it holds back tasks outside the batch. */
static struct rt_task *
next_task(struct rt_executor *executor)
{
    if (executor->woken == 0) {
        return NULL;
    }
    uint32_t index = executor->sched->ops->pop(executor->sched);
    if (index == RT_SCHED_NONE) {
        return NULL;
    }
    struct rt_task *task = task_at(executor, index);
    rt_assert(task != NULL);
    return task;
}

void
rt_executor_init(struct rt_executor *executor, const struct rt_executor_config *config)
{
    rt_assert(executor != NULL);
    rt_assert(config != NULL);
    rt_assert(config->sched != NULL || config->links != NULL || config->capacity == 0);
    *executor = (struct rt_executor){
            .magic = RT__EXECUTOR_MAGIC,
            .self_wake = config->self_wake,
            .budget = config->budget != 0 ? config->budget : RT_BUDGET_UNCONSTRAINED,
            .sched = config->sched,
            .notify = config->notify,
            .notify_argument = config->notify_argument,
            .choose = config->choose,
            .choose_argument = config->choose_argument,
            .here = config->here,
            .here_argument = config->here_argument,
    };
    rt__target_vt(&executor->vt);
    rt_cx_poison(&executor->cx);
    executor->cx.executor = executor;
    executor->cx.waker.vt = &executor->vt;
    rt_slab_init(&executor->targets, config->entries, config->capacity);
    if (config->sched == NULL) {
        rt_sched_fifo_init(&executor->fifo, config->links, config->capacity);
        executor->sched = &executor->fifo.sched;
    }
}

void
rt_executor_fini(struct rt_executor *executor)
{
    check_executor(executor);
    if (executor->posted != 0) {
        rt_fault(RT_E_IN_USE, NULL, "an executor was ended while tasks were posted");
    }
    rt_assert(executor->woken == 0);
    rt_assert(executor->foreground == 0);
    rt_assert(!executor->running);
    executor->magic = 0;
}

void
rt_terminate_at(struct rt_executor *executor, const struct rt_site *await)
{
    check_executor(executor);
    executor->closed = true;
    for (uint32_t i = 0; i < executor->targets.touched; i++) {
        struct rt_task *task = task_at(executor, i);
        if (task != NULL) {
            rt_task_cancel_at(task, await);
        }
    }
    rt_assert(executor->posted == (executor->current != NULL ? 1u : 0u));
}

bool
rt_run_one(struct rt_executor *executor)
{
    enter_run(executor);
    struct rt_task *task = next_task(executor);
    if (task != NULL) {
        poll_task(executor, task);
    }
    leave_run(executor);
    return task != NULL;
}

void
rt_run_taken(struct rt_executor *executor, struct rt_task *task)
{
    enter_run(executor);
    if (task->state != RT_TASK_WOKEN || task->target.executor != executor) {
        rt_fault(RT_E_INVALID, task->name, "a task was to be polled that is not woken");
    }
    poll_task(executor, task);
    leave_run(executor);
}

bool
rt_run_index(struct rt_executor *executor, uint32_t index)
{
    enter_run(executor);
    struct rt_task *task = task_at(executor, index);
    bool woken = task != NULL && task->state == RT_TASK_WOKEN;
    if (woken) {
        executor->sched->ops->remove(executor->sched, index);
        poll_task(executor, task);
    }
    leave_run(executor);
    return woken;
}

static enum rt_stall
why_stalled(const struct rt_executor *executor)
{
    if (executor->woken != 0) {
        return RT_STALL_LIMIT;
    }
    return executor->foreground == 0 ? RT_STALL_COMPLETE : RT_STALL_SLEEPING;
}

rt_err
rt_run_until_stalled(
        struct rt_executor *executor, rt_count polls_max, struct rt_run_result *ret_result)
{
    check_executor(executor);
    rt_assert(ret_result != NULL);
    if (executor->running) {
        return RT_E_REENTERED;
    }
    enter_run(executor);
    rt_count polled = 0;
    while (polled < polls_max) {
        struct rt_task *task = next_task(executor);
        if (task == NULL) {
            break;
        }
        poll_task(executor, task);
        verify(executor);
        polled++;
    }
    leave_run(executor);
    *ret_result = (struct rt_run_result){polled, executor->posted, why_stalled(executor)};
    return RT_OK;
}

rt_poll
rt_task_poll_child(struct rt_task *task, struct rt_cx *cx)
{
    rt_check(&task->object, RT__TASK_MAGIC);
    rt_cx_check(cx);
    if (rt_task_posted(task)) {
        rt_fault(RT_E_POSTED, task->name, "a posted task was polled by hand");
    }
    if (task->end == RT_TASK_DONE || task->end == RT_TASK_CANCELLED) {
        rt_fault(RT_E_FINISHED, task->name, "a task that has finished was polled again");
    }
    if (task->object.id == 0) {
        task->object.id = RT_PROBE_OBJECT(TASK);
    }
    task->polls++;
    rt_poll answer = task->poll(task, cx);
    rt_cx_check(cx);
    if (answer == RT_READY) {
        rt__task_end_child(task);
    }
    return answer;
}

uint32_t
rt_executor_choose(const struct rt_executor *executor, uint32_t n)
{
    check_executor(executor);
    rt_assert(n > 0);
    if (n == 1 || executor->choose == NULL) {
        return 0;
    }
    uint32_t chosen = executor->choose(executor->choose_argument, n);
    rt_assert(chosen < n);
    return chosen;
}

struct rt_task *
rt_executor_task(const struct rt_executor *executor, uint32_t index)
{
    check_executor(executor);
    return task_at(executor, index);
}

void
rt_executor_each(const struct rt_executor *executor,
        void (*visit)(const struct rt_task *task, void *argument), void *argument)
{
    check_executor(executor);
    rt_assert(visit != NULL);
    for (uint32_t i = 0; i < executor->targets.touched; i++) {
        const struct rt_task *task = task_at(executor, i);
        if (task != NULL) {
            visit(task, argument);
        }
    }
}
