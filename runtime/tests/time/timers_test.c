/*
 * timers_test.c -- the timer wheel: deadlines, order, boundaries, and wakers that meddle.
 *
 * Alarms (alarm.h) log their names as they go off, so a test reads as what
 * was started and the word expected. timers_model_test.c tests the
 * same statements over long random histories.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "runtime/tests/time/alarm.h"

static struct alarm_bench bench;

static void
init_alarms(struct alarm *alarms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        alarm_init(&alarms[i], &bench, (char)('a' + (int)i % 26));
    }
}

/* The tutorial: two alarms, one of them is called off. */
TEST(timers_fire_what_is_due_and_forget_what_was_cancelled)
{
    struct alarm alarms[2];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 2);
    alarm_start(&alarms[0], 50 * UINT64_C(1000000));
    alarm_start(&alarms[1], 20 * UINT64_C(1000000));
    EXPECT_EQ(rt_timers_next(&bench.timers), 20000000);
    EXPECT(alarm_cancel(&alarms[1]));
    EXPECT_EQ(rt_timers_next(&bench.timers), 50000000);
    EXPECT_EQ(alarm_process(&bench, 50000000), 1);
    EXPECT_STR(bench.log, "a");
    rt_timers_fini(&bench.timers);
}

/* Holds M1. */
TEST(timers_deadline_equal_to_now_is_due)
{
    struct alarm alarm;
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(&alarm, 1);
    alarm_start(&alarm, 10);
    EXPECT_EQ(alarm_process(&bench, 9), 0);
    EXPECT_EQ(alarm_process(&bench, 10), 1);
    EXPECT_EQ(alarm_process(&bench, 11), 0);
    EXPECT_EQ(alarm.wakes, 1);
}

/*
 * Holds M1, M8.
 * Goal: neither early nor late at the borders of every level.
 * Method: deadlines around each power of two; time stops one before, then at it.
 */
TEST(timers_at_the_border_of_each_level_fire_exactly)
{
    for (uint32_t exponent = 1; exponent < 63; exponent++) {
        for (int64_t offset = -1; offset <= 1; offset++) {
            struct alarm alarm;
            uint64_t deadline_ns = (UINT64_C(1) << exponent) + (uint64_t)offset;
            alarm_bench_init(&bench, 0, 0, 0, 0);
            init_alarms(&alarm, 1);
            alarm_start(&alarm, deadline_ns);
            EXPECT_EQ(alarm_process(&bench, deadline_ns / 2), 0);
            EXPECT_EQ(alarm_process(&bench, deadline_ns - 1), 0);
            EXPECT_EQ(rt_timers_next(&bench.timers), deadline_ns);
            EXPECT_EQ(alarm_process(&bench, deadline_ns), 1);
        }
    }
}

/* Holds M2: the wheel's part. What is past when it is started waits for the next call. */
TEST(timers_started_in_the_past_are_due_at_the_next_call)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 1000);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], 1000);
    alarm_start(&alarms[1], 0);
    alarm_start(&alarms[2], 1000);
    EXPECT_EQ(rt_timers_next(&bench.timers), 0);
    EXPECT_EQ(alarm_process(&bench, 1000), 3);
    EXPECT_STR(bench.log, "bac");
}

/*
 * Holds M3.
 * Goal: a run repeats exactly even where deadlines collide.
 * Method: 26 timers at one deadline, started while time comes nearer, so that the early ones sit
 * in high levels and the late ones in low ones. The order out must be the order in.
 */
TEST(timers_equal_deadlines_fire_in_start_order)
{
    struct alarm alarms[26];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 26);
    for (uint32_t i = 0; i < 26; i++) {
        alarm_start(&alarms[i], 1000000);
        EXPECT_EQ(alarm_process(&bench, 999999 - (UINT64_C(900000) >> i)), 0);
    }
    EXPECT_EQ(alarm_process(&bench, 1000000), 26);
    EXPECT_STR(bench.log, "abcdefghijklmnopqrstuvwxyz");
}

