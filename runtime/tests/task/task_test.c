/*
 * task_test.c -- the life of a task, one statement of SEMANTICS 2.1 at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/task.h"

#include <stdlib.h>

#include "runtime/tests/bed.h"
#include "runtime/tests/spy.h"

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

/* The event comes between the look at the flag and the return: the classic lost wake. */
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
TEST(task_woken_at_any_moment_of_its_poll_is_polled_again)
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
TEST(task_that_has_ended_is_woken_by_nobody)
{
    struct bed bed;
    bed_init(&bed);
    struct actor done;
    struct actor cancelled;
    struct actor newcomers[2];
    actor_start(&done, &bed, "d", "k!");
    actor_start(&cancelled, &bed, "c", "k.");
    (void)bed_run(&bed);
    rt_task_cancel(&cancelled.task);
    struct rt_waker clone = rt_waker_clone(&done.waker);
    /* The same places of the slab, new tasks; the old memory is anything. */
    actor_start(&newcomers[0], &bed, "n", "s.");
    actor_start(&newcomers[1], &bed, "m", "s.");
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

struct ender {
    struct rt_task task;
    struct rt_executor *executor;
    struct rt_slot slot;
    struct rt_waker waker;
    unsigned cleanups;
    rt_poll answer;
};

static rt_poll
ender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ender *ender = rt_container_of(task, struct ender, task);
    EXPECT_EQ(rt_slot_store(&ender->slot, cx, "x"), RT_OK);
    if (rt_waker_is_null(&ender->waker)) {
        ender->waker = rt_waker_clone(rt_cx_waker(cx));
    }
    return ender->answer;
}

/* Everything is over when cleanup is called; and afterwards nobody reads the task. */
static void
ender_cleanup(struct rt_task *task)
{
    struct ender *ender = rt_container_of(task, struct ender, task);
    EXPECT_EQ(task->state, RT_TASK_UNPOSTED);
    EXPECT(task->end != RT_TASK_NOT_ENDED);
    EXPECT(rt_slot_empty(&ender->slot));
    EXPECT(rt_list_empty(&task->slots));
    EXPECT_EQ(ender->executor->posted, 0);
    EXPECT_EQ(ender->executor->woken, 0);
    EXPECT(ender->executor->current == NULL);
    rt_waker_wake(&ender->waker);
    EXPECT_EQ(ender->executor->woken, 0);
    ender->cleanups++;
    memset(task, 0xff, sizeof(*task));
}

static void
ender_start(struct ender *ender, struct bed *bed, rt_poll answer)
{
    memset(ender, 0, sizeof(*ender));
    rt_task_init(&ender->task, ender_poll, ender_cleanup, "ender");
    rt_slot_init(&ender->slot);
    ender->executor = &bed->executor;
    ender->answer = answer;
    EXPECT_EQ(rt_post(&bed->executor, &ender->task), RT_OK);
}

/* Holds T9. */
TEST(task_is_out_of_everything_before_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    struct ender ender;
    ender_start(&ender, &bed, RT_READY);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(ender.cleanups, 1);
    ender_start(&ender, &bed, RT_PENDING);
    (void)bed_run(&bed);
    rt_task_cancel(&ender.task);
    EXPECT_EQ(ender.cleanups, 1);
    rt_executor_fini(&bed.executor);
}

struct phoenix {
    struct rt_task task;
    struct rt_executor *next;
    unsigned polls;
    unsigned lives;
};

static rt_poll
phoenix_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    rt_container_of(task, struct phoenix, task)->polls++;
    return RT_READY;
}

static void
phoenix_cleanup(struct rt_task *task)
{
    struct phoenix *phoenix = rt_container_of(task, struct phoenix, task);
    if (phoenix->lives-- == 0) {
        return;
    }
    if (phoenix->lives % 2 == 0) {
        rt_task_init(task, phoenix_poll, phoenix_cleanup, "again");
    }
    EXPECT_EQ(rt_post(phoenix->next, task), RT_OK);
}

