/*
 * executor_test.c -- what is polled when, what a run call answers, and what is counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/executor.h"
#include "runtime/tests/bed.h"

/* Holds D1. */
TEST(executor_polls_in_the_order_of_wakes)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "s.!");
    actor_start(&b, &bed, "b", "s.!");
    actor_start(&c, &bed, "c", "s.!");
    (void)bed_run(&bed);
    rt_task_wake(&c.task);
    rt_task_wake(&a.task);
    rt_task_wake(&b.task);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "a b c c ~c a ~a b ~b");
}

/* Holds C2, T5, D2: both orders pinned. A wakes itself, then B. */
TEST(executor_puts_a_self_wake_where_configured)
{
    static const char *const logs[] = {"a b ~b a ~a", "a a ~a b ~b"};
    for (int mode = 0; mode < 2; mode++) {
        struct bed bed;
        bed_init_self_wake(&bed, mode == 0 ? RT_SELF_WAKE_AFTER_POLL : RT_SELF_WAKE_AT_WAKE);
        struct actor a;
        struct actor b;
        actor_start(&b, &bed, "b", "s.!");
        (void)bed_run(&bed);
        bed.log[0] = '\0';
        actor_start(&a, &bed, "a", "wo.!");
        a.other = &b;
        (void)bed_run(&bed);
        EXPECT_STR(bed.log, logs[mode]);
    }
}

/* Holds D2. */
TEST(executor_runs_what_is_woken_and_posted_meanwhile)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&b, &bed, "b", "s.+!");
    (void)bed_run(&bed);
    actor_start(&a, &bed, "a", "o!");
    actor_init(&c, &bed, "c", "w.w.!");
    a.other = &b;
    b.other = &c;
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&bed.executor, UINT64_MAX, &result), RT_OK);
    EXPECT_STR(bed.log, "b a ~a b ~b c c c ~c");
    EXPECT_EQ(result.polled, 5);
    EXPECT_EQ(result.remaining, 0);
    EXPECT_EQ(result.stall, RT_STALL_COMPLETE);
}

static rt_poll
spin(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* Holds D2. */
TEST(executor_stops_at_the_bound_on_polls)
{
    struct bed bed;
    bed_init(&bed);
    struct rt_task spinner;
    rt_task_init(&spinner, spin, NULL, "spinner");
    EXPECT_EQ(rt_post(&bed.executor, &spinner), RT_OK);
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&bed.executor, 100, &result), RT_OK);
    EXPECT_EQ(result.polled, 100);
    EXPECT_EQ(result.stall, RT_STALL_LIMIT);
    EXPECT_EQ(result.remaining, 1);
    EXPECT_EQ(rt_run_until_stalled(&bed.executor, 0, &result), RT_OK);
    EXPECT_EQ(result.polled, 0);
    EXPECT_EQ(result.stall, RT_STALL_LIMIT);
}

/* Holds D2. The bound is reached by the very poll after which nothing is woken. */
TEST(executor_stalled_at_the_bound_reports_stalled)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "w.s.");
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&bed.executor, 2, &result), RT_OK);
    EXPECT_EQ(result.stall, RT_STALL_SLEEPING);
    EXPECT_EQ(result.remaining, 1);
}

/* Holds D3. */
TEST(executor_without_tasks_is_complete_at_once)
{
    struct bed bed;
    bed_init(&bed);
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&bed.executor, UINT64_MAX, &result), RT_OK);
    EXPECT_EQ(result.polled, 0);
    EXPECT_EQ(result.remaining, 0);
    EXPECT_EQ(result.stall, RT_STALL_COMPLETE);
    EXPECT(!rt_run_one(&bed.executor));
    EXPECT(!rt_run_index(&bed.executor, 0));
    EXPECT(!rt_run_index(&bed.executor, UINT32_MAX));
}