/* Holds M3, M10: what lies in many levels and slots comes out by deadline, ties by start. */
TEST(timers_long_jump_fires_everything_in_order)
{
    static const uint64_t deadlines[] = {
            70000, 3, 5000000000, 64, 63, 65, 3, 70000, 4096, 1, 4095, 5000000000, 64};
    struct alarm alarms[13];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 13);
    for (uint32_t i = 0; i < 13; i++) {
        alarm_start(&alarms[i], deadlines[i]);
    }
    EXPECT_EQ(alarm_process(&bench, UINT64_C(1) << 50), 13);
    EXPECT_STR(bench.log, "jbgedmfkiahcl");
}

/* Holds M3: reversed starts of past deadlines, the sorted list's other case. */
TEST(timers_overdue_in_any_order_fire_by_deadline)
{
    struct alarm alarms[5];
    alarm_bench_init(&bench, 0, 0, 0, 100);
    init_alarms(alarms, 5);
    alarm_start(&alarms[0], 50);
    alarm_start(&alarms[1], 40);
    alarm_start(&alarms[2], 45);
    alarm_start(&alarms[3], 40);
    alarm_start(&alarms[4], 101);
    EXPECT_EQ(alarm_process(&bench, 200), 5);
    EXPECT_STR(bench.log, "bdcae");
}

/* Holds M4. */
TEST(timers_deadline_saturates_to_never)
{
    EXPECT(rt_deadline(0, 0) == 0);
    EXPECT(rt_deadline(5, 7) == 12);
    EXPECT(rt_deadline(0, RT_NEVER) == RT_NEVER);
    EXPECT(rt_deadline(1, RT_NEVER) == RT_NEVER);
    EXPECT(rt_deadline(1, RT_NEVER - 1) == RT_NEVER);
    EXPECT(rt_deadline(1, RT_NEVER - 2) == RT_NEVER - 1);
    EXPECT(rt_deadline(RT_NEVER, 0) == RT_NEVER);
    EXPECT(rt_deadline(RT_NEVER, RT_NEVER) == RT_NEVER);
    EXPECT(rt_deadline(RT_NEVER - 1, 0) == RT_NEVER - 1);
    EXPECT(rt_deadline(RT_NEVER - 1, 1) == RT_NEVER);
}

/* Holds M4: not even at the end of the clock. It is armed nevertheless. */
TEST(timers_never_is_never_due)
{
    struct alarm alarm;
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(&alarm, 1);
    alarm_start(&alarm, RT_NEVER);
    EXPECT(rt_timers_next(&bench.timers) == RT_NEVER);
    EXPECT_EQ(bench.reports, 0);
    EXPECT_EQ(alarm_process(&bench, RT_NEVER - 1), 0);
    EXPECT_EQ(alarm_process(&bench, RT_NEVER), 0);
    EXPECT(alarm_cancel(&alarm));
    EXPECT(!alarm_cancel(&alarm));
    EXPECT_EQ(alarm.held, 0);
}

/* Puts one alarm at each boundary, jumps straight to the end or stops at each, and checks. */
static void
check_boundaries(uint32_t levels, uint32_t bits, bool one_jump)
{
    static const uint64_t deadlines[] = {
            0, 1, RT_NEVER - 3, RT_NEVER - 2, RT_NEVER - 1, RT_NEVER, UINT64_C(1) << 63};
    struct alarm alarms[7];
    alarm_bench_init(&bench, levels, bits, 0, 0);
    init_alarms(alarms, 7);
    for (uint32_t i = 0; i < 7; i++) {
        alarm_start(&alarms[i], deadlines[i]);
    }
    if (one_jump) {
        EXPECT_EQ(alarm_process(&bench, RT_NEVER), 6);
        EXPECT_STR(bench.log, "abgcde");
    } else {
        EXPECT_EQ(alarm_process(&bench, 0), 1);
        EXPECT_EQ(alarm_process(&bench, 1), 1);
        EXPECT_EQ(alarm_process(&bench, (UINT64_C(1) << 63) - 1), 0);
        EXPECT_EQ(alarm_process(&bench, UINT64_C(1) << 63), 1);
        EXPECT_EQ(alarm_process(&bench, RT_NEVER - 4), 0);
        EXPECT_EQ(alarm_process(&bench, RT_NEVER - 3), 1);
        EXPECT_EQ(alarm_process(&bench, RT_NEVER - 2), 1);
        EXPECT_EQ(alarm_process(&bench, RT_NEVER - 1), 1);
        EXPECT_EQ(alarm_process(&bench, RT_NEVER), 0);
    }
    EXPECT(rt_timers_next(&bench.timers) == RT_NEVER);
    EXPECT(alarm_cancel(&alarms[5]));
    rt_timers_fini(&bench.timers);
}

