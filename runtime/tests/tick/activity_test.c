/*
 * activity_test.c -- events, parking, clean-ups, and the two ways to end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/activity.h"

#include "runtime/tests/tick/tick_bed.h"

/* ---- Events. --------------------------------------------------------------------------------- */

/* Holds G5: in order; what came before the poll is seen without parking; one mark for all. */
TEST(activity_reads_its_events_in_order)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    player_start(&a, &bed, "a", "npnpn!");
    EXPECT_EQ(player_push(&a, 1), RT_OK);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(player_push(&a, 2), RT_OK);
    EXPECT_EQ(player_push(&a, 3), RT_OK);
    EXPECT_EQ(player_push(&a, 4), RT_OK);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    EXPECT_STR(bed.log, "| a #1 | a #2 #3 #4 |");
}

/* Holds G5, T13: an event that comes while the task runs and is about to park is not lost. */
TEST(activity_that_is_sent_an_event_as_it_parks_is_polled_again)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    player_start(&a, &bed, "a", "nepn!");
    a.other = &a;
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_STR(bed.log, "| a | a #7 ~a");
}

struct listener {
    struct rt_activity activity;
    struct rt_event events[2];
    struct rt_event last;
    uint32_t heard;
};

static rt_poll
listen(struct rt_activity *activity, struct rt_cx *cx)
{
    struct listener *listener = rt_container_of(activity, struct listener, activity);
    for (;;) {
        RT_AWAIT(rt_next_event(cx, &listener->last));
        listener->heard++;
    }
}

static void
listener_start(struct listener *listener, struct tick_bed *bed, enum rt_sink_full full)
{
    memset(listener, 0x5a, sizeof(*listener));
    rt_activity_init(&listener->activity, listen, NULL, "listener");
    rt_activity_lend_events(&listener->activity, listener->events, 2, full);
    listener->heard = 0;
    EXPECT_EQ(rt_spawn(&bed->ticker, &listener->activity), RT_OK);
    EXPECT_EQ(tick_bed_tick(bed), 1);
    EXPECT_EQ(listener->activity.task.end, RT_TASK_PARKED);
}

/* Holds G5: a spurious poll parks again and takes nothing. */
TEST(activity_next_event_tolerates_a_spurious_mark)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct listener listener;
    listener_start(&listener, &bed, RT_SINK_DROP_NEW);
    EXPECT(rt_mark_ready(&bed.ticker, listener.activity.id));
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(listener.heard, 0);
    EXPECT_EQ(listener.activity.task.end, RT_TASK_PARKED);
    struct rt_event event = {.kind = 9};
    EXPECT_EQ(rt_event_push(&bed.ticker, listener.activity.id, &event), RT_OK);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(listener.heard, 1);
    EXPECT_EQ(listener.last.kind, 9);
}

/* Holds G6. */
TEST(activity_with_a_full_sink_refuses_the_new_event)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct listener listener;
    listener_start(&listener, &bed, RT_SINK_DROP_NEW);
    for (uint32_t kind = 1; kind <= 3; kind++) {
        struct rt_event event = {.kind = kind};
        rt_err err = rt_event_push(&bed.ticker, listener.activity.id, &event);
        EXPECT_EQ(err, kind <= 2 ? RT_OK : RT_E_FULL);
    }
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(listener.heard, 2);
    EXPECT_EQ(listener.last.kind, 2);
    EXPECT_EQ(listener.activity.sink.dropped, 1);
}

/* Holds G6: the other policy. */
TEST(activity_that_keeps_the_latest_events_drops_the_oldest)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct listener listener;
    listener_start(&listener, &bed, RT_SINK_DROP_OLD);
    for (uint32_t kind = 1; kind <= 3; kind++) {
        struct rt_event event = {.kind = kind};
        EXPECT_EQ(rt_event_push(&bed.ticker, listener.activity.id, &event), RT_OK);
    }
    struct rt_event first;
    EXPECT(rt_event_pop(&listener.activity, &first));
    EXPECT_EQ(first.kind, 2);
    EXPECT_EQ(listener.activity.sink.dropped, 1);
}

