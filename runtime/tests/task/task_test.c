/*
 * task_test.c -- the life of a task, statement by statement.
 *
 * Its states: posted, woken, asleep, parked. How it ends is task_end_test.c, its joiner
 * task_join_test.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/task.h"

#include "runtime/tests/bed.h"

/* What a task saw of itself in its polls. */
struct witness {
    struct rt_task task;
    enum rt_task_state states[3];
};

static rt_poll
witness_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct witness *witness = rt_container_of(task, struct witness, task);
    witness->states[0] = task->state;
    rt_cx_reenqueue(cx);
    witness->states[1] = task->state;
    rt_task_cancel(task);
    witness->states[2] = task->state;
    return RT_PENDING;
}

/* Holds T1. */
TEST(task_goes_through_its_six_states)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_init(&a, &bed, "a", "s.");
    EXPECT_EQ(a.task.state, RT_TASK_UNPOSTED);
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    EXPECT_EQ(a.task.state, RT_TASK_WOKEN);
    (void)bed_run(&bed);
    EXPECT_EQ(a.task.state, RT_TASK_SLEEPING);
    struct witness witness;
    rt_task_init(&witness.task, witness_poll, NULL, "w");
    EXPECT_EQ(rt_post(&bed.executor, &witness.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_EQ(witness.states[0], RT_TASK_RUNNING);
    EXPECT_EQ(witness.states[1], RT_TASK_RUNNING_WOKEN);
    EXPECT_EQ(witness.states[2], RT_TASK_RUNNING_DEREG);
    EXPECT_EQ(witness.task.state, RT_TASK_UNPOSTED);
}

/* Holds T1. */
TEST(task_states_have_names)
{
    EXPECT_STR(rt_task_state_name(RT_TASK_UNPOSTED), "unposted");
    EXPECT_STR(rt_task_state_name(RT_TASK_WOKEN), "woken");
    EXPECT_STR(rt_task_state_name(RT_TASK_RUNNING), "running");
    EXPECT_STR(rt_task_state_name(RT_TASK_RUNNING_WOKEN), "running, woken again");
    EXPECT_STR(rt_task_state_name(RT_TASK_RUNNING_DEREG), "running, cancelled");
    EXPECT_STR(rt_task_state_name(RT_TASK_SLEEPING), "sleeping");
}

/* Holds T2. */
TEST(task_posted_is_queued_at_the_tail_and_not_polled_inline)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "!");
    actor_start(&b, &bed, "b", "!");
    EXPECT_STR(bed.log, "");
    EXPECT_EQ(bed_run(&bed), 2);
    EXPECT_STR(bed.log, "a ~a b ~b");
}

/* Holds T3. */
TEST(task_posted_twice_is_refused_and_unchanged)
{
    struct bed bed;
    struct bed elsewhere;
    bed_init(&bed);
    bed_init(&elsewhere);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!");
    struct rt_key key = a.task.target.key;
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_E_POSTED);
    EXPECT_EQ(rt_post(&elsewhere.executor, &a.task), RT_E_POSTED);
    EXPECT_EQ(a.task.state, RT_TASK_WOKEN);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_E_POSTED);
    EXPECT_EQ(a.task.state, RT_TASK_SLEEPING);
    EXPECT_EQ(a.task.target.key.generation, key.generation);
    EXPECT_EQ(elsewhere.executor.posted, 0);
    EXPECT_EQ(bed.executor.posted, 1);
}

/* Holds T4. */
TEST(task_woken_while_woken_is_queued_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "s.s.");
    actor_start(&b, &bed, "b", "s.s.");
    (void)bed_run(&bed);
    rt_task_wake(&a.task);
    rt_task_wake(&b.task);
    rt_task_wake(&a.task);
    rt_task_wake(&a.task);
    EXPECT_EQ(bed.executor.woken, 2);
    EXPECT_EQ(bed_run(&bed), 2);
    EXPECT_STR(bed.log, "a b a b");
    EXPECT_EQ(bed.executor.counters.wakes, 2);
    EXPECT_EQ(bed.executor.counters.coalesced, 2);
}

/* Holds T5. */
TEST(task_woken_thrice_while_running_is_polled_once_more)
{
    for (int mode = 0; mode < 2; mode++) {
        struct bed bed;
        bed_init_self_wake(&bed, mode == 0 ? RT_SELF_WAKE_AFTER_POLL : RT_SELF_WAKE_AT_WAKE);
        struct actor a;
        actor_start(&a, &bed, "a", "swww.s.");
        EXPECT_EQ(bed_run(&bed), 2);
        EXPECT_EQ(a.task.state, RT_TASK_SLEEPING);
        EXPECT_EQ(bed.executor.counters.wakes, 1);
        EXPECT_EQ(bed.executor.counters.coalesced, 2);
    }
}

struct early {
    struct rt_task task;
    bool flag;
    unsigned polls;
};

/* The event comes between the check of the flag and the return: the classic lost wake. */
static rt_poll
early_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct early *early = rt_container_of(task, struct early, task);
    early->polls++;
    if (early->flag) {
        return RT_READY;
    }
    rt_waker_wake_by_ref(rt_cx_waker(cx));
    early->flag = true;
    return RT_PENDING;
}