/*
 * Holds M4, M9.
 * A wheel of 11 levels of 64 covers the clock; the others go round, up to 2^60 times in one jump.
 */
TEST(timers_at_the_ends_of_the_clock_fire_exactly)
{
    static const uint32_t shapes[][2] = {{6, 6}, {11, 6}, {2, 2}, {3, 2}, {1, 1}, {1, 6}, {11, 1}};
    for (uint32_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        check_boundaries(shapes[i][0], shapes[i][1], true);
        check_boundaries(shapes[i][0], shapes[i][1], false);
    }
}

/* Holds M5: rounded up, never early; equal after rounding is equal, and goes by start order. */
TEST(timers_deadlines_are_rounded_up_to_the_tick)
{
    struct alarm alarms[4];
    alarm_bench_init(&bench, 0, 0, 1000, 0);
    init_alarms(alarms, 4);
    alarm_start(&alarms[0], 1900);
    alarm_start(&alarms[1], 1001);
    alarm_start(&alarms[2], 2000);
    alarm_start(&alarms[3], 1000);
    EXPECT_EQ(rt_timers_next(&bench.timers), 1000);
    EXPECT_EQ(alarm_process(&bench, 999), 0);
    EXPECT_EQ(alarm_process(&bench, 1999), 1);
    EXPECT_STR(bench.log, "d");
    EXPECT_EQ(rt_timers_next(&bench.timers), 2000);
    EXPECT_EQ(alarm_process(&bench, 2000), 3);
    EXPECT_STR(bench.log, "abc");
}

/* Holds M5: a wheel begun within a tick counts that tick as begun, not as over. */
TEST(timers_begun_within_a_tick_round_up_all_the_same)
{
    struct alarm alarm;
    alarm_bench_init(&bench, 0, 0, 1000, 1500);
    init_alarms(&alarm, 1);
    alarm_start(&alarm, 1501);
    EXPECT_EQ(alarm_process(&bench, 1999), 0);
    EXPECT_EQ(alarm_process(&bench, 2000), 1);
}

/* Holds M4, M5: a deadline whose tick is beyond the clock is never due. The last tick is. */
TEST(timers_rounding_at_the_top_does_not_wrap)
{
    const uint64_t last_ns = RT_NEVER - RT_NEVER % 1000;
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 1000, 0);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], last_ns + 1);
    alarm_start(&alarms[1], last_ns);
    alarm_start(&alarms[2], RT_NEVER - 1);
    EXPECT(rt_timers_next(&bench.timers) == last_ns);
    EXPECT_EQ(alarm_process(&bench, last_ns - 1), 0);
    EXPECT_EQ(alarm_process(&bench, RT_NEVER), 1);
    EXPECT_STR(bench.log, "b");
    EXPECT(rt_timers_next(&bench.timers) == RT_NEVER);
    EXPECT(alarm_cancel(&alarms[0]));
    EXPECT(alarm_cancel(&alarms[2]));
}

/* Holds M6, W1: true once, no wake afterwards, and the waker is given back. */
TEST(timers_cancel_is_true_once_and_ends_it)
{
    struct alarm alarm;
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(&alarm, 1);
    EXPECT(!alarm_cancel(&alarm));
    alarm_start(&alarm, 10);
    EXPECT_EQ(alarm.held, 1);
    EXPECT(alarm_cancel(&alarm));
    EXPECT_EQ(alarm.held, 0);
    EXPECT(!alarm_cancel(&alarm));
    EXPECT_EQ(alarm_process(&bench, 1000), 0);
    EXPECT_EQ(alarm.wakes, 0);
    alarm_start(&alarm, 2000);
    EXPECT_EQ(alarm_process(&bench, 2000), 1);
    EXPECT(!alarm_cancel(&alarm));
}