/* Holds G6, G3. */
TEST(activity_that_is_dead_gets_no_events)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct listener listener;
    listener_start(&listener, &bed, RT_SINK_DROP_NEW);
    struct rt_key id = listener.activity.id;
    rt_activity_drop(&listener.activity);
    struct rt_event event = {.kind = 1};
    EXPECT_EQ(rt_event_push(&bed.ticker, id, &event), RT_E_STALE);
    EXPECT_EQ(listener.activity.sink.count, 0);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
}

/* Holds G5, G6: by subject and kind, in the order posted, until the scope ends. */
TEST(activity_hears_what_it_has_subscribed_to)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct rt_subscription subscription;
    player_start(&a, &bed, "a", "pnpn!");
    (void)tick_bed_tick(&bed);
    rt_subscription_init(&subscription);
    rt_subscribe(&subscription, &a.activity, &a.activity.scope, 5, 1u << 2 | 1u << 3);
    EXPECT_FAULT(
            RT_E_IN_USE, rt_subscribe(&subscription, &a.activity, &a.activity.scope, 5, 1u << 2));
    static const struct rt_event events[] = {{3, 5, 0}, {2, 5, 0}, {2, 4, 0}, {1, 5, 0}};
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT_EQ(rt_event_post(&bed.ticker, &events[i]), RT_OK);
    }
    EXPECT_EQ(rt_event_post(&bed.ticker, &events[0]), RT_E_FULL);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT(rt_unsubscribe(&subscription));
    EXPECT(!rt_unsubscribe(&subscription));
    EXPECT_EQ(rt_event_post(&bed.ticker, &events[0]), RT_OK);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    EXPECT_STR(bed.log, "| a | a #3 #2 |");
}

/* ---- Parking. -------------------------------------------------------------------------------- */

struct parker {
    struct rt_activity activity;
    struct rt_park park;
    bool thrice;
};

static rt_poll
park(struct rt_activity *activity, struct rt_cx *cx)
{
    struct parker *parker = rt_container_of(activity, struct parker, activity);
    RT_AWAIT(rt_park_poll(&parker->park, cx));
    if (parker->thrice) {
        (void)rt_park_poll(&parker->park, cx);
    }
    return RT_READY;
}

/* Holds G7, T13: not polled before it is marked; then ready, whatever marked it. */
TEST(activity_parks_once)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct parker parker = {.thrice = false};
    rt_activity_init(&parker.activity, park, NULL, "parker");
    EXPECT_EQ(rt_spawn(&bed.ticker, &parker.activity), RT_OK);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    rt_task_wake(&parker.activity.task);
    EXPECT_EQ(tick_bed_tick(&bed), 0);
    EXPECT_EQ(rt_ticker_alive(&bed.ticker), 1);
    EXPECT(rt_mark_ready(&bed.ticker, parker.activity.id));
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT_EQ(parker.activity.task.end, RT_TASK_DONE);
}

/* Holds G7. */
TEST(activity_park_that_is_over_is_a_fault)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct parker parker = {.thrice = true};
    rt_activity_init(&parker.activity, park, NULL, "parker");
    EXPECT_EQ(rt_spawn(&bed.ticker, &parker.activity), RT_OK);
    EXPECT_EQ(tick_bed_tick(&bed), 1);
    EXPECT(rt_mark_ready(&bed.ticker, parker.activity.id));
    EXPECT_FAULT(RT_E_FINISHED, (void)tick_bed_tick(&bed));
}

static rt_poll
parks_where_it_may_not(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    struct rt_event event;
    return rt_next_event(cx, &event);
}