/* Holds T6. */
TEST(task_woken_at_any_point_of_its_poll_is_polled_again)
{
    struct bed bed;
    bed_init(&bed);
    struct early early = {.flag = false};
    rt_task_init(&early.task, early_poll, NULL, "early");
    EXPECT_EQ(rt_post(&bed.executor, &early.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_EQ(early.polls, 2);
    EXPECT_EQ(early.task.end, RT_TASK_DONE);
}

/* Holds T7. */
TEST(task_woken_in_its_last_poll_is_not_polled_again)
{
    for (int mode = 0; mode < 2; mode++) {
        struct bed bed;
        bed_init_self_wake(&bed, mode == 0 ? RT_SELF_WAKE_AFTER_POLL : RT_SELF_WAKE_AT_WAKE);
        struct actor a;
        actor_start(&a, &bed, "a", "w!");
        EXPECT_EQ(bed_run(&bed), 1);
        EXPECT_STR(bed.log, "a ~a");
        EXPECT_EQ(bed.executor.woken, 0);
        EXPECT(!rt_run_one(&bed.executor));
    }
}

/* Holds T8. */
TEST(task_that_has_ended_is_not_woken)
{
    struct bed bed;
    bed_init(&bed);
    struct actor done;
    struct actor cancelled;
    struct actor next[2];
    actor_start(&done, &bed, "d", "k!");
    actor_start(&cancelled, &bed, "c", "k.");
    (void)bed_run(&bed);
    rt_task_cancel(&cancelled.task);
    struct rt_waker clone = rt_waker_clone(&done.waker);
    /* The same entries of the slab, new tasks; the old memory is reused. */
    actor_start(&next[0], &bed, "n", "s.");
    actor_start(&next[1], &bed, "m", "s.");
    (void)bed_run(&bed);
    memset(&done.task, 0xff, sizeof(done.task));
    memset(&cancelled.task, 0xff, sizeof(cancelled.task));
    rt_waker_wake_by_ref(&done.waker);
    rt_waker_wake(&done.waker);
    rt_waker_wake(&clone);
    rt_waker_wake(&cancelled.waker);
    EXPECT_EQ(bed_run(&bed), 0);
    EXPECT_EQ(bed.executor.counters.wakes, 0);
    EXPECT_EQ(bed.executor.counters.clones, bed.executor.counters.returned);
}

/* Holds T8. */
TEST(task_not_posted_is_woken_in_vain)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_init(&a, &bed, "a", "!");
    rt_task_wake(&a.task);
    rt_task_cancel(&a.task);
    rt_task_ask_cancel(&a.task);
    EXPECT_EQ(a.task.state, RT_TASK_UNPOSTED);
    EXPECT_EQ(a.cleanups, 0);
    EXPECT(!rt_task_cancel_asked(&a.task));
}

/* Holds T12. */
TEST(task_pending_without_a_stored_waker_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "forgetful", ".");
    EXPECT_FAULT(RT_E_NO_WAKER, (void)rt_run_one(&bed.executor));
    EXPECT_STR(test_trap.who, "forgetful");
}

/* Holds T12. The waker of the first poll was dropped before the second one ended. */
TEST(task_pending_after_its_waker_was_given_back_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "k..");
    (void)bed_run(&bed);
    rt_waker_wake(&a.waker);
    EXPECT_FAULT(RT_E_NO_WAKER, (void)rt_run_one(&bed.executor));
}

/* Holds T12. */
TEST(task_pending_is_no_fault_while_a_waker_clone_exists)
{
    struct bed bed;
    bed_init(&bed);
    struct actor rewoken;
    struct actor kept;
    struct actor stored;
    actor_start(&rewoken, &bed, "r", "w.!");
    actor_start(&kept, &bed, "k", "k...");
    actor_start(&stored, &bed, "s", "s...");
    (void)bed_run(&bed);
    EXPECT_EQ(rewoken.task.end, RT_TASK_DONE);
    /* Polled again for another reason: what an earlier poll left behind still counts. */
    for (int i = 0; i < 2; i++) {
        rt_task_wake(&kept.task);
        rt_task_wake(&stored.task);
        EXPECT_EQ(bed_run(&bed), 2);
    }
    EXPECT_EQ(kept.task.state, RT_TASK_SLEEPING);
    EXPECT_EQ(stored.task.state, RT_TASK_SLEEPING);
}

struct endless {
    struct rt_task task;
    struct rt_slot slot;
};

static rt_poll
endless_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct endless *endless = rt_container_of(task, struct endless, task);
    rt_wait_never(cx, &endless->slot, "the end of the world");
    return RT_PENDING;
}