/*
 * Holds M6.
 * Two timers of one tick: both are taken out, the first is fired, and its waker cancels the second,
 * which is in no slot any more. Two more that stay in the wheel show whether its lists are damaged.
 */
TEST(timers_cancel_of_a_pending_timer_in_a_wake_holds)
{
    struct alarm alarms[4];
    alarm_bench_init(&bench, 2, 2, 0, 0);
    init_alarms(alarms, 4);
    alarms[0].then = alarm_then_cancel_other;
    alarms[0].other = &alarms[1];
    alarm_start(&alarms[0], 3);
    alarm_start(&alarms[1], 3);
    alarm_start(&alarms[2], 3 + 16);
    alarm_start(&alarms[3], 3 + 4);
    EXPECT_EQ(alarm_process(&bench, 3), 1);
    EXPECT_STR(bench.log, "a");
    EXPECT_EQ(alarms[1].held, 0);
    EXPECT(!alarm_cancel(&alarms[1]));
    EXPECT_EQ(alarm_process(&bench, 3 + 16), 2);
    EXPECT_STR(bench.log, "dc");
    rt_timers_fini(&bench.timers);
}

/* Holds M6, M7: a pending timer that a waker moves is not fired for its old deadline. */
static void
then_move_other(struct alarm *alarm)
{
    alarm_start(alarm->other, alarm->again_ns);
}

TEST(timers_restart_of_a_pending_timer_in_a_wake_holds)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 2, 2, 0, 0);
    init_alarms(alarms, 3);
    alarms[0].then = then_move_other;
    alarms[0].other = &alarms[1];
    alarms[0].again_ns = 9;
    alarm_start(&alarms[0], 3);
    alarm_start(&alarms[1], 3);
    alarm_start(&alarms[2], 3);
    EXPECT_EQ(alarm_process(&bench, 5), 2);
    EXPECT_STR(bench.log, "ac");
    EXPECT_EQ(rt_timers_next(&bench.timers), 9);
    EXPECT_EQ(alarm_process(&bench, 9), 1);
    EXPECT_STR(bench.log, "b");
}

/* Holds M7: later or earlier, the last start counts, with one wake, and as the youngest. */
TEST(timers_restart_supersedes)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], 100);
    alarm_start(&alarms[0], 5000);
    alarm_start(&alarms[1], 5000);
    alarm_start(&alarms[1], 100);
    EXPECT_EQ(alarm_process(&bench, 100), 1);
    EXPECT_STR(bench.log, "b");
    alarm_start(&alarms[2], 5000);
    alarm_start(&alarms[0], 5000);
    EXPECT_EQ(alarm_process(&bench, 5000), 2);
    EXPECT_STR(bench.log, "ca");
    EXPECT_EQ(alarms[0].wakes, 1);
    EXPECT_EQ(alarms[0].held, 0);
}

/*
 * Holds M8.
 * Deadline 2*64*64 + 3*64 + 5 goes down from level 2 as time enters its slots, and is found where
 * it is when it is cancelled at any of these times.
 */
TEST(timers_go_down_the_levels_as_time_comes_near)
{
    static const struct {
        uint64_t now_ns;
        uint32_t level;
        uint32_t index;
    } steps[] = {{0, 2, 2}, {8191, 2, 2}, {8192, 1, 3}, {8383, 1, 3}, {8384, 0, 5}, {8388, 0, 5}};
    for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct alarm alarms[2];
        alarm_bench_init(&bench, 0, 0, 0, 0);
        init_alarms(alarms, 2);
        alarm_start(&alarms[0], 8389);
        alarm_start(&alarms[1], 8389);
        EXPECT_EQ(alarm_process(&bench, steps[i].now_ns), 0);
        EXPECT_EQ(alarms[0].timer.level, steps[i].level);
        EXPECT_EQ(alarms[0].timer.index, steps[i].index);
        EXPECT(alarm_cancel(&alarms[0]));
        EXPECT_EQ(alarm_process(&bench, 8389), 1);
        EXPECT_STR(bench.log, "b");
    }
}

