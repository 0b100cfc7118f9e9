/*
 * interval_test.c -- ticks in time, and the three ways to continue after a late one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/time/interval.h"

#include <stdio.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

/* A task that takes every tick and writes down when it was due. */
struct ticker {
    struct rt_task task;
    struct rt_interval interval;
    char log[128];
    uint32_t polls;
};

static rt_poll
ticker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ticker *ticker = rt_container_of(task, struct ticker, task);
    ticker->polls++;
    for (;;) {
        uint64_t due_ns = 0;
        RT_AWAIT(rt_interval_poll(&ticker->interval, cx, &due_ns));
        size_t used = strlen(ticker->log);
        (void)snprintf(ticker->log + used, sizeof(ticker->log) - used, "%llu ",
                (unsigned long long)due_ns);
    }
}

static void
ticker_start(struct ticker *ticker, struct clockwork *clockwork, uint64_t first_ns,
        enum rt_missed missed)
{
    clockwork_init(clockwork, 1);
    *ticker = (struct ticker){.polls = 0};
    rt_interval_init(&ticker->interval, first_ns, 10, missed);
    rt_task_init(&ticker->task, ticker_poll, NULL, "ticker");
    (void)clockwork_post(clockwork, &ticker->task);
}

static void
ticker_stop(struct ticker *ticker, struct clockwork *clockwork)
{
    rt_interval_cancel(&ticker->interval);
    rt_task_cancel(&ticker->task);
    EXPECT_EQ(clockwork->runtime.timers.armed, 0);
}

/* Holds M16, M1: in time all three are the same; one poll and one timer a tick. */
TEST(interval_in_time_ticks_once_a_period)
{
    const enum rt_missed policies[] = {RT_MISSED_BURST, RT_MISSED_DELAY, RT_MISSED_SKIP};
    for (int i = 0; i < 3; i++) {
        struct clockwork clockwork;
        struct ticker ticker;
        ticker_start(&ticker, &clockwork, 5, policies[i]);
        EXPECT_STR(ticker.log, "");
        for (uint64_t now_ns = 1; now_ns <= 35; now_ns++) {
            (void)clockwork_at(&clockwork, now_ns);
        }
        EXPECT_STR(ticker.log, "5 15 25 35 ");
        EXPECT_EQ(ticker.polls, 5);
        ticker_stop(&ticker, &clockwork);
    }
}

/* What a tick due at 20 that is taken at `late_ns` leads to, until 80. */
static void
expect_after(enum rt_missed missed, uint64_t late_ns, const char *expected)
{
    struct clockwork clockwork;
    struct ticker ticker;
    ticker_start(&ticker, &clockwork, 0, missed);
    (void)clockwork_at(&clockwork, 10);
    for (uint64_t now_ns = late_ns; now_ns <= 80; now_ns++) {
        (void)clockwork_at(&clockwork, now_ns);
    }
    EXPECT_STR(ticker.log, expected);
    ticker_stop(&ticker, &clockwork);
}

/* Holds M16. All that was missed comes at once, and the schedule stays. */
TEST(interval_burst_makes_up_for_what_was_missed)
{
    expect_after(RT_MISSED_BURST, 47, "0 10 20 30 40 50 60 70 80 ");
    expect_after(RT_MISSED_BURST, 40, "0 10 20 30 40 50 60 70 80 ");
}

/* Holds M16. The schedule moves by as much as the tick was late. */
TEST(interval_delay_continues_a_period_after_the_late_tick)
{
    expect_after(RT_MISSED_DELAY, 47, "0 10 20 57 67 77 ");
    expect_after(RT_MISSED_DELAY, 21, "0 10 20 31 41 51 61 71 ");
}

/* Holds M16. The schedule stays, and past ticks are left out; exactly on a scheduled tick it is
 * that one which is missed. */
TEST(interval_skip_continues_with_the_next_scheduled_tick)
{
    expect_after(RT_MISSED_SKIP, 47, "0 10 20 50 60 70 80 ");
    expect_after(RT_MISSED_SKIP, 40, "0 10 20 50 60 70 80 ");
    expect_after(RT_MISSED_SKIP, 29, "0 10 20 30 40 50 60 70 80 ");
}

static rt_poll
once_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ticker *ticker = rt_container_of(task, struct ticker, task);
    ticker->polls++;
    if (ticker->polls == 1) {
        RT_AWAIT(rt_interval_poll(&ticker->interval, cx, NULL));
    }
    return rt_cx_park(cx);
}

/* Holds M16. A tick that was taken arms nothing: no wake without a wait (tokio#5553). */
TEST(interval_that_was_ready_registers_nothing)
{
    struct clockwork clockwork;
    struct ticker ticker = {.polls = 0};
    clockwork_init(&clockwork, 1);
    rt_interval_init(&ticker.interval, 0, 10, RT_MISSED_BURST);
    rt_task_init(&ticker.task, once_poll, NULL, "once");
    (void)clockwork_post(&clockwork, &ticker.task);
    EXPECT_EQ(ticker.task.end, RT_TASK_PARKED);
    EXPECT_EQ(clockwork.runtime.timers.armed, 0);
    EXPECT(rt_slot_empty(&ticker.interval.sleep.timer.slot));
    EXPECT_EQ(clockwork_at(&clockwork, 100), 0);
}

/* Holds M4, M16. The schedule runs out at the end of the clock instead of beginning again. */
TEST(interval_beyond_the_end_of_the_clock_never_ticks)
{
    struct clockwork clockwork;
    struct ticker ticker;
    ticker_start(&ticker, &clockwork, 0, RT_MISSED_BURST);
    rt_interval_cancel(&ticker.interval);
    rt_interval_init(&ticker.interval, 20, UINT64_MAX - 10, RT_MISSED_SKIP);
    rt_task_wake(&ticker.task);
    (void)clockwork_at(&clockwork, 25);
    (void)clockwork_at(&clockwork, UINT64_MAX - 1);
    EXPECT_STR(ticker.log, "0 20 ");
    ticker_stop(&ticker, &clockwork);
}

/* A new schedule from whenever it is said. */
TEST(interval_that_is_reset_begins_again)
{
    struct clockwork clockwork;
    struct ticker ticker;
    ticker_start(&ticker, &clockwork, 0, RT_MISSED_BURST);
    rt_interval_reset(&ticker.interval, 33);
    rt_task_wake(&ticker.task);
    for (uint64_t now_ns = 1; now_ns <= 50; now_ns++) {
        (void)clockwork_at(&clockwork, now_ns);
    }
    EXPECT_STR(ticker.log, "0 33 43 ");
    ticker_stop(&ticker, &clockwork);
}

static rt_poll
late_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ticker *ticker = rt_container_of(task, struct ticker, task);
    rt_interval_cancel(&ticker->interval);
    rt_interval_cancel(&ticker->interval);
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_interval_poll(&ticker->interval, cx, NULL));
    return RT_READY;
}

/* Holds T20. */
TEST(interval_misused_is_a_fault)
{
    struct clockwork clockwork;
    struct ticker ticker = {.polls = 0};
    clockwork_init(&clockwork, 1);
    EXPECT_FAULT(RT_E_INVALID, rt_interval_init(&ticker.interval, 0, 0, RT_MISSED_BURST));
    rt_interval_init(&ticker.interval, 50, 10, RT_MISSED_BURST);
    rt_task_init(&ticker.task, late_poll, NULL, "late");
    (void)clockwork_post(&clockwork, &ticker.task);
    EXPECT_EQ(ticker.task.end, RT_TASK_DONE);
}
