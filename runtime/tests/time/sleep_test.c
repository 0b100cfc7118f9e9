/*
 * sleep_test.c -- sleeping: when it ends, which task is woken, and what is left armed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

static struct clockwork clockwork;

/* A task that awaits one sleep, which it need not own. */
struct waiter {
    struct rt_task task;
    struct rt_sleep *sleep;
    bool awake;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    RT_AWAIT(rt_sleep_poll(waiter->sleep, cx));
    waiter->awake = true;
    return RT_READY;
}

static void
waiter_init(struct waiter *waiter, struct rt_sleep *sleep)
{
    *waiter = (struct waiter){.sleep = sleep};
    rt_task_init(&waiter->task, waiter_poll, NULL, "waiter");
}

static uint32_t
armed(void)
{
    return clockwork.runtime.timers.armed;
}

/* Holds M1, S3: from the first poll on, not from the making. */
TEST(sleep_begins_at_its_first_poll_and_is_over_at_its_deadline)
{
    struct rt_sleep sleep;
    struct waiter waiter;
    clockwork_init(&clockwork, 0);
    rt_sleep_init(&sleep, 50 * RT_MS);
    waiter_init(&waiter, &sleep);
    clockwork.now_ns = 7;
    EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
    EXPECT_EQ(rt_timers_next(&clockwork.runtime.timers), 50 * RT_MS + 7);
    EXPECT_EQ(clockwork_at(&clockwork, 50 * RT_MS + 6), 0);
    EXPECT_EQ(clockwork_at(&clockwork, 50 * RT_MS + 7), 1);
    EXPECT(waiter.awake);
    EXPECT_EQ(armed(), 0);
}

/* Holds M2, M15: the past is READY at the first poll, and nothing was registered. */
TEST(sleep_until_the_past_is_ready_and_registers_nothing)
{
    static const uint64_t deadlines[] = {0, 99, 100};
    for (uint32_t i = 0; i < 3; i++) {
        struct rt_sleep sleep;
        struct waiter waiter;
        clockwork_init(&clockwork, 0);
        clockwork.now_ns = 100;
        rt_sleep_until(&sleep, deadlines[i]);
        waiter_init(&waiter, &sleep);
        EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
        EXPECT(waiter.awake);
        EXPECT_EQ(clockwork.runtime.timers.started, 0);
        EXPECT(rt_slot_empty(&sleep.timer.slot));
    }
}

/* Holds M2, M5, M15: no tick is added to nothing. */
TEST(sleep_of_no_length_is_ready_at_once)
{
    struct rt_sleep sleep;
    struct waiter waiter;
    clockwork_init(&clockwork, 1000);
    clockwork.now_ns = 1234;
    rt_sleep_init(&sleep, 0);
    waiter_init(&waiter, &sleep);
    EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
    EXPECT(waiter.awake);
}

/* Holds M4, T12: endless is a wait like any other; its task sleeps, and may be cancelled. */
TEST(sleep_that_overflows_is_endless)
{
    static const uint64_t durations[] = {RT_NEVER, RT_NEVER - 1, RT_NEVER - 100};
    for (uint32_t i = 0; i < 3; i++) {
        struct rt_sleep sleep;
        struct waiter waiter;
        clockwork_init(&clockwork, i == 0 ? 1000 : 1);
        clockwork.now_ns = 100;
        rt_sleep_init(&sleep, durations[i]);
        waiter_init(&waiter, &sleep);
        EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
        EXPECT_EQ(clockwork_at(&clockwork, RT_NEVER), 0);
        EXPECT(rt_timers_next(&clockwork.runtime.timers) == RT_NEVER);
        EXPECT_EQ(waiter.task.state, RT_TASK_SLEEPING);
        rt_task_cancel(&waiter.task);
        rt_sleep_cancel(&sleep);
        rt_timers_fini(&clockwork.runtime.timers);
    }
}

/*
 * Holds M5: "one tick" lasts a whole tick.
 * The clock shows 3000 and may be just before 4000: a tick from there ends near 5000.
 */
TEST(sleep_of_n_ticks_is_never_less)
{
    struct rt_sleep sleep;
    struct waiter waiter;
    clockwork_init(&clockwork, 1000);
    rt_sleep_init(&sleep, 1000);
    waiter_init(&waiter, &sleep);
    clockwork.now_ns = 3000;
    EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 4999), 0);
    EXPECT_EQ(clockwork_at(&clockwork, 5000), 1);
    EXPECT(waiter.awake);
}