/* Holds M9: beyond the range of 2 levels of 4, time goes by tick by tick. */
TEST(timers_beyond_the_top_level_go_round)
{
    static const uint64_t deadlines[] = {15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 500};
    struct alarm alarms[11];
    alarm_bench_init(&bench, 2, 2, 0, 5);
    init_alarms(alarms, 11);
    for (uint32_t i = 0; i < 11; i++) {
        alarm_start(&alarms[i], deadlines[i]);
    }
    for (uint64_t now_ns = 6; now_ns <= 500; now_ns++) {
        (void)alarm_process(&bench, now_ns);
        for (uint32_t i = 0; i < 11; i++) {
            EXPECT_EQ(alarms[i].wakes, now_ns >= deadlines[i] ? 1 : 0);
        }
    }
}

/* Holds M9: time is beyond the range when a short timer is started and cancelled. */
TEST(timers_started_late_in_a_turn_wrap_into_the_next)
{
    struct alarm alarms[2];
    alarm_bench_init(&bench, 2, 2, 0, 0);
    init_alarms(alarms, 2);
    for (uint64_t now_ns = 1; now_ns < 200; now_ns++) {
        EXPECT_EQ(alarm_process(&bench, now_ns), 0);
        for (uint64_t ahead = 1; ahead < 40; ahead++) {
            alarm_start(&alarms[0], now_ns + ahead);
            alarm_start(&alarms[1], now_ns + 40);
            EXPECT_EQ(rt_timers_next(&bench.timers), now_ns + ahead);
            EXPECT(alarm_cancel(&alarms[0]));
            EXPECT_EQ(rt_timers_next(&bench.timers), now_ns + 40);
        }
    }
}

/* Holds M10: a waker that starts its own timer for now again does not hold the call. */
TEST(timers_started_for_now_in_a_wake_wait_for_the_next_call)
{
    struct alarm alarms[2];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 2);
    alarms[0].then = alarm_then_start_again;
    alarms[0].again_ns = 0;
    alarm_start(&alarms[0], 10);
    alarm_start(&alarms[1], 12);
    EXPECT_EQ(alarm_process(&bench, 20), 2);
    EXPECT_STR(bench.log, "ab");
    EXPECT_EQ(rt_timers_next(&bench.timers), 0);
    EXPECT_EQ(alarm_process(&bench, 20), 1);
    EXPECT_EQ(alarm_process(&bench, 20), 1);
    EXPECT_EQ(alarms[0].wakes, 3);
}

/* Holds M3, M10: a waker that fires timers itself gets what is due then, in one order. */
static void
then_process(struct alarm *alarm)
{
    alarm_start(alarm->other, 11);
    EXPECT_EQ(rt_timers_process(&alarm->bench->timers, 40), 4);
}

TEST(timers_processed_inside_a_wake_keep_their_order)
{
    struct alarm alarms[5];
    alarm_bench_init(&bench, 2, 2, 0, 0);
    init_alarms(alarms, 5);
    alarms[0].then = then_process;
    alarms[0].other = &alarms[4];
    alarm_start(&alarms[0], 10);
    alarm_start(&alarms[1], 30);
    alarm_start(&alarms[2], 12);
    alarm_start(&alarms[3], 10);
    EXPECT_EQ(alarm_process(&bench, 20), 1);
    EXPECT_STR(bench.log, "adecb");
}

/* Holds M6: the memory of a timer belongs to its waker once that is called. */
TEST(timers_are_not_touched_after_their_wake)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 3);
    for (uint32_t i = 0; i < 3; i++) {
        alarms[i].then = alarm_then_scribble;
        alarm_start(&alarms[i], 7);
    }
    EXPECT_EQ(alarm_process(&bench, 7), 3);
    EXPECT_STR(bench.log, "abc");
    rt_timers_fini(&bench.timers);
}

