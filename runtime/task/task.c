/*
 * task.c -- the state machine of a task; the transitions are numbered in task.h.
 *
 * Transitions 1, 3, 5, 6 and 7 are here; 2 and 4 belong to the poll and are in
 * executor.c.
 *
 * The end of a task has one order (T9): out of the policy, UNPOSTED, its key gone
 * and so all its wakers dead, its slots emptied; only then does user code run.
 * The joiner's waker is taken out before `cleanup` and woken after it: `cleanup`
 * may free the task, and a foreign waker may do anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/task.h"

#include "runtime/runtime.h"
#include "runtime/task/budget.h"
#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

static void
check_task(const struct rt_task *task)
{
    rt_check(&task->object, RT__TASK_MAGIC);
}

/* Whether the policy holds the task. RUNNING_WOKEN is in it only under Pigweed's order. */
static bool
in_policy(const struct rt_task *task)
{
    return task->state == RT_TASK_WOKEN ||
           (task->state == RT_TASK_RUNNING_WOKEN &&
                   task->target.executor->self_wake == RT_SELF_WAKE_AT_WAKE);
}

/* Transition 3, from SLEEPING. */
static inline void
wake_sleeping(struct rt_task *task, const struct rt_site *await)
{
    struct rt_executor *executor = task->target.executor;
    rt_assert(task != executor->current);
    task->state = RT_TASK_WOKEN;
    executor->counters.wakes++;
    RT_PROBE(WAKE, task->object.id, RT_HERE, await, 0);
    rt__executor_push(executor, task);
    rt__executor_notify(executor);
}

/* Transition 3, from RUNNING: the poll may have checked already, so one more follows (T5). */
static void
wake_running(struct rt_task *task, const struct rt_site *await)
{
    struct rt_executor *executor = task->target.executor;
    rt_assert(task == executor->current);
    task->state = RT_TASK_RUNNING_WOKEN;
    executor->counters.wakes++;
    RT_PROBE(WAKE, task->object.id, RT_HERE, await, 2);
    if (executor->self_wake == RT_SELF_WAKE_AT_WAKE) {
        rt__executor_push(executor, task);
    }
}

static void
coalesce(struct rt_task *task, const struct rt_site *await)
{
    task->target.executor->counters.coalesced++;
    RT_PROBE(WAKE, task->object.id, RT_HERE, await, 1);
}

void
rt__task_woken(struct rt_target *target, const struct rt_site *await)
{
    struct rt_task *task = rt_container_of(target, struct rt_task, target);
    check_task(task);
    if (task->state == RT_TASK_RUNNING) {
        wake_running(task, await);
    } else if (task->state == RT_TASK_SLEEPING) {
        wake_sleeping(task, await);
    } else if (task->state == RT_TASK_RUNNING_DEREG) {
        RT_PROBE(WAKE_DEAD, task->object.id, RT_HERE, await, 0);
    } else {
        /* An unposted task has no key, so no waker finds it. */
        rt_assert(task->state == RT_TASK_WOKEN || task->state == RT_TASK_RUNNING_WOKEN);
        coalesce(task, await);
    }
}

static void
count_end(struct rt_executor *executor, enum rt_task_end end)
{
    if (end == RT_TASK_DONE) {
        executor->counters.completed++;
    } else if (end == RT_TASK_CANCELLED) {
        executor->counters.cancelled++;
    } else {
        executor->counters.parked++;
    }
}

/* The executor's side of an end. */
static void
leave(struct rt_task *task, enum rt_task_end end)
{
    struct rt_executor *executor = task->target.executor;
    if (in_policy(task)) {
        rt__executor_remove(executor, task);
    }
    task->state = RT_TASK_UNPOSTED;
    task->end = end;
    rt_target_close(&task->target);
    rt_assert(executor->posted > 0);
    executor->posted--;
    if (!task->background) {
        rt_assert(executor->foreground > 0);
        executor->foreground--;
    }
    count_end(executor, end);
}

/* Joiner and cleanup. Nothing of `task` is touched once cleanup was called. */
static void
call_ended(struct rt_task *task, const struct rt_site *await)
{
    rt_assert(!rt_task_posted(task));
    rt_assert(task->end == RT_TASK_DONE || task->end == RT_TASK_CANCELLED);
    struct rt__detached joiner = rt__slot_detach(&task->joiner);
    if (task->cleanup != NULL) {
        RT_PROBE(CLEANUP, task->object.id, RT_HERE, await, 0);
        task->cleanup(task);
    }
    rt__slot_fire(&joiner, await);
}

