/*
 * ticker_test.c -- what one tick polls, in which order, and what weak references answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/ticker.h"

#include "runtime/tests/tick/tick_bed.h"

/* Holds G1: b is woken by a, and a by itself, during the tick; both are polled in the next one. */
TEST(ticker_polls_the_tasks_that_were_ready_when_it_began)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    player_start(&a, &bed, "a", "");
    player_start(&b, &bed, "b", "p!");
    a.script = "pwm.!";
    a.other = &b;
    EXPECT_EQ(tick_bed_tick(&bed), 2);
    EXPECT(rt_mark_ready(&bed.ticker, a.activity.id));
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(tick_bed_tick(&bed), 2);
    EXPECT_STR(bed.log, "| a b | a | b ~b a ~a");
}

/* Holds G1: one of the batch is cancelled, and a task woken meanwhile is not polled instead. */
TEST(ticker_polls_no_task_instead_of_a_cancelled_one)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    player_start(&a, &bed, "a", "wx.!");
    player_start(&b, &bed, "b", "!");
    a.other = &b;
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_STR(bed.log, "| a ~b | a ~a");
}

/* Holds G2: twice marked is once polled, and the order is that of the marks. */
TEST(ticker_polls_in_the_order_of_marks_and_each_once)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    struct player c;
    player_start(&a, &bed, "a", "pp");
    player_start(&b, &bed, "b", "s.p");
    player_start(&c, &bed, "c", "pp");
    (void)tick_bed_tick(&bed);
    EXPECT(rt_mark_ready(&bed.ticker, c.activity.id));
    EXPECT(rt_mark_ready(&bed.ticker, a.activity.id));
    EXPECT(rt_mark_ready(&bed.ticker, b.activity.id));
    EXPECT(rt_mark_ready(&bed.ticker, c.activity.id));
    EXPECT(rt_slot_wake(&b.slot));
    EXPECT_EQ(tick_bed_tick(&bed), 3);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    EXPECT_STR(bed.log, "| a b c | c a b |");
}

/* Holds G3, T8: also when another activity lives in the same entry, under another id. */
TEST(ticker_passes_over_dead_references)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    player_start(&a, &bed, "a", "3!");
    (void)tick_bed_tick(&bed);
    struct rt_key old = {0, 1};
    EXPECT(rt_tick_timer_started(&a.timer));
    old = a.timer.id;
    player_start(&b, &bed, "b", "pp");
    EXPECT_EQ(b.activity.id.index, old.index);
    EXPECT(rt_upgrade(&bed.ticker, old) == NULL);
    EXPECT(rt_upgrade(&bed.ticker, b.activity.id) == &b.activity);
    EXPECT(!rt_mark_ready(&bed.ticker, old));
    EXPECT(!rt_cancel(&bed.ticker, old));
    static const struct rt_key none = {0, 0};
    EXPECT(!rt_mark_ready(&bed.ticker, none));
    for (uint32_t i = 0; i < 5; i++) {
        (void)tick_bed_tick(&bed);
    }
    EXPECT(!rt_tick_timer_started(&a.timer));
    EXPECT_STR(bed.log, "| a ~a | b | | | |");
}

/* Holds G4: spawned before the tick, polled in it; spawned during it, in the next one; and the id
 * is there at the first poll. */
static rt_poll
knows_itself(struct rt_activity *activity, struct rt_cx *cx)
{
    (void)cx;
    EXPECT(rt_upgrade(activity->ticker, rt_activity_id(activity)) == activity);
    return RT_READY;
}

TEST(ticker_spawned_activity_knows_its_id_at_its_first_poll)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct rt_activity child;
    rt_activity_init(&child, knows_itself, NULL, NULL);
    EXPECT(!rt_activity_alive(&child));
    EXPECT_EQ(rt_spawn(&bed.ticker, &child), RT_OK);
    EXPECT(rt_activity_alive(&child));
    EXPECT_EQ(child.task.polls, 0);
    EXPECT_EQ(rt_spawn(&bed.ticker, &child), RT_E_POSTED);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT(!rt_activity_alive(&child));
}

/* Holds G4, G1. */
TEST(ticker_spawned_during_a_tick_is_polled_in_the_next)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    player_start(&a, &bed, "a", "+!");
    player_init(&b, &bed, "b", "!");
    a.other = &b;
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_STR(bed.log, "| a ~a | b ~b");
}

/* Holds G12: timer before event before polls; one that was marked by both is polled once. */
TEST(ticker_goes_through_timers_events_and_polls_in_this_order)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    struct player c;
    struct rt_subscription subscriptions[2];
    player_start(&a, &bed, "a", "pn!");
    player_start(&b, &bed, "b", "1p!");
    player_start(&c, &bed, "c", "1pn!");
    (void)tick_bed_tick(&bed);
    for (uint32_t i = 0; i < 2; i++) {
        struct player *player = i == 0 ? &a : &c;
        rt_subscription_init(&subscriptions[i]);
        rt_subscribe(&subscriptions[i], &player->activity, &player->activity.scope, 5, UINT64_MAX);
    }
    struct rt_event event = {.kind = 2, .subject = 5};
    EXPECT_EQ(rt_event_post(&bed.ticker, &event), RT_OK);
    EXPECT_EQ(bed.executor.woken, 0);
    struct rt_tick_result result;
    tick_bed_log(&bed, "", "|");
    EXPECT_EQ(rt_tick(&bed.ticker, &result), RT_OK);
    EXPECT_EQ(result.elapsed, 2);
    EXPECT_EQ(result.events, 1);
    EXPECT_EQ(result.polled, 3);
    EXPECT_STR(bed.log, "| a b c | b ~b c #2 ~c a #2 ~a");
    rt_ticker_fini(&bed.ticker);
}

static rt_err ticked_from_inside;

static rt_poll
ticks_inside(struct rt_activity *activity, struct rt_cx *cx)
{
    (void)cx;
    ticked_from_inside = rt_tick(activity->ticker, NULL);
    return RT_READY;
}

/* Holds D10, as a tick is a run. */
TEST(ticker_refuses_a_tick_inside_a_tick)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct rt_activity nosy;
    rt_activity_init(&nosy, ticks_inside, NULL, "nosy");
    EXPECT_EQ(rt_spawn(&bed.ticker, &nosy), RT_OK);
    EXPECT_EQ(rt_tick(&bed.ticker, NULL), RT_OK);
    EXPECT_EQ(ticked_from_inside, RT_E_REENTERED);
}

TEST(ticker_that_is_full_refuses_a_spawn_and_changes_nothing)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player players[TICK_BED_CAPACITY + 1];
    for (uint32_t i = 0; i < TICK_BED_CAPACITY; i++) {
        player_start(&players[i], &bed, "a", "p");
    }
    struct player *last = &players[TICK_BED_CAPACITY];
    player_init(last, &bed, "b", "p");
    EXPECT_EQ(rt_spawn(&bed.ticker, &last->activity), RT_E_FULL);
    EXPECT(!rt_activity_alive(&last->activity));
    EXPECT_EQ(rt_ticker_alive(&bed.ticker), TICK_BED_CAPACITY);
    EXPECT_EQ(tick_bed_tick(&bed), TICK_BED_CAPACITY);
    EXPECT_FAULT(RT_E_IN_USE, rt_ticker_fini(&bed.ticker));
    rt_ticker_drop_all(&bed.ticker);
    EXPECT_EQ(rt_ticker_alive(&bed.ticker), 0);
    EXPECT_EQ(bed.executor.counters.cancelled, TICK_BED_CAPACITY);
    rt_ticker_fini(&bed.ticker);
}