/* Holds M11: time keeps its last value until the clock has caught up. */
TEST(timers_clock_that_goes_backwards_keeps_its_last_value)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], 150);
    EXPECT_EQ(alarm_process(&bench, 100), 0);
    EXPECT_EQ(alarm_process(&bench, 50), 0);
    alarm_start(&alarms[1], 70);
    EXPECT_EQ(alarm_process(&bench, 0), 1);
    EXPECT_STR(bench.log, "b");
    alarm_start(&alarms[2], 101);
    EXPECT_EQ(alarm_process(&bench, 99), 0);
    EXPECT_EQ(alarm_process(&bench, 150), 2);
    EXPECT_STR(bench.log, "ca");
}

/* Holds M13: the wheel's part. No time passes but by rt_timers_process. */
TEST(timers_use_the_callers_clock)
{
    struct alarm alarms[2];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 2);
    alarm_start(&alarms[0], 5);
    for (uint32_t i = 0; i < 100; i++) {
        alarm_start(&alarms[1], 1);
        EXPECT(rt_timers_next(&bench.timers) == 1);
        EXPECT(alarm_cancel(&alarms[1]));
        EXPECT(rt_timers_next(&bench.timers) == 5);
    }
    EXPECT_EQ(alarm_process(&bench, 4), 0);
    EXPECT_EQ(alarms[0].wakes, 0);
}

/* Holds M12: the slot that is entered first need not hold the earliest deadline. */
TEST(timers_next_is_exact_where_the_top_level_goes_round)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 2, 2, 0, 0);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], 4 + 160);
    EXPECT_EQ(rt_timers_next(&bench.timers), 164);
    alarm_start(&alarms[1], 11);
    EXPECT_EQ(rt_timers_next(&bench.timers), 11);
    alarm_start(&alarms[2], 10);
    EXPECT_EQ(rt_timers_next(&bench.timers), 10);
    EXPECT(alarm_cancel(&alarms[2]));
    EXPECT_EQ(rt_timers_next(&bench.timers), 11);
    EXPECT(alarm_cancel(&alarms[1]));
    EXPECT_EQ(rt_timers_next(&bench.timers), 164);
}

/* Holds M12: during the firing what is still pending counts, and is exact. */
static void
then_expect_next(struct alarm *alarm)
{
    EXPECT(rt_timers_next(&alarm->bench->timers) == alarm->again_ns);
}

TEST(timers_next_counts_what_is_pending)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 3);
    for (uint32_t i = 0; i < 3; i++) {
        alarms[i].then = then_expect_next;
        alarms[i].again_ns = i < 2 ? 20 + 10 * i : RT_NEVER;
        alarm_start(&alarms[i], 10 + 10 * i);
    }
    EXPECT_EQ(alarm_process(&bench, 30), 3);
}

static void
expect_reports(uint32_t calls, uint64_t deadline_ns)
{
    EXPECT_EQ(bench.reports, calls);
    EXPECT(bench.reported_ns == deadline_ns);
}

/* Holds M12: called exactly when a start or a cancel changes the earliest deadline. */
TEST(timers_report_the_earliest_deadline_when_it_changes)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], 100);
    expect_reports(1, 100);
    alarm_start(&alarms[1], 200);
    expect_reports(1, 100);
    alarm_start(&alarms[2], 100);
    expect_reports(1, 100);
    EXPECT(alarm_cancel(&alarms[0]));
    expect_reports(1, 100); /* alarms[2] is as early. */
    alarm_start(&alarms[2], 50);
    expect_reports(2, 50);
    alarm_start(&alarms[2], 300);
    expect_reports(3, 200);
    EXPECT(alarm_cancel(&alarms[1]));
    expect_reports(4, 300);
    EXPECT(!alarm_cancel(&alarms[1]));
    EXPECT(alarm_cancel(&alarms[2]));
    expect_reports(5, RT_NEVER);
}

/*
 * Holds M12.
 * Goal: the next deadline is exact after the earliest timer of a slot was cancelled.
 * Method: three timers in one slot of level 1, cancelled in the order of their deadlines, which is
 * not that of their starts.
 */