void
rt__task_end(struct rt_task *task, enum rt_task_end end, const struct rt_site *await)
{
    check_task(task);
    rt_assert(rt_task_posted(task));
    rt_assert(end != RT_TASK_NOT_ENDED);
    struct rt_executor *executor = task->target.executor;
    rt__check_here(executor);
    leave(task, end);
    rt__slots_erase(&task->slots, await);
    if (end == RT_TASK_DONE) {
        RT_PROBE(COMPLETE, task->object.id, RT_HERE, await, 0);
    }
    if (end == RT_TASK_PARKED) {
        RT_PROBE(PARK, task->object.id, RT_HERE, await, 0);
    } else {
        call_ended(task, await);
    }
    /* A loop that blocks until no task is left must be notified (D6). */
    if (executor->foreground == 0) {
        rt__executor_notify(executor);
    }
}

void
rt__task_end_child(struct rt_task *task)
{
    rt_assert(!rt_task_posted(task));
    rt_assert(rt_list_empty(&task->slots));
    task->end = RT_TASK_DONE;
    RT_PROBE(COMPLETE, task->object.id, RT_HERE, NULL, 0);
    call_ended(task, NULL);
}

void
rt_task_init(struct rt_task *task, rt_poll_fn poll, rt_cleanup_fn cleanup, const char *name)
{
    rt_assert(task != NULL);
    rt_assert(poll != NULL);
    *task = (struct rt_task){
            .object = {RT__TASK_MAGIC, 0},
            .state = RT_TASK_UNPOSTED,
            .end = RT_TASK_NOT_ENDED,
            .poll = poll,
            .cleanup = cleanup,
            .name = name != NULL ? name : "task",
    };
    rt_list_init(&task->slots);
    rt_slot_init(&task->joiner);
}

void
rt_task_fini(struct rt_task *task)
{
    check_task(task);
    if (rt_task_posted(task)) {
        rt_fault(RT_E_IN_USE, task->name, "a task was ended while it was posted");
    }
    rt_assert(rt_list_empty(&task->slots));
    rt_slot_fini(&task->joiner);
    task->object.magic = 0;
}

/* A new life; only a parked task keeps the request to end. */
static void
begin_life(struct rt_task *task)
{
    rt_assert(!rt_task_posted(task));
    rt_assert(rt_list_empty(&task->slots));
    if (task->end != RT_TASK_PARKED) {
        task->cancel_asked = false;
    }
    task->end = RT_TASK_NOT_ENDED;
    task->output_taken = false;
    task->polls = 0;
    if (task->object.id == 0) {
        task->object.id = RT_PROBE_OBJECT(TASK);
    }
    task->target.name = task->object.id;
    task->joiner.owner = task->object.id;
}

rt_err
rt_post_at(struct rt_executor *executor, struct rt_task *task, const struct rt_site *await)
{
    rt_check(executor, RT__EXECUTOR_MAGIC);
    check_task(task);
    if (rt_task_posted(task)) {
        return RT_E_POSTED;
    }
    rt__check_here(executor);
    if (executor->closed) {
        return RT_E_CLOSED;
    }
    rt_err err = rt_target_open(&task->target, executor, rt__task_woken);
    if (err != RT_OK) {
        return err;
    }
    begin_life(task);
    task->state = RT_TASK_WOKEN;
    executor->posted++;
    executor->foreground += task->background ? 0 : 1;
    RT_PROBE(POST, task->object.id, RT_HERE, await, 0);
    rt_assert(executor->foreground <= executor->posted);
    rt__executor_admit(executor, task);
    rt__executor_push(executor, task);
    rt__executor_notify(executor);
    return RT_OK;
}

void
rt_task_set_rank(struct rt_task *task, uint64_t rank)
{
    check_task(task);
    task->rank = rank;
    if (rt_task_posted(task)) {
        rt__executor_rank(task->target.executor, task);
    }
}

void
rt_task_wake_at(struct rt_task *task, const struct rt_site *await)
{
    check_task(task);
    if (!rt_task_posted(task)) {
        RT_PROBE(WAKE_DEAD, task->object.id, RT_HERE, await, 0);
        return;
    }
    rt__check_here(task->target.executor);
    rt__task_woken(&task->target, await);
}

/* A parked task has left its executor; only joiner and cleanup remain. */
static void
cancel_parked(struct rt_task *task, const struct rt_site *await)
{
    RT_PROBE(CANCEL, task->object.id, RT_HERE, await, 0);
    task->end = RT_TASK_CANCELLED;
    count_end(task->target.executor, RT_TASK_CANCELLED);
    call_ended(task, await);
}