/* Holds T10. */
TEST(task_may_be_posted_again_from_its_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    struct phoenix phoenix = {.next = &bed.executor, .lives = 4};
    rt_task_init(&phoenix.task, phoenix_poll, phoenix_cleanup, "first");
    EXPECT_EQ(rt_post(&bed.executor, &phoenix.task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 5);
    EXPECT_EQ(phoenix.polls, 5);
    EXPECT_EQ(bed.executor.counters.completed, 5);
}

/* Holds T10. */
TEST(task_may_be_posted_elsewhere_after_its_end)
{
    struct bed bed;
    struct bed elsewhere;
    bed_init(&bed);
    bed_init(&elsewhere);
    struct phoenix phoenix = {.next = &elsewhere.executor, .lives = 1};
    rt_task_init(&phoenix.task, phoenix_poll, phoenix_cleanup, "p");
    EXPECT_EQ(rt_post(&bed.executor, &phoenix.task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(elsewhere.executor.posted, 1);
    EXPECT_EQ(bed_run(&elsewhere), 1);
    EXPECT_EQ(phoenix.polls, 2);
}

static void
free_it(struct rt_task *task)
{
    free(task);
}

static rt_poll
ready_at_once(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

/* Holds T10. Under asan any later use is seen. */
TEST(task_may_be_freed_in_its_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    for (int i = 0; i < 2; i++) {
        struct rt_task *task = malloc(sizeof(*task));
        ck_assert_ptr_nonnull(task);
        rt_task_init(task, ready_at_once, free_it, "heap");
        EXPECT_EQ(rt_post(&bed.executor, task), RT_OK);
        if (i == 0) {
            EXPECT_EQ(bed_run(&bed), 1);
        } else {
            rt_task_cancel(task);
        }
    }
    rt_executor_fini(&bed.executor);
}

/* Holds T11. */
TEST(task_given_up_while_posted_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "mine", "s.!");
    EXPECT_FAULT(RT_E_IN_USE, rt_task_fini(&a.task));
    EXPECT_STR(test_trap.who, "mine");
    (void)bed_run(&bed);
    EXPECT_FAULT(RT_E_IN_USE, rt_task_fini(&a.task));
    rt_task_cancel(&a.task);
    rt_task_fini(&a.task);
    EXPECT_PANIC(rt_task_wake(&a.task));
}

/* Holds T12. */
TEST(task_pending_with_nobody_to_wake_it_is_a_fault)
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
TEST(task_pending_is_no_fault_while_somebody_holds_a_waker)
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

/* Holds T13, T19. Parking is no end: who joins goes on waiting. */
TEST(task_parked_keeps_its_joiner_and_a_wish_to_end)
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

/* Holds T15. */
TEST(task_cancelled_while_asleep_ends_at_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!");
    (void)bed_run(&bed);
    rt_task_cancel(&a.task);
    EXPECT_EQ(a.task.end, RT_TASK_CANCELLED);
    EXPECT_EQ(a.cleanups, 1);
    EXPECT(rt_slot_empty(&a.slot));
    rt_task_cancel(&a.task);
    EXPECT_EQ(a.cleanups, 1);
    EXPECT_EQ(bed_run(&bed), 0);
    EXPECT_EQ(bed.executor.counters.cancelled, 1);
}

/* Holds T15. The answer of the last poll is thrown away, whatever it is. */
TEST(task_cancelled_by_itself_ends_when_its_poll_returns)
{
    static const char *const scripts[] = {"c!", "c.", "cp", "ccw.", "wc.", "swc!"};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        for (int mode = 0; mode < 2; mode++) {
            struct bed bed;
            bed_init_self_wake(&bed, mode == 0 ? RT_SELF_WAKE_AFTER_POLL : RT_SELF_WAKE_AT_WAKE);
            struct actor a;
            actor_start(&a, &bed, "a", scripts[i]);
            EXPECT_EQ(bed_run(&bed), 1);
            EXPECT_EQ(a.task.end, RT_TASK_CANCELLED);
            EXPECT_EQ(a.cleanups, 1);
            EXPECT_EQ(bed.executor.counters.completed, 0);
            EXPECT_EQ(bed.executor.counters.cancelled, 1);
            EXPECT_EQ(bed.executor.woken, 0);
        }
    }
}

/* Holds T15, T16. */
TEST(task_cancelled_while_woken_leaves_the_queue)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "!");
    actor_start(&b, &bed, "b", "!");
    actor_start(&c, &bed, "c", "!");
    rt_task_cancel(&b.task);
    memset(&b.task, 0xff, sizeof(b.task));
    rt_executor_audit(&bed.executor);
    EXPECT_EQ(bed_run(&bed), 2);
    EXPECT_STR(bed.log, "~b a ~a c ~c");
}