TEST(timers_next_is_exact_after_the_earliest_of_a_slot_is_cancelled)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], 120);
    alarm_start(&alarms[1], 100);
    alarm_start(&alarms[2], 110);
    EXPECT_EQ(rt_timers_next(&bench.timers), 100);
    EXPECT(alarm_cancel(&alarms[1]));
    EXPECT_EQ(rt_timers_next(&bench.timers), 110);
    EXPECT(alarm_cancel(&alarms[2]));
    EXPECT_EQ(rt_timers_next(&bench.timers), 120);
    EXPECT_EQ(alarm_process(&bench, 120), 1);
    rt_timers_fini(&bench.timers);
}

/* Holds M12: firing is silent, and the next start is compared with what is left after it. */
TEST(timers_do_not_report_a_deadline_when_they_fire)
{
    struct alarm alarms[3];
    alarm_bench_init(&bench, 0, 0, 0, 0);
    init_alarms(alarms, 3);
    alarm_start(&alarms[0], 100);
    alarm_start(&alarms[1], 200);
    EXPECT_EQ(alarm_process(&bench, 100), 1);
    expect_reports(1, 100);
    EXPECT_EQ(rt_timers_next(&bench.timers), 200);
    alarm_start(&alarms[2], 250);
    expect_reports(1, 100);
    alarm_start(&alarms[2], 150);
    expect_reports(2, 150);
}

/* Holds M12: a wheel without a listener knows the same. */
TEST(timers_without_a_listener_know_the_earliest_too)
{
    struct rt_list *slots[RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS)];
    struct rt_timers timers;
    struct rt_timer a;
    struct rt_timer b;
    rt_timers_init(&timers, &(struct rt_timers_config){.slots = slots});
    rt_timer_init(&a);
    rt_timer_init(&b);
    rt_timer_start(&timers, &a, 100);
    rt_timer_start(&timers, &b, 200);
    EXPECT(rt_timer_cancel(&timers, &a));
    EXPECT_EQ(rt_timers_next(&timers), 200);
    rt_timer_start(&timers, &a, 300);
    EXPECT_EQ(rt_timers_next(&timers), 200);
    EXPECT_EQ(rt_timers_process(&timers, 250), 1);
    EXPECT_EQ(rt_timers_next(&timers), 300);
    rt_timers_audit(&timers);
    EXPECT(rt_timer_cancel(&timers, &a));
    rt_timers_fini(&timers);
}

/* Holds M14: wherever the armed timer is. */
TEST(timers_ended_while_armed_is_a_fault)
{
    static const uint64_t deadlines[] = {100, 5, RT_NEVER};
    for (uint32_t i = 0; i < 3; i++) {
        struct alarm alarm;
        alarm_bench_init(&bench, 0, 0, 0, 10);
        init_alarms(&alarm, 1);
        alarm_start(&alarm, deadlines[i]);
        EXPECT_FAULT(RT_E_IN_USE, rt_timers_fini(&bench.timers));
        EXPECT(alarm_cancel(&alarm));
        rt_timers_fini(&bench.timers);
    }
}

/* Holds M12, M14: the audit itself sees what it is there for. */
TEST(timers_audit_sees_a_wheel_that_contradicts_itself)
{
    struct alarm alarm;
    alarm_bench_init(&bench, 2, 2, 0, 0);
    init_alarms(&alarm, 1);
    alarm_start(&alarm, 9);
    alarm.timer.index += 1;
    EXPECT_PANIC(rt_timers_audit(&bench.timers));
    alarm.timer.index -= 1;
    alarm.timer.place = RT_TIMER_PENDING;
    EXPECT_PANIC(rt_timers_audit(&bench.timers));
    alarm.timer.place = RT_TIMER_IN_WHEEL;
    bench.timers.occupied[1] = 0;
    EXPECT_PANIC(rt_timers_audit(&bench.timers));
    bench.timers.occupied[1] = 4;
    bench.timers.earliest_ns = 8;
    EXPECT_PANIC(rt_timers_audit(&bench.timers));
    bench.timers.earliest_ns = 9;
    rt_timers_audit(&bench.timers);
}