TEST(activity_calls_of_a_plain_task_are_a_fault)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct rt_task task;
    rt_task_init(&task, parks_where_it_may_not, NULL, "plain");
    EXPECT_EQ(rt_post(&bed.executor, &task), RT_OK);
    EXPECT_FAULT(RT_E_INVALID, (void)tick_bed_tick(&bed));
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* Holds G10, G11, T15: asleep, parked or woken, it ends before the call returns. */
TEST(activity_that_is_dropped_is_cleaned_up_at_once)
{
    static const char *const scripts[] = {"ks.", "kp", "kw."};
    for (uint32_t i = 0; i < 3; i++) {
        struct tick_bed bed;
        tick_bed_init(&bed);
        struct player a;
        player_start(&a, &bed, "a", scripts[i]);
        (void)tick_bed_tick(&bed);
        struct rt_key id = a.activity.id;
        EXPECT_FAULT(RT_E_IN_USE, rt_activity_fini(&a.activity));
        rt_activity_drop(&a.activity);
        EXPECT_STR(bed.log, "| a /a ~a");
        rt_activity_drop(&a.activity);
        EXPECT(!rt_cancel(&bed.ticker, id));
        EXPECT(!rt_mark_ready(&bed.ticker, id));
        EXPECT_EQ(tick_bed_tick(&bed), 0);
        EXPECT_EQ(rt_ticker_alive(&bed.ticker), 0);
        rt_activity_fini(&a.activity);
    }
}

/* Holds G10, T15: the article's runtime panics here. The poll continues to its end. */
TEST(activity_that_drops_itself_ends_when_its_poll_returns)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    player_start(&a, &bed, "a", "kcm.");
    player_start(&b, &bed, "b", "p!");
    a.other = &b;
    EXPECT_EQ(tick_bed_tick(&bed), 2);
    EXPECT_STR(bed.log, "| a /a ~a b");
    EXPECT(a.found);
    EXPECT(!rt_activity_alive(&a.activity));
    EXPECT_EQ(a.activity.task.end, RT_TASK_CANCELLED);
}

/* Holds G10: also at its own end. */
TEST(activity_that_is_done_is_cleaned_up)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    player_start(&a, &bed, "a", "k!");
    (void)tick_bed_tick(&bed);
    EXPECT_STR(bed.log, "| a /a ~a");
    EXPECT_EQ(rt_spawn(&bed.ticker, &a.activity), RT_OK);
    a.script = "k!";
    (void)tick_bed_tick(&bed);
    EXPECT_STR(bed.log, "| a /a ~a | a /a ~a");
}

struct chain {
    struct player *next;
    struct rt_defer defer;
};

static void
cancel_next(struct rt_defer *defer)
{
    struct chain *chain = rt_container_of(defer, struct chain, defer);
    (void)rt_cancel(&chain->next->bed->ticker, chain->next->activity.id);
}

/* Holds G10: a's clean-up cancels b, whose clean-up cancels a, which is dead already. */
TEST(activity_cleanup_may_cancel_others)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct player a;
    struct player b;
    struct chain chains[2];
    player_start(&a, &bed, "a", "kp");
    player_start(&b, &bed, "b", "kp");
    (void)tick_bed_tick(&bed);
    chains[0].next = &b;
    chains[1].next = &a;
    for (uint32_t i = 0; i < 2; i++) {
        rt_defer_init(&chains[i].defer, cancel_next);
    }
    rt_scope_defer(&a.activity.scope, &chains[0].defer);
    rt_scope_defer(&b.activity.scope, &chains[1].defer);
    EXPECT(rt_cancel(&bed.ticker, a.activity.id));
    EXPECT_STR(bed.log, "| a b /b ~b /a ~a");
}

/* ---- Sub-activities. ------------------------------------------------------------------------- */

/* goto: waits for ticks, then arrives or fails; wander: two of them, one after the other. */
struct trip {
    struct rt_subactivity sub;
    struct rt_tick_wait walk;
    struct rt_defer path;
    bool fails;
    char *log;
};

struct walker {
    struct rt_activity activity;
    struct rt_defer home;
    struct trip trip;
    uint32_t legs;
    char log[64];
};

static void
note(char *log, char letter)
{
    size_t length = strlen(log);
    log[length] = letter;
    log[length + 1] = '\0';
}

static void
give_path_back(struct rt_defer *defer)
{
    note(rt_container_of(defer, struct trip, path)->log, 'P');
}

static void
go_home(struct rt_defer *defer)
{
    note(rt_container_of(defer, struct walker, home)->log, 'H');
}