/* Holds T15, T16. */
TEST(task_cancels_another_from_inside_its_poll)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "x!");
    actor_start(&b, &bed, "b", "!");
    a.other = &b;
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_STR(bed.log, "a ~b ~a");
}

struct graceful {
    struct rt_task task;
    struct rt_slot slot;
};

static rt_poll
graceful_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct graceful *graceful = rt_container_of(task, struct graceful, task);
    if (rt_task_cancel_asked(task)) {
        return RT_READY;
    }
    rt_slot_replace(&graceful->slot, cx, "something");
    return RT_PENDING;
}

/* Holds T17. */
TEST(task_asked_to_end_ends_by_itself_at_its_next_poll)
{
    struct bed bed;
    bed_init(&bed);
    struct graceful graceful;
    rt_task_init(&graceful.task, graceful_poll, NULL, "graceful");
    rt_slot_init(&graceful.slot);
    EXPECT_EQ(rt_post(&bed.executor, &graceful.task), RT_OK);
    (void)bed_run(&bed);
    rt_task_ask_cancel(&graceful.task);
    EXPECT_EQ(graceful.task.state, RT_TASK_WOKEN);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(graceful.task.end, RT_TASK_DONE);
    rt_task_ask_cancel(&graceful.task);
    EXPECT_EQ(rt_post(&bed.executor, &graceful.task), RT_OK);
    EXPECT(!rt_task_cancel_asked(&graceful.task));
    (void)bed_run(&bed);
    EXPECT_EQ(graceful.task.state, RT_TASK_SLEEPING);
}

/* Holds T18. */
TEST(task_output_is_taken_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!!");
    a.task.output = &bed;
    void *output = NULL;
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_AGAIN);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_AGAIN);
    EXPECT(output == NULL);
    rt_task_wake(&a.task);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_OK);
    EXPECT(output == &bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_TAKEN);
    /* Another life, another output. */
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_AGAIN);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_OK);
}

/* Holds T18. */
TEST(task_cancelled_has_no_output)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "c!");
    (void)bed_run(&bed);
    void *output = NULL;
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_CANCELLED);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_CANCELLED);
}

/* Holds T19. */
TEST(task_released_is_cancelled_unless_detached)
{
    struct bed bed;
    bed_init(&bed);
    struct actor owned;
    struct actor detached;
    actor_start(&owned, &bed, "o", "s.!");
    actor_start(&detached, &bed, "d", "s.!");
    rt_task_detach(&detached.task);
    (void)bed_run(&bed);
    rt_task_release(&owned.task);
    rt_task_release(&detached.task);
    EXPECT_EQ(owned.task.end, RT_TASK_CANCELLED);
    EXPECT_EQ(detached.task.state, RT_TASK_SLEEPING);
    rt_task_wake(&detached.task);
    (void)bed_run(&bed);
    EXPECT_EQ(detached.task.end, RT_TASK_DONE);
}

struct joiner {
    struct rt_task task;
    struct rt_task *joined;
    unsigned polls;
};