/* Holds D3, D4. Background tasks are run, but completion does not wait for them. */
TEST(executor_with_background_tasks_only_is_complete)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_init(&a, &bed, "a", "s.!");
    a.task.background = true;
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    actor_start(&b, &bed, "b", "s.!");
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&bed.executor, UINT64_MAX, &result), RT_OK);
    EXPECT_EQ(result.stall, RT_STALL_SLEEPING);
    rt_task_wake(&b.task);
    EXPECT_EQ(rt_run_until_stalled(&bed.executor, UINT64_MAX, &result), RT_OK);
    EXPECT_EQ(result.stall, RT_STALL_COMPLETE);
    EXPECT_EQ(result.remaining, 1);
    EXPECT_STR(bed.log, "a b b ~b");
}

/* Holds D4, W3: every wake is followed by a poll, also one from inside a poll. */
TEST(executor_run_call_never_returns_with_a_task_woken)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "s.os.os.!");
    actor_start(&b, &bed, "b", "os.os.os.!");
    a.other = &b;
    b.other = &a;
    (void)bed_run(&bed);
    EXPECT_EQ(bed.executor.woken, 0);
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    EXPECT_EQ(b.task.state, RT_TASK_SLEEPING);
    EXPECT_STR(bed.log, "a b a b a b a ~a");
}

/* Holds D6. */
TEST(executor_that_loses_its_last_task_notifies_the_host)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "s.");
    actor_start(&b, &bed, "b", "s.");
    actor_init(&c, &bed, "c", "s.");
    c.task.background = true;
    EXPECT_EQ(rt_post(&bed.executor, &c.task), RT_OK);
    (void)bed_run(&bed);
    bed.notifies = 0;
    rt_task_cancel(&a.task);
    EXPECT_EQ(bed.notifies, 0);
    rt_task_cancel(&b.task);
    EXPECT_EQ(bed.notifies, 1);
    rt_task_cancel(&c.task);
    EXPECT_EQ(bed.notifies, 1);
}

/* Holds D7. */
TEST(executor_notifies_the_host_once_between_two_runs)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "s.s.s.");
    actor_start(&b, &bed, "b", "s.s.s.");
    EXPECT_EQ(bed.notifies, 1);
    (void)bed_run(&bed);
    EXPECT_EQ(bed.notifies, 1);
    rt_task_wake(&a.task);
    rt_task_wake(&a.task);
    rt_task_wake(&b.task);
    EXPECT_EQ(bed.notifies, 2);
    /* Not re-armed: one task is still woken after this. */
    EXPECT(rt_run_one(&bed.executor));
    rt_task_wake(&a.task);
    EXPECT_EQ(bed.notifies, 2);
    (void)bed_run(&bed);
    rt_task_wake(&b.task);
    EXPECT_EQ(bed.notifies, 3);
}

/* Holds D7. */
TEST(executor_does_not_notify_the_host_of_wakes_inside_a_run)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&b, &bed, "b", "s.s.");
    (void)bed_run(&bed);
    actor_start(&a, &bed, "a", "ow.!");
    a.other = &b;
    bed.notifies = 0;
    (void)bed_run(&bed);
    EXPECT_EQ(bed.notifies, 0);
}

/* Holds D8. Between "nothing is woken" and the host's sleep a wake arrives: the host is notified,
 * so its next wait returns at once. Nothing of the executor is in between. */
TEST(executor_notifies_the_host_of_a_wake_before_it_sleeps)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "k.k.");
    (void)bed_run(&bed);
    EXPECT_EQ(bed.executor.woken, 0);
    unsigned seen_empty_at = bed.notifies;
    rt_waker_wake(&a.waker);
    EXPECT_EQ(bed.notifies, seen_empty_at + 1);
    EXPECT(!rt_run_index(&bed.executor, 1));
    EXPECT_EQ(bed.executor.woken, 1);
    EXPECT_EQ(bed_run(&bed), 1);
}