static rt_poll
trip_poll(struct rt_subactivity *sub, struct rt_cx *cx)
{
    struct trip *trip = rt_container_of(sub, struct trip, sub);
    if (!trip->walk.begun) {
        rt_scope_defer(&sub->scope, &trip->path);
    }
    RT_AWAIT(rt_tick_wait_poll(&trip->walk, &sub->scope, cx));
    return trip->fails ? rt_sub_fail(sub, RT_E_CLOSED) : RT_READY;
}

static void
trip_init(struct trip *trip, bool fails, char *log)
{
    rt_sub_init(&trip->sub, trip_poll, "goto");
    rt_tick_wait_init(&trip->walk, 2);
    rt_defer_init(&trip->path, give_path_back);
    trip->fails = fails;
    trip->log = log;
}

static rt_poll
walker_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct walker *walker = rt_container_of(activity, struct walker, activity);
    while (walker->legs < 2) {
        RT_AWAIT(rt_sub_poll(&walker->trip.sub, &activity->scope, cx));
        note(walker->log, walker->trip.sub.error == RT_OK ? 'a' : 'f');
        walker->legs++;
        trip_init(&walker->trip, true, walker->log);
    }
    return RT_READY;
}

static void
walker_start(struct walker *walker, struct tick_bed *bed)
{
    memset(walker, 0, sizeof(*walker));
    rt_activity_init(&walker->activity, walker_poll, NULL, "walker");
    EXPECT_EQ(rt_spawn(&bed->ticker, &walker->activity), RT_OK);
    rt_defer_init(&walker->home, go_home);
    rt_scope_defer(&walker->activity.scope, &walker->home);
    trip_init(&walker->trip, false, walker->log);
}

/* Holds G10: the path is given back when goto has ended, either way; the parent continues. */
TEST(activity_sub_gives_back_what_it_holds_when_it_is_over)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct walker walker;
    walker_start(&walker, &bed);
    for (uint32_t i = 0; i < 6; i++) {
        (void)tick_bed_tick(&bed);
    }
    EXPECT(!rt_activity_alive(&walker.activity));
    EXPECT_STR(walker.log, "PaPfH");
    rt_ticker_fini(&bed.ticker);
}

/* Holds G10, G11: interrupted after any number of ticks, path and timer are given back, once. */
TEST(activity_interrupted_at_any_tick_gives_everything_back)
{
    static const char *const expected[] = {"H", "PH", "PH", "PaPH", "PaPH", "PaPfH"};
    for (uint32_t ticks = 0; ticks < 6; ticks++) {
        struct tick_bed bed;
        tick_bed_init(&bed);
        struct walker walker;
        walker_start(&walker, &bed);
        for (uint32_t i = 0; i < ticks; i++) {
            (void)tick_bed_tick(&bed);
        }
        rt_activity_drop(&walker.activity);
        EXPECT_STR(walker.log, expected[ticks]);
        EXPECT_EQ(rt_ticker_timers(&bed.ticker), 0);
        rt_ticker_fini(&bed.ticker);
    }
}

static rt_poll
polls_what_is_over(struct rt_activity *activity, struct rt_cx *cx)
{
    struct walker *walker = rt_container_of(activity, struct walker, activity);
    if (rt_sub_poll(&walker->trip.sub, &activity->scope, cx) == RT_PARKED) {
        rt_sub_drop(&walker->trip.sub);
        EXPECT_STR(walker->log, "P");
        rt_sub_drop(&walker->trip.sub);
        (void)rt_sub_poll(&walker->trip.sub, &activity->scope, cx);
    }
    return RT_READY;
}

/* Holds T20. */
TEST(activity_sub_that_was_dropped_is_not_polled_again)
{
    struct tick_bed bed;
    tick_bed_init(&bed);
    struct walker walker;
    walker_start(&walker, &bed);
    walker.activity.poll = polls_what_is_over;
    EXPECT_FAULT(RT_E_FINISHED, (void)tick_bed_tick(&bed));
    EXPECT_EQ(rt_ticker_timers(&bed.ticker), 0);
}