/* Holds M5: the sleep agrees with the wheel on when a rounded deadline is reached. */
TEST(sleep_that_was_woken_is_ready_whatever_the_tick)
{
    for (uint64_t deadline_ns = 1990; deadline_ns < 2010; deadline_ns++) {
        struct rt_sleep sleep;
        struct waiter waiter;
        clockwork_init(&clockwork, 10);
        rt_sleep_until(&sleep, deadline_ns);
        waiter_init(&waiter, &sleep);
        EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
        EXPECT_EQ(clockwork_at(&clockwork, deadline_ns - 1), 0);
        uint64_t next_ns = rt_timers_next(&clockwork.runtime.timers);
        EXPECT(next_ns >= deadline_ns && next_ns < deadline_ns + 10);
        EXPECT_EQ(clockwork_at(&clockwork, next_ns), 1);
        EXPECT(waiter.awake);
    }
}

/* Polls a sleep by hand, with the waker of a task that is not posted anywhere. */
static rt_poll
poll_by_hand(struct rt_sleep *sleep)
{
    struct rt_task task;
    struct rt_cx cx;
    rt_task_init(&task, waiter_poll, NULL, "by hand");
    rt_cx_init(&cx, &clockwork.runtime.executor, &task, rt_waker_noop());
    rt_poll answer = rt_sleep_poll(sleep, &cx);
    rt_cx_poison(&cx);
    (void)rt_slot_clear(&sleep->timer.slot);
    return answer;
}

/* Holds T20. */
TEST(sleep_polled_after_its_end_is_a_fault)
{
    struct rt_sleep over;
    struct rt_sleep given_up;
    clockwork_init(&clockwork, 0);
    rt_sleep_init(&over, 0);
    rt_sleep_init(&given_up, 10);
    EXPECT_EQ(poll_by_hand(&over), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&over));
    EXPECT_EQ(poll_by_hand(&given_up), RT_PENDING);
    rt_sleep_cancel(&given_up);
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&given_up));
}

TEST(sleep_on_a_bare_executor_is_a_fault)
{
    struct rt_sleep sleep;
    clockwork_init(&clockwork, 0);
    clockwork.runtime.executor.runtime = NULL;
    rt_sleep_init(&sleep, 10);
    EXPECT_FAULT(RT_E_INVALID, poll_by_hand(&sleep));
}

/* Holds M6: at any time, twice, and no task is woken. */
TEST(sleep_cancelled_wakes_no_task)
{
    struct rt_sleep sleep;
    struct waiter waiter;
    clockwork_init(&clockwork, 0);
    rt_sleep_init(&sleep, 10);
    rt_sleep_cancel(&sleep); /* Before the first poll. */
    rt_sleep_init(&sleep, 10);
    waiter_init(&waiter, &sleep);
    EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
    EXPECT_EQ(armed(), 1);
    rt_sleep_cancel(&sleep);
    rt_sleep_cancel(&sleep);
    EXPECT_EQ(armed(), 0);
    EXPECT_EQ(clockwork_at(&clockwork, 100), 0);
    EXPECT_EQ(waiter.task.state, RT_TASK_SLEEPING);
}

/* Holds W11, M7: the task that polled last is woken, once, and the timer was not started again. */
TEST(sleep_polled_by_another_task_wakes_that_one)
{
    struct rt_sleep sleep;
    struct waiter first;
    struct waiter second;
    clockwork_init(&clockwork, 0);
    rt_sleep_init(&sleep, 10);
    waiter_init(&first, &sleep);
    waiter_init(&second, &sleep);
    EXPECT_EQ(clockwork_post(&clockwork, &first.task), 1);
    clockwork.now_ns = 5;
    EXPECT_EQ(clockwork_post(&clockwork, &second.task), 1);
    EXPECT_EQ(clockwork.runtime.timers.started, 1);
    EXPECT_EQ(clockwork_at(&clockwork, 10), 1);
    EXPECT(second.awake);
    EXPECT(!first.awake);
    EXPECT_EQ(first.task.state, RT_TASK_SLEEPING);
}