/* Holds T12. */
TEST(task_that_declares_an_endless_wait_sleeps)
{
    struct bed bed;
    bed_init(&bed);
    struct endless endless;
    rt_task_init(&endless.task, endless_poll, NULL, "endless");
    rt_slot_init(&endless.slot);
    EXPECT_EQ(rt_post(&bed.executor, &endless.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_EQ(endless.task.state, RT_TASK_SLEEPING);
    EXPECT_STR(endless.slot.reason, "the end of the world");
}

/* Holds T13, T8. */
TEST(task_parked_is_not_there_until_it_is_posted)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "skp!");
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(a.task.state, RT_TASK_UNPOSTED);
    EXPECT_EQ(a.task.end, RT_TASK_PARKED);
    EXPECT_EQ(a.cleanups, 0);
    EXPECT_EQ(bed.executor.posted, 0);
    EXPECT_EQ(bed.executor.counters.completed, 0);
    /* Its wakers are nulled: the stored one and the clone. */
    EXPECT(rt_slot_empty(&a.slot));
    rt_waker_wake(&a.waker);
    rt_task_wake(&a.task);
    EXPECT_EQ(bed_run(&bed), 0);
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_STR(bed.log, "a a ~a");
}

/* Holds T13. */
TEST(task_woken_before_it_parks_does_not_park)
{
    for (int mode = 0; mode < 2; mode++) {
        struct bed bed;
        bed_init_self_wake(&bed, mode == 0 ? RT_SELF_WAKE_AFTER_POLL : RT_SELF_WAKE_AT_WAKE);
        struct actor a;
        actor_start(&a, &bed, "a", "wp!");
        EXPECT_EQ(bed_run(&bed), 2);
        EXPECT_STR(bed.log, "a a ~a");
    }
}

/* Holds T13, T19. Parking is no end: the joiner keeps waiting. */
TEST(task_parked_keeps_its_joiner_and_a_cancel_request)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "p!");
    actor_start(&b, &bed, "b", "s.");
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &b.task, rt_target_waker(&b.task.target));
    EXPECT_EQ(rt_task_join(&a.task, &cx), RT_PENDING);
    (void)bed_run(&bed);
    EXPECT(!rt_slot_empty(&a.task.joiner));
    void *output;
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_AGAIN);
    rt_task_ask_cancel(&a.task);
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    EXPECT(rt_task_cancel_asked(&a.task));
    EXPECT(!rt_slot_empty(&a.task.joiner));
}

/* Holds T13, T15, T19: a parked task that is cancelled ends: cleaned up once, its joiner woken. */
TEST(task_parked_and_cancelled_ends)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "p!");
    actor_start(&b, &bed, "b", "s..");
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &b.task, rt_target_waker(&b.task.target));
    EXPECT_EQ(rt_task_join(&a.task, &cx), RT_PENDING);
    (void)bed_run(&bed);
    EXPECT_EQ(bed.executor.counters.parked, 1);
    rt_task_cancel(&a.task);
    rt_task_cancel(&a.task);
    EXPECT_EQ(a.task.end, RT_TASK_CANCELLED);
    EXPECT_EQ(bed.executor.counters.cancelled, 1);
    EXPECT_EQ(b.task.state, RT_TASK_WOKEN);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "a b ~a b");
    void *output;
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_CANCELLED);
}

/* Holds T14, D2. */
TEST(task_posted_from_inside_a_poll_runs_in_the_same_call)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "+!");
    actor_init(&b, &bed, "b", "!");
    a.other = &b;
    EXPECT_EQ(bed_run(&bed), 2);
    EXPECT_STR(bed.log, "a ~a b ~b");
}

struct poller {
    struct rt_task task;
    struct rt_task *child;
};

static rt_poll
poller_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)rt_task_poll_child(rt_container_of(task, struct poller, task)->child, cx);
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* Holds T20. */
TEST(task_polled_by_hand_after_its_end_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor child;
    actor_init(&child, &bed, "child", "!");
    struct poller poller = {.child = &child.task};
    rt_task_init(&poller.task, poller_poll, NULL, "poller");
    EXPECT_EQ(rt_post(&bed.executor, &poller.task), RT_OK);
    EXPECT(rt_run_one(&bed.executor));
    EXPECT_EQ(child.task.end, RT_TASK_DONE);
    EXPECT_EQ(child.cleanups, 1);
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_run_one(&bed.executor));
    EXPECT_STR(test_trap.who, "child");
}

/* Holds T20. A posted task is the executor's to poll. */
TEST(task_polled_by_hand_while_posted_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor child;
    struct poller poller = {.child = &child.task};
    rt_task_init(&poller.task, poller_poll, NULL, "poller");
    EXPECT_EQ(rt_post(&bed.executor, &poller.task), RT_OK);
    actor_start(&child, &bed, "child", "!");
    EXPECT_FAULT(RT_E_POSTED, (void)rt_run_one(&bed.executor));
}

static rt_poll
answer_nonsense(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    union {
        unsigned number;
        rt_poll answer;
    } nonsense = {.number = 77};
    return nonsense.answer;
}

TEST(task_that_answers_nonsense_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct rt_task task;
    rt_task_init(&task, answer_nonsense, NULL, "odd");
    EXPECT_EQ(rt_post(&bed.executor, &task), RT_OK);
    EXPECT_FAULT(RT_E_INVALID, (void)rt_run_one(&bed.executor));
}
