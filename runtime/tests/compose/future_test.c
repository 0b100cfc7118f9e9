/*
 * future_test.c -- polling a future until it is ready, and dropping it before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

static struct clockwork clockwork;

/* A future whose answers the test sets. */
struct puppet {
    struct rt_future future;
    struct rt_slot slot;
    rt_poll answer;
    uint32_t polls;
    uint32_t drops;
};

static rt_poll
puppet_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct puppet *puppet = rt_container_of(future, struct puppet, future);
    puppet->polls += 1;
    if (puppet->answer == RT_PENDING) {
        rt_slot_replace(&puppet->slot, cx, "puppet");
    }
    return puppet->answer;
}

/* Re-enters its caller, which must not matter. */
static void
puppet_drop(struct rt_future *future)
{
    struct puppet *puppet = rt_container_of(future, struct puppet, future);
    puppet->drops += 1;
    rt_future_drop(future);
    (void)rt_slot_clear(&puppet->slot);
}

static void
puppet_init(struct puppet *puppet, rt_future_drop_fn drop)
{
    *puppet = (struct puppet){.answer = RT_PENDING};
    rt_slot_init(&puppet->slot);
    rt_future_init(&puppet->future, puppet_poll, drop, "puppet");
}

static rt_poll
no_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

/* Polls `future` for a task that is not posted. */
static rt_poll
poll_by_hand(struct rt_future *future)
{
    static struct rt_task task;
    struct rt_cx cx;
    rt_task_init(&task, no_poll, NULL, "by hand");
    rt_cx_init(&cx, &clockwork.runtime.executor, &task, rt_waker_noop());
    rt_poll answer = rt_future_poll(future, &cx);
    rt_cx_poison(&cx);
    return answer;
}

/* Holds T20. */
TEST(future_is_polled_until_ready_and_never_again)
{
    struct puppet puppet;
    clockwork_init(&clockwork, 0);
    puppet_init(&puppet, puppet_drop);
    EXPECT_EQ(poll_by_hand(&puppet.future), RT_PENDING);
    EXPECT_EQ(poll_by_hand(&puppet.future), RT_PENDING);
    puppet.answer = RT_READY;
    EXPECT_EQ(poll_by_hand(&puppet.future), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&puppet.future));
    EXPECT_STR(test_trap.who, "puppet");
    EXPECT_EQ(puppet.polls, 3);
}

TEST(future_that_was_ready_is_not_dropped)
{
    struct puppet puppet;
    clockwork_init(&clockwork, 0);
    puppet_init(&puppet, puppet_drop);
    puppet.answer = RT_READY;
    EXPECT_EQ(poll_by_hand(&puppet.future), RT_READY);
    rt_future_drop(&puppet.future);
    EXPECT_EQ(puppet.drops, 0);
}

/* Holds T20: also when it was dropped, and `drop` is called once although it re-enters. */
TEST(future_dropped_is_dropped_once_and_never_polled_again)
{
    struct puppet puppet;
    clockwork_init(&clockwork, 0);
    puppet_init(&puppet, puppet_drop);
    EXPECT_EQ(poll_by_hand(&puppet.future), RT_PENDING);
    rt_future_drop(&puppet.future);
    rt_future_drop(&puppet.future);
    EXPECT_EQ(puppet.drops, 1);
    EXPECT(rt_slot_empty(&puppet.slot));
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&puppet.future));
    EXPECT_EQ(puppet.polls, 1);
}

TEST(future_without_a_drop_function_can_be_dropped)
{
    struct puppet puppet;
    clockwork_init(&clockwork, 0);
    puppet_init(&puppet, NULL);
    rt_future_drop(&puppet.future);
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&puppet.future));
}

TEST(future_that_parks_is_a_fault)
{
    struct puppet puppet;
    clockwork_init(&clockwork, 0);
    puppet_init(&puppet, NULL);
    puppet.answer = RT_PARKED;
    EXPECT_FAULT(RT_E_INVALID, poll_by_hand(&puppet.future));
}

/* Holds C1. */
TEST(future_polled_with_a_stale_context_is_a_fault)
{
    struct puppet puppet;
    struct rt_cx cx;
    clockwork_init(&clockwork, 0);
    puppet_init(&puppet, NULL);
    rt_cx_poison(&cx);
    EXPECT_FAULT(RT_E_STALE_CONTEXT, rt_future_poll(&puppet.future, &cx));
    EXPECT_EQ(puppet.polls, 0);
}

/* Holds T20, M6: a sleep as a future is a sleep. */
TEST(future_that_sleeps_is_ready_at_its_deadline_and_disarmed_when_dropped)
{
    struct rt_sleep_future over;
    struct rt_sleep_future given_up;
    clockwork_init(&clockwork, 0);
    rt_sleep_future_init(&over, 10);
    rt_sleep_future_init(&given_up, 10);
    EXPECT_EQ(poll_by_hand(&over.future), RT_PENDING);
    (void)rt_slot_clear(&over.sleep.timer.slot);
    EXPECT_EQ(poll_by_hand(&given_up.future), RT_PENDING);
    rt_future_drop(&given_up.future);
    EXPECT_EQ(clockwork.runtime.timers.armed, 1);
    EXPECT_EQ(clockwork_at(&clockwork, 10), 0);
    EXPECT_EQ(poll_by_hand(&over.future), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&over.future));
    rt_timers_fini(&clockwork.runtime.timers);
}