/* Holds M7: a spurious poll neither moves the deadline nor arms a second time. */
TEST(sleep_polled_spuriously_keeps_its_deadline)
{
    struct rt_sleep sleep;
    struct waiter waiter;
    clockwork_init(&clockwork, 0);
    rt_sleep_init(&sleep, 10);
    waiter_init(&waiter, &sleep);
    EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
    for (uint64_t now_ns = 1; now_ns < 10; now_ns++) {
        clockwork.now_ns = now_ns;
        rt_task_wake(&waiter.task);
        EXPECT_EQ(clockwork_run(&clockwork), 1);
    }
    EXPECT_EQ(clockwork.runtime.timers.started, 1);
    EXPECT_EQ(rt_timers_next(&clockwork.runtime.timers), 10);
    EXPECT_STR(sleep.timer.slot.reason, "sleep");
}

/* Holds M6: it is polled after its deadline, before the timers are: READY, and no wake later. */
TEST(sleep_found_ready_before_its_timer_fires_disarms_it)
{
    struct rt_sleep sleep;
    struct waiter waiter;
    clockwork_init(&clockwork, 0);
    rt_sleep_init(&sleep, 10);
    waiter_init(&waiter, &sleep);
    EXPECT_EQ(clockwork_post(&clockwork, &waiter.task), 1);
    clockwork.now_ns = 12;
    rt_task_wake(&waiter.task);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT(waiter.awake);
    EXPECT_EQ(armed(), 0);
    EXPECT_EQ(rt_timers_process(&clockwork.runtime.timers, 12), 0);
}

/* Holds M11: what the timers have seen has been. Believing the clock, it would spin. */
TEST(sleep_under_a_clock_that_went_backwards_does_not_spin)
{
    struct rt_sleep past;
    struct rt_sleep ahead;
    struct waiter first;
    struct waiter second;
    clockwork_init(&clockwork, 0);
    EXPECT_EQ(clockwork_at(&clockwork, 100), 0);
    clockwork.now_ns = 50;
    rt_sleep_until(&past, 80);
    waiter_init(&first, &past);
    EXPECT_EQ(clockwork_post(&clockwork, &first.task), 1);
    EXPECT(first.awake);
    rt_sleep_init(&ahead, 20);
    waiter_init(&second, &ahead);
    EXPECT_EQ(clockwork_post(&clockwork, &second.task), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 119), 0);
    EXPECT_EQ(clockwork_at(&clockwork, 120), 1);
}

/* Holds M14: a sleep that moves to another runtime leaves nothing in the first. */
TEST(sleep_polled_on_another_runtime_is_armed_there)
{
    static struct clockwork other;
    struct rt_sleep sleep;
    struct waiter first;
    struct waiter second;
    clockwork_init(&clockwork, 0);
    clockwork_init(&other, 0);
    rt_sleep_until(&sleep, 10);
    waiter_init(&first, &sleep);
    waiter_init(&second, &sleep);
    EXPECT_EQ(clockwork_post(&clockwork, &first.task), 1);
    EXPECT_EQ(clockwork_post(&other, &second.task), 1);
    rt_timers_fini(&clockwork.runtime.timers);
    EXPECT_EQ(clockwork_at(&other, 10), 1);
    EXPECT(second.awake);
}

/* S3's "expected output": 50, 100 and 150 ms end in that order, whatever order they began in. */
TEST(sleep_of_three_tasks_ends_by_length)
{
    static const uint64_t lengths_ms[] = {150, 50, 100};
    struct rt_sleep sleeps[3];
    struct waiter waiters[3];
    clockwork_init(&clockwork, 0);
    for (uint32_t i = 0; i < 3; i++) {
        rt_sleep_init(&sleeps[i], lengths_ms[i] * RT_MS);
        waiter_init(&waiters[i], &sleeps[i]);
        EXPECT_EQ(clockwork_post(&clockwork, &waiters[i].task), 1);
    }
    EXPECT_EQ(clockwork_at(&clockwork, 50 * RT_MS), 1);
    EXPECT(waiters[1].awake);
    EXPECT_EQ(clockwork_at(&clockwork, 100 * RT_MS), 1);
    EXPECT(waiters[2].awake);
    EXPECT_EQ(clockwork_at(&clockwork, 150 * RT_MS), 1);
    EXPECT(waiters[0].awake);
}