/* Holds D9. */
TEST(executor_ended_with_tasks_posted_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.");
    EXPECT_FAULT(RT_E_IN_USE, rt_executor_fini(&bed.executor));
    (void)bed_run(&bed);
    EXPECT_FAULT(RT_E_IN_USE, rt_executor_fini(&bed.executor));
    rt_task_cancel(&a.task);
    rt_executor_fini(&bed.executor);
    EXPECT_PANIC((void)rt_run_one(&bed.executor));
}

/* Holds D9. */
TEST(executor_terminated_cancels_all_and_refuses_the_next)
{
    struct bed bed;
    bed_init(&bed);
    struct actor actors[3];
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        actor_start(&actors[i], &bed, names[i], "s.");
    }
    (void)bed_run(&bed);
    rt_task_wake(&actors[1].task);
    rt_terminate(&bed.executor);
    EXPECT_STR(bed.log, "a b c ~a ~b ~c");
    EXPECT_EQ(bed.executor.posted, 0);
    EXPECT_EQ(rt_post(&bed.executor, &actors[0].task), RT_E_CLOSED);
    EXPECT_EQ(actors[0].task.state, RT_TASK_UNPOSTED);
    rt_terminate(&bed.executor);
    rt_executor_fini(&bed.executor);
}

static rt_poll
terminate_all(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    rt_terminate(cx->executor);
    return RT_PENDING;
}

/* Holds D9, T15. */
TEST(executor_terminated_from_inside_a_poll_ends_that_task_too)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.");
    struct rt_task task;
    rt_task_init(&task, terminate_all, NULL, "t");
    EXPECT_EQ(rt_post(&bed.executor, &task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 2);
    EXPECT_EQ(task.end, RT_TASK_CANCELLED);
    rt_executor_fini(&bed.executor);
}

/* How a poll or a cleanup ran the executor that runs it. */
struct nester {
    struct rt_task task;
    struct rt_executor *executor;
    rt_err answer;
    unsigned how; /* 0: until stalled; 1: one; 2: by index. */
};

static void
nest(struct nester *nester)
{
    struct rt_run_result result = {.polled = 77};
    switch (nester->how) {
    case 0:
        nester->answer = rt_run_until_stalled(nester->executor, 10, &result);
        EXPECT_EQ(result.polled, 77);
        return;
    case 1:
        (void)rt_run_one(nester->executor);
        return;
    default:
        (void)rt_run_index(nester->executor, 0);
    }
}

static rt_poll
nester_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    nest(rt_container_of(task, struct nester, task));
    return RT_READY;
}

static void
nester_cleanup(struct rt_task *task)
{
    nest(rt_container_of(task, struct nester, task));
}

static void
nester_start(struct nester *nester, struct bed *bed, unsigned how, rt_cleanup_fn cleanup)
{
    nester->executor = &bed->executor;
    nester->answer = RT_OK;
    nester->how = how;
    rt_task_init(&nester->task, nester_poll, cleanup, "nester");
    EXPECT_EQ(rt_post(&bed->executor, &nester->task), RT_OK);
}

/* Holds D10. */
TEST(executor_run_from_inside_a_poll_is_refused)
{
    struct bed bed;
    bed_init(&bed);
    struct nester nester;
    nester_start(&nester, &bed, 0, nester_cleanup);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(nester.answer, RT_E_REENTERED);
}

static void
expect_nested_step_is_a_fault(unsigned how)
{
    struct bed bed;
    bed_init(&bed);
    struct nester nester;
    nester_start(&nester, &bed, how, NULL);
    EXPECT_FAULT(RT_E_REENTERED, (void)rt_run_one(&bed.executor));
    EXPECT_STR(test_trap.who, "nester");
}

/* Holds D10. */
TEST(executor_stepped_from_inside_a_poll_is_a_fault)
{
    expect_nested_step_is_a_fault(1);
    expect_nested_step_is_a_fault(2);
}