void
rt_task_cancel_at(struct rt_task *task, const struct rt_site *await)
{
    check_task(task);
    if (task->end == RT_TASK_PARKED) {
        cancel_parked(task, await);
        return;
    }
    if (!rt_task_posted(task) || task->state == RT_TASK_RUNNING_DEREG) {
        return;
    }
    RT_PROBE(CANCEL, task->object.id, RT_HERE, await, 0);
    if (task->state == RT_TASK_WOKEN || task->state == RT_TASK_SLEEPING) {
        rt__task_end(task, RT_TASK_CANCELLED, await);
        return;
    }
    /* By itself: the poll function still uses the task's memory. */
    rt_assert(task == task->target.executor->current);
    if (in_policy(task)) {
        rt__executor_remove(task->target.executor, task);
    }
    task->state = RT_TASK_RUNNING_DEREG;
}

/* Whether the entry of `task`, given back, can never be reused, and there is no other (P2). */
static bool
last_of_its_numbers(const struct rt_task *task)
{
    const struct rt_slab *targets = &task->target.executor->targets;
    return task->target.key.generation == targets->generation_max &&
           targets->used + targets->retired == targets->capacity;
}

/* A loop that waits for the end of its root compares the key. */
static void
rename_root(struct rt_runtime *runtime, struct rt_key before, struct rt_key after)
{
    bool waits = runtime != NULL && runtime->root != NULL;
    if (waits && rt_key_pack(*runtime->root) == rt_key_pack(before)) {
        *runtime->root = after;
    }
}

rt_err
rt_task_migrate_at(struct rt_task *task, const struct rt_site *await)
{
    check_task(task);
    if (!rt_task_posted(task)) {
        return RT_OK;
    }
    struct rt_executor *executor = task->target.executor;
    if (task == executor->current) {
        rt_fault(RT_E_REENTERED, task->name, "a task was given another waker during its poll");
    }
    if (last_of_its_numbers(task)) {
        return RT_E_FULL;
    }
    if (in_policy(task)) {
        rt__executor_remove(executor, task);
    }
    struct rt_key before = task->target.key;
    task->state = RT_TASK_SLEEPING;
    rt_target_close(&task->target);
    rt_err err = rt_target_open(&task->target, executor, rt__task_woken);
    rt_assert(err == RT_OK);
    rename_root(executor->runtime, before, task->target.key);
    wake_sleeping(task, await);
    rt__slots_erase(&task->slots, await);
    return RT_OK;
}

void
rt_task_ask_cancel_at(struct rt_task *task, const struct rt_site *await)
{
    check_task(task);
    if (rt_task_posted(task)) {
        task->cancel_asked = true;
        rt_task_wake_at(task, await);
    } else if (task->end == RT_TASK_PARKED) {
        task->cancel_asked = true;
    }
}

void
rt_task_release_at(struct rt_task *task, const struct rt_site *await)
{
    check_task(task);
    if (!task->detached) {
        rt_task_cancel_at(task, await);
    }
}

void
rt_task_detach(struct rt_task *task)
{
    check_task(task);
    task->detached = true;
}

/* Whether the last life has ended; a parked task may continue. */
static bool
has_ended(const struct rt_task *task)
{
    return task->end == RT_TASK_DONE || task->end == RT_TASK_CANCELLED;
}

rt_poll
rt_task_join_at(struct rt_task *task, struct rt_cx *cx, const struct rt_site *await)
{
    check_task(task);
    RT_AWAIT(rt_budget_take_at(cx, await));
    if (has_ended(task)) {
        (void)rt_slot_clear_at(&task->joiner, await);
        return RT_READY;
    }
    rt_budget_restore(cx);
    rt_slot_replace_at(&task->joiner, cx, "the end of a task", RT_HERE, await);
    return RT_PENDING;
}

rt_err
rt_task_take(struct rt_task *task, void **ret_output)
{
    check_task(task);
    rt_assert(ret_output != NULL);
    if (!has_ended(task)) {
        return RT_E_AGAIN;
    }
    if (task->end == RT_TASK_CANCELLED) {
        return RT_E_CANCELLED;
    }
    if (task->output_taken) {
        return RT_E_TAKEN;
    }
    rt_assert(task->end == RT_TASK_DONE);
    task->output_taken = true;
    *ret_output = task->output;
    return RT_OK;
}

const char *
rt_task_state_name(enum rt_task_state state)
{
    switch (state) {
    case RT_TASK_UNPOSTED:
        return "unposted";
    case RT_TASK_WOKEN:
        return "woken";
    case RT_TASK_RUNNING:
        return "running";
    case RT_TASK_RUNNING_WOKEN:
        return "running, woken again";
    case RT_TASK_RUNNING_DEREG:
        return "running, cancelled";
    case RT_TASK_SLEEPING:
        return "sleeping";
    }
    return "?";
}
