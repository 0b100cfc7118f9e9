/*
 * tick_bed.h -- a ticker to test on, and actors: activities that do what a script says.
 *
 *      answers   .  PENDING      !  READY       p  PARKED
 *      s  store in the own slot        w  wake itself            c  drop itself
 *      m  mark the other               x  cancel the other       +  spawn the other
 *      e  push an event to the other   n  take all events, logging their kinds
 *      1..9  start the own timer for so many ticks
 *      k  defer the logging of "/name"
 *
 * The log has a name for each poll, "|" for each tick, "~name" for a cleanup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_TICK_TICK_BED_H
#define RT_TESTS_TICK_TICK_BED_H

#include <string.h>

#include "runtime/tests/test.h"
#include "runtime/tick/ticker.h"

#define TICK_BED_CAPACITY 8
#define TICK_BED_EVENTS 4

struct tick_bed {
    struct rt_executor executor;
    struct rt_sched_batch batch;
    struct rt_ticker ticker;
    struct rt_slab_entry tasks[TICK_BED_CAPACITY];
    struct rt_slab_entry activities[TICK_BED_CAPACITY];
    struct rt_sched_link links[TICK_BED_CAPACITY];
    struct rt_event posted[TICK_BED_EVENTS];
    char log[512];
};

struct player {
    struct rt_activity activity;
    struct tick_bed *bed;
    const char *script; /* What is left of it. */
    struct rt_slot slot;
    struct rt_tick_timer timer;
    struct rt_defer defer;
    struct rt_event events[TICK_BED_EVENTS];
    struct player *other;
    rt_err pushed; /* Of the last push. */
    bool found;    /* Of the last mark or cancel. */
};

static inline void
tick_bed_log(struct tick_bed *bed, const char *prefix, const char *word)
{
    size_t used = strlen(bed->log);
    ck_assert(used + strlen(prefix) + strlen(word) + 2 <= sizeof(bed->log));
    if (used != 0) {
        bed->log[used++] = ' ';
    }
    memcpy(bed->log + used, prefix, strlen(prefix));
    memcpy(bed->log + used + strlen(prefix), word, strlen(word) + 1);
}

static inline void
tick_bed_init(struct tick_bed *bed)
{
    memset(bed, 0xa5, sizeof(*bed));
    bed->log[0] = '\0';
    rt_sched_batch_init(&bed->batch, bed->links, TICK_BED_CAPACITY);
    struct rt_executor_config executor = {
            .entries = bed->tasks,
            .capacity = TICK_BED_CAPACITY,
            .sched = &bed->batch.sched,
    };
    rt_executor_init(&bed->executor, &executor);
    struct rt_ticker_config ticker = {
            .executor = &bed->executor,
            .batch = &bed->batch,
            .entries = bed->activities,
            .capacity = TICK_BED_CAPACITY,
            .events = bed->posted,
            .events_capacity = TICK_BED_EVENTS,
    };
    rt_ticker_init(&bed->ticker, &ticker);
}

/* One tick. How many polls there were. */
static inline uint32_t
tick_bed_tick(struct tick_bed *bed)
{
    struct rt_tick_result result;
    tick_bed_log(bed, "", "|");
    EXPECT_EQ(rt_tick(&bed->ticker, &result), RT_OK);
    rt_ticker_audit(&bed->ticker);
    rt_executor_audit(&bed->executor);
    return result.polled;
}

static inline void
player_note_cleanup(struct rt_defer *defer)
{
    struct player *player = rt_container_of(defer, struct player, defer);
    tick_bed_log(player->bed, "/", player->activity.task.name);
}

static inline void
player_take_events(struct player *player)
{
    struct rt_event event;
    while (rt_event_pop(&player->activity, &event)) {
        char word[2] = {(char)('0' + event.kind), '\0'};
        tick_bed_log(player->bed, "#", word);
    }
}

static inline rt_err
player_push(struct player *to, uint32_t kind)
{
    struct rt_event event = {.kind = kind};
    return rt_event_push(&to->bed->ticker, to->activity.id, &event);
}

static inline void
player_do(struct player *player, struct rt_cx *cx, char what)
{
    struct tick_bed *bed = player->bed;
    struct player *other = player->other;
    switch (what) {
    case 's':
        EXPECT_EQ(rt_slot_store(&player->slot, cx, "its slot"), RT_OK);
        return;
    case 'w':
        rt_cx_reenqueue(cx);
        return;
    case 'c':
        rt_activity_drop(&player->activity);
        return;
    case 'm':
        player->found = rt_mark_ready(&bed->ticker, other->activity.id);
        return;
    case 'x':
        player->found = rt_cancel(&bed->ticker, other->activity.id);
        return;
    case '+':
        EXPECT_EQ(rt_spawn(&bed->ticker, &other->activity), RT_OK);
        return;
    case 'e':
        player->pushed = player_push(other, 7);
        return;
    case 'n':
        player_take_events(player);
        return;
    case 'k':
        rt_scope_defer(&player->activity.scope, &player->defer);
        return;
    default:
        ck_assert_msg(what >= '1' && what <= '9', "no such letter in a script: '%c'", what);
        rt_tick_timer_start(
                &bed->ticker, &player->timer, (uint64_t)(what - '0'), player->activity.id);
    }
}

static inline rt_poll
player_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct player *player = rt_container_of(activity, struct player, activity);
    tick_bed_log(player->bed, "", activity->task.name);
    for (;;) {
        char what = *player->script;
        ck_assert_msg(what != '\0', "%s was polled past its script", activity->task.name);
        player->script++;
        switch (what) {
        case '.':
            return RT_PENDING;
        case '!':
            return RT_READY;
        case 'p':
            return rt_cx_park(cx);
        default:
            player_do(player, cx, what);
        }
    }
}

static inline void
player_cleanup(struct rt_activity *activity)
{
    struct player *player = rt_container_of(activity, struct player, activity);
    tick_bed_log(player->bed, "~", activity->task.name);
}

static inline void
player_init(struct player *player, struct tick_bed *bed, const char *name, const char *script)
{
    memset(player, 0x5a, sizeof(*player));
    rt_activity_init(&player->activity, player_poll, player_cleanup, name);
    rt_activity_lend_events(&player->activity, player->events, TICK_BED_EVENTS, RT_SINK_DROP_NEW);
    rt_slot_init(&player->slot);
    rt_tick_timer_init(&player->timer);
    rt_defer_init(&player->defer, player_note_cleanup);
    player->bed = bed;
    player->script = script;
    player->other = NULL;
    player->pushed = RT_OK;
    player->found = false;
}

/* A player that is spawned. */
static inline void
player_start(struct player *player, struct tick_bed *bed, const char *name, const char *script)
{
    player_init(player, bed, name, script);
    EXPECT_EQ(rt_spawn(&bed->ticker, &player->activity), RT_OK);
}

#endif