/* Holds D14. */
TEST(executor_counts_exactly)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "kww.s.!"); /* one wake, one coalesced */
    actor_start(&b, &bed, "b", "s.");      /* cancelled below */
    actor_start(&c, &bed, "c", "p");       /* parks: neither completed nor cancelled */
    EXPECT_EQ(bed_run(&bed), 4);
    rt_waker_wake(&a.waker);
    rt_task_cancel(&b.task);
    EXPECT_EQ(bed_run(&bed), 1);
    rt_task_wake(&a.task); /* ended: not counted */
    const struct rt_executor_counters *counters = &bed.executor.counters;
    EXPECT_EQ(counters->polled, 5);
    EXPECT_EQ(counters->completed, 1);
    EXPECT_EQ(counters->cancelled, 1);
    EXPECT_EQ(counters->wakes, 2);
    EXPECT_EQ(counters->coalesced, 1);
    EXPECT_EQ(counters->sleeps, 0);
    EXPECT_EQ(counters->clones, 1);
    EXPECT_EQ(counters->returned, 1);
    EXPECT_EQ(a.task.polls, 3);
}

TEST(executor_without_capacity_refuses_a_task)
{
    struct bed bed;
    bed_init(&bed);
    struct rt_executor_config config = bed_config(&bed);
    config.capacity = 1;
    rt_executor_init(&bed.executor, &config);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "!");
    actor_init(&b, &bed, "b", "!");
    EXPECT_EQ(rt_post(&bed.executor, &b.task), RT_E_FULL);
    EXPECT_EQ(b.task.state, RT_TASK_UNPOSTED);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_post(&bed.executor, &b.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "a ~a b ~b");
}

TEST(executor_polls_a_woken_task_by_index_past_the_policy)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "s.!");
    actor_start(&b, &bed, "b", "s.!");
    EXPECT(rt_executor_task(&bed.executor, b.task.target.key.index) == &b.task);
    EXPECT(rt_run_index(&bed.executor, b.task.target.key.index));
    EXPECT(!rt_run_index(&bed.executor, b.task.target.key.index));
    rt_executor_audit(&bed.executor);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "b a");
}

struct visits {
    const struct rt_task *tasks[BED_CAPACITY];
    unsigned count;
};

static void
visit(const struct rt_task *task, void *argument)
{
    struct visits *visits = argument;
    visits->tasks[visits->count++] = task;
}

static void
ignore_wake(struct rt_target *target, const struct rt_site *await)
{
    (void)target;
    (void)await;
}

TEST(executor_shows_its_tasks_in_index_order_and_no_other_targets)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct rt_target target = {0};
    actor_start(&a, &bed, "a", "!");
    EXPECT_EQ(rt_target_open(&target, &bed.executor, ignore_wake), RT_OK);
    actor_start(&b, &bed, "b", "!");
    struct visits visits = {.count = 0};
    rt_executor_each(&bed.executor, visit, &visits);
    EXPECT_EQ(visits.count, 2);
    EXPECT(visits.tasks[0] == &a.task);
    EXPECT(visits.tasks[1] == &b.task);
    EXPECT(rt_executor_task(&bed.executor, target.key.index) == NULL);
    EXPECT(!rt_run_index(&bed.executor, target.key.index));
}

TEST(executor_audit_panics_when_a_count_is_wrong)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.");
    bed.executor.posted++;
    EXPECT_PANIC(rt_executor_audit(&bed.executor));
    bed.executor.posted--;
    bed.executor.woken++;
    EXPECT_PANIC(rt_executor_audit(&bed.executor));
    bed.executor.woken--;
    rt_executor_audit(&bed.executor);
    /* Asleep by its state; queued in the policy. */
    a.task.state = RT_TASK_SLEEPING;
    EXPECT_PANIC(rt_executor_audit(&bed.executor));
}

/*
 * The model: an array of numbers for the queue, and for each task whether it is there and asleep.
 * A task of this test sleeps until the test ends it.
 */
#define MODEL_TASKS 8
struct model_task {
    struct rt_task task;
    struct rt_slot slot;
    uint32_t number;
    bool ends;   /* Its next poll answers READY. */
    bool yields; /* Its next poll wakes itself. */
    struct model *model;
};

