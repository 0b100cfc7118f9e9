/*
 * tick_timer_test.c -- waiting for ticks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/timer.h"

#include "runtime/tests/bed.h"
#include "runtime/tests/tick/tick_bed.h"

/* Holds G8: at the first tick that is at least n later. */
TEST(tick_timer_elapses_after_its_ticks)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    player_start(&a, &bed, "a", "3p!");
    for (uint32_t i = 0; i < 4; i++) {
        (void)tick_bed_tick(&bed);
    }
    EXPECT_STR(bed.log, "| a | | | a ~a");
}

/* Holds G8: 0 is the next tick, from inside a poll and from outside. */
TEST(tick_timer_of_zero_elapses_at_the_next_tick)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    player_start(&a, &bed, "a", "pp!");
    (void)tick_bed_tick(&bed);
    rt_tick_timer_start(&bed.ticker, &a.timer, 0, a.activity.id);
    EXPECT(rt_tick_timer_started(&a.timer));
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    rt_tick_timer_start(&bed.ticker, &a.timer, UINT64_MAX, a.activity.id);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    EXPECT_EQ(a.timer.end_tick, UINT64_MAX);
    EXPECT(rt_tick_timer_cancel(&a.timer));
}

/* Holds G8: true once. */
TEST(tick_timer_is_cancelled_once)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    player_start(&a, &bed, "a", "2p");
    (void)tick_bed_tick(&bed);
    EXPECT(rt_tick_timer_cancel(&a.timer));
    EXPECT(!rt_tick_timer_cancel(&a.timer));
    (void)tick_bed_tick(&bed);
    (void)tick_bed_tick(&bed);
    EXPECT_STR(bed.log, "| a | |");
    rt_tick_timer_start(&bed.ticker, &a.timer, 1, a.activity.id);
    a.script = "p";
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT(!rt_tick_timer_cancel(&a.timer));
}

/* Holds G8, G2: those that end together mark in the order in which they were started. */
TEST(tick_timer_ties_go_by_start_order)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player players[5];
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (uint32_t i = 0; i < 5; i++) {
        player_start(&players[i], &bed, names[i], "pp");
    }
    (void)tick_bed_tick(&bed);
    static const uint32_t starts[] = {3, 0, 4, 1, 2};
    for (uint32_t i = 0; i < 5; i++) {
        struct player *player = &players[starts[i]];
        rt_tick_timer_start(
                &bed.ticker, &player->timer, starts[i] == 4 ? 1 : 2, player->activity.id);
    }
    EXPECT_EQ(rt_ticker_timers(&bed.ticker), 5);
    (void)tick_bed_tick(&bed);
    (void)tick_bed_tick(&bed);
    EXPECT_STR(bed.log, "| a b c d e | e | d a b c");
}

struct loiterer {
    struct rt_activity activity;
    struct rt_tick_wait wait;
    bool again;
};

static rt_poll
loiter(struct rt_activity *activity, struct rt_cx *cx)
{
    struct loiterer *loiterer = rt_container_of(activity, struct loiterer, activity);
    RT_AWAIT(rt_tick_wait_poll(&loiterer->wait, &activity->scope, cx));
    if (loiterer->again) {
        (void)rt_tick_wait_poll(&loiterer->wait, &activity->scope, cx);
    }
    return rt_cx_park(cx);
}

static void
loiterer_start(struct loiterer *loiterer, struct tick_bed *bed, bool again)
{
    rt_activity_init(&loiterer->activity, loiter, NULL, "loiterer");
    rt_tick_wait_init(&loiterer->wait, 2);
    loiterer->again = again;
    EXPECT_EQ(rt_spawn(&bed->ticker, &loiterer->activity), RT_OK);
}

/* Holds G9: the poll that finds the timer elapsed wakes no task; a spurious mark is harmless. */
TEST(tick_timer_that_has_elapsed_does_not_wake_its_task_again)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct loiterer loiterer;
    loiterer_start(&loiterer, &bed, false);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT(rt_mark_ready(&bed.ticker, loiterer.activity.id));
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT(rt_tick_timer_started(&loiterer.wait.timer));
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT(loiterer.wait.over);
    EXPECT_EQ(bed.executor.woken, 0);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    EXPECT(rt_list_empty(&loiterer.wait.cancel.link));
}

/* Holds T20, G8. */
TEST(tick_timer_wait_that_is_over_is_not_polled_again)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct loiterer loiterer;
    loiterer_start(&loiterer, &bed, true);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    EXPECT_FAULT(RT_E_FINISHED, (void)tick_bed_tick(&bed));
}

/* Holds G10: its scope cancels it. */
TEST(tick_timer_wait_is_cancelled_with_its_scope)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct loiterer loiterer;
    loiterer_start(&loiterer, &bed, false);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(rt_ticker_timers(&bed.ticker), 1);
    rt_activity_drop(&loiterer.activity);
    EXPECT_EQ(rt_ticker_timers(&bed.ticker), 0);
    EXPECT(!rt_tick_wait_cancel(&loiterer.wait));
}

#define MODEL_TIMERS 8

/* Holds G8. Long random histories against an array that is searched from end to end. */
TEST(tick_timers_do_what_an_array_does)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct rt_tick_timer timers[MODEL_TIMERS];
    uint64_t ends[MODEL_TIMERS] = {0}; /* 0: not started. */
    uint64_t seed = 11;
    for (uint32_t i = 0; i < MODEL_TIMERS; i++) {
        rt_tick_timer_init(&timers[i]);
    }
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t i = bed_below(&seed, MODEL_TIMERS);
        uint32_t what = bed_below(&seed, 4);
        if (what < 2) {
            uint64_t ticks = bed_below(&seed, 6);
            rt_tick_timer_start(&bed.ticker, &timers[i], ticks, (struct rt_key){0, 0});
            ends[i] = bed.ticker.tick + ticks + (ticks == 0 ? 1 : 0);
        } else if (what == 2) {
            EXPECT_EQ(rt_tick_timer_cancel(&timers[i]), ends[i] != 0);
            ends[i] = 0;
        } else {
            uint32_t due = 0;
            for (uint32_t k = 0; k < MODEL_TIMERS; k++) {
                if (ends[k] == bed.ticker.tick + 1) {
                    ends[k] = 0;
                    due++;
                }
            }
            struct rt_tick_result result;
            EXPECT_EQ(rt_tick(&bed.ticker, &result), RT_OK);
            EXPECT_EQ(result.elapsed, due);
        }
        EXPECT_EQ(rt_tick_timer_started(&timers[i]), ends[i] != 0);
    }
}