static rt_poll
joiner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct joiner *joiner = rt_container_of(task, struct joiner, task);
    joiner->polls++;
    return rt_task_join(joiner->joined, cx);
}

static void
joiner_start(struct joiner *joiner, struct bed *bed, struct rt_task *joined)
{
    joiner->joined = joined;
    joiner->polls = 0;
    rt_task_init(&joiner->task, joiner_poll, NULL, "joiner");
    EXPECT_EQ(rt_post(&bed->executor, &joiner->task), RT_OK);
}

/* Holds T19. */
TEST(task_joined_wakes_its_joiner_once_at_the_end)
{
    for (int cancel = 0; cancel < 2; cancel++) {
        struct bed bed;
        bed_init(&bed);
        struct actor a;
        struct joiner joiner;
        actor_start(&a, &bed, "a", "s.s.!");
        joiner_start(&joiner, &bed, &a.task);
        (void)bed_run(&bed);
        rt_task_wake(&a.task);
        (void)bed_run(&bed);
        EXPECT_EQ(joiner.polls, 1);
        uint64_t wakes = bed.executor.counters.wakes;
        if (cancel == 1) {
            rt_task_cancel(&a.task);
            EXPECT_EQ(bed.executor.counters.wakes, wakes + 1);
        } else {
            rt_task_wake(&a.task);
        }
        (void)bed_run(&bed);
        EXPECT_EQ(joiner.polls, 2);
        EXPECT_EQ(joiner.task.end, RT_TASK_DONE);
    }
}

/* Holds T19. */
TEST(task_joined_after_its_end_is_ready_at_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct joiner joiner;
    actor_start(&a, &bed, "a", "!");
    (void)bed_run(&bed);
    joiner_start(&joiner, &bed, &a.task);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(joiner.task.end, RT_TASK_DONE);
    EXPECT(rt_slot_empty(&a.task.joiner));
}

/* Holds T19, W11. */
TEST(task_joined_by_a_second_waiter_forgets_the_first)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!");
    (void)bed_run(&bed);
    struct spy first = {0};
    struct spy second = {0};
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &a.task, spy_waker(&first));
    EXPECT_EQ(rt_task_join(&a.task, &cx), RT_PENDING);
    cx.waker = spy_waker(&second);
    EXPECT_EQ(rt_task_join(&a.task, &cx), RT_PENDING);
    EXPECT_EQ(first.drops, 1);
    EXPECT_EQ(second.clones, 1);
}

struct afterlife {
    struct rt_task task;
    struct rt_slot pad;
    bool cleaned;
};

static void
afterlife_cleanup(struct rt_task *task)
{
    struct afterlife *afterlife = rt_container_of(task, struct afterlife, task);
    afterlife->cleaned = true;
    memset(task, 0xff, sizeof(*task));
}

static void
look_at_cleaned(struct spy *spy, char what)
{
    const struct afterlife *afterlife = spy->argument;
    if (what == 'w') {
        EXPECT(afterlife->cleaned);
    }
}

/* Holds T9, W7. A joiner from outside is called when the task may be gone, and not before. */
TEST(task_joiner_is_woken_after_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    struct actor waiter;
    actor_start(&waiter, &bed, "w", "s.");
    (void)bed_run(&bed);
    struct afterlife afterlife = {.cleaned = false};
    rt_task_init(&afterlife.task, ready_at_once, afterlife_cleanup, "a");
    EXPECT_EQ(rt_post(&bed.executor, &afterlife.task), RT_OK);
    struct spy spy = {.hook = look_at_cleaned, .argument = &afterlife};
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &waiter.task, spy_waker(&spy));
    EXPECT_EQ(rt_task_join(&afterlife.task, &cx), RT_PENDING);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(spy.wakes, 1);
    EXPECT(spy_balanced(&spy));
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

/* Holds T20. A posted task has somebody to poll it. */
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