struct model {
    struct model_task tasks[MODEL_TASKS];
    uint32_t queue[MODEL_TASKS];
    uint32_t queued;
    bool posted[MODEL_TASKS];
    uint32_t polled_last; /* By the executor. */
};

static bool
model_has(const struct model *model, uint32_t number)
{
    for (uint32_t i = 0; i < model->queued; i++) {
        if (model->queue[i] == number) {
            return true;
        }
    }
    return false;
}

static void
model_add(struct model *model, uint32_t number)
{
    if (!model_has(model, number)) {
        model->queue[model->queued++] = number;
    }
}

static void
model_remove(struct model *model, uint32_t number)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->queued; i++) {
        if (model->queue[i] != number) {
            model->queue[kept++] = model->queue[i];
        }
    }
    model->queued = kept;
}

static rt_poll
model_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct model_task *self = rt_container_of(task, struct model_task, task);
    self->model->polled_last = self->number;
    if (self->ends) {
        return RT_READY;
    }
    rt_slot_replace(&self->slot, cx, "x");
    if (self->yields) {
        rt_cx_reenqueue(cx);
    }
    return RT_PENDING;
}

static void
model_run_one(struct model *model, struct rt_executor *executor)
{
    if (model->queued == 0) {
        EXPECT(!rt_run_one(executor));
        return;
    }
    uint32_t number = model->queue[0];
    model_remove(model, number);
    EXPECT(rt_run_one(executor));
    EXPECT_EQ(model->polled_last, number);
    struct model_task *self = &model->tasks[number];
    if (self->ends) {
        model->posted[number] = false;
    } else if (self->yields) {
        model_add(model, number);
    }
}

static void
model_step(struct model *model, struct rt_executor *executor, uint64_t *random)
{
    uint32_t number = bed_below(random, MODEL_TASKS);
    struct model_task *self = &model->tasks[number];
    switch (bed_below(random, 6)) {
    case 0:
        EXPECT_EQ(rt_post(executor, &self->task), model->posted[number] ? RT_E_POSTED : RT_OK);
        if (!model->posted[number]) {
            model->posted[number] = true;
            self->ends = bed_below(random, 4) == 0;
            self->yields = bed_below(random, 4) == 0;
            model_add(model, number);
        }
        return;
    case 1:
        rt_task_cancel(&self->task);
        model->posted[number] = false;
        model_remove(model, number);
        return;
    case 2:
        if (rt_slot_wake(&self->slot)) {
            EXPECT(model->posted[number]);
            model_add(model, number);
        }
        return;
    case 3:
        rt_task_wake(&self->task);
        if (model->posted[number]) {
            model_add(model, number);
        }
        return;
    default:
        self->yields = bed_below(random, 4) == 0;
        model_run_one(model, executor);
    }
}

/*
 * Holds T2, T3, T4, T15, T16, D1.
 * Goal: no history of posts, wakes, cancels and polls makes the executor lose, repeat or reorder a
 * poll. Method: an array of numbers beside it, compared at every poll; an audit after every step.
 */
TEST(executor_long_random_history_agrees_with_an_array)
{
    struct bed bed;
    bed_init(&bed);
    static struct model model;
    for (uint32_t i = 0; i < MODEL_TASKS; i++) {
        struct model_task *self = &model.tasks[i];
        *self = (struct model_task){.number = i, .model = &model};
        rt_task_init(&self->task, model_poll, NULL, "model");
        rt_slot_init(&self->slot);
    }
    uint64_t random = 7;
    for (int step = 0; step < 50000; step++) {
        model_step(&model, &bed.executor, &random);
        rt_executor_audit(&bed.executor);
        EXPECT_EQ(bed.executor.woken, model.queued);
        for (uint32_t i = 0; i < MODEL_TASKS; i++) {
            EXPECT_EQ(rt_task_posted(&model.tasks[i].task), model.posted[i]);
        }
    }
    EXPECT(bed.executor.counters.completed > 100);
    EXPECT(bed.executor.counters.cancelled > 100);
}
