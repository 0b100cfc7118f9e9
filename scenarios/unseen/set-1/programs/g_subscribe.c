/*
 * g_subscribe.c -- A game: a unit orders a path from the path finder and waits for the event
 * "path found". The world answers within a few ticks.
 *
 * Cause: The unit subscribes to "path found" only in the poll after it has ordered the path, and
 * an answer that is posted before that has no subscriber.
 * Where: unit_poll
 * Kind: subscribed too late
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

enum { PATH_FOUND = 1 };

static bool fixed;

struct world_of_game {
    struct sim_ticker *game;
    struct unit *unit;
    uint32_t ordered_for; /* Updates until the path is found; 0: no order. */
    uint32_t path_takes;
    uint32_t updates;
};

struct unit {
    struct rt_activity activity;
    struct world_of_game *of;
    struct rt_event mailbox[4];
    struct rt_event event;
    struct rt_subscription subscription;
    struct rt_tick_wait turn;
    bool arrived;
    uint32_t at;
};

static rt_poll
unit_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct unit *unit = rt_container_of(activity, struct unit, activity);
    RT_BEGIN(unit->at);
    if (fixed) {
        rt_subscribe(&unit->subscription, activity, &activity->scope, 1, 1u << PATH_FOUND);
    }
    unit->of->ordered_for = unit->of->path_takes;
    rt_tick_wait_init(&unit->turn, 2); /* Turns around. */
    RT_AWAIT_HERE(unit->at, rt_tick_wait_poll(&unit->turn, &activity->scope, cx));
    if (!fixed) {
        rt_subscribe(
                &unit->subscription, activity, &activity->scope, 1, 1u << PATH_FOUND); /* Where. */
    }
    RT_AWAIT_HERE(unit->at, rt_next_event(cx, &unit->event));
    unit->arrived = true;
    RT_END(unit->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct world_of_game *of = argument;
    (void)world;
    if (of->ordered_for > 0 && --of->ordered_for == 0) {
        struct rt_event found = {.kind = PATH_FOUND, .subject = 1};
        SIM_ALWAYS(rt_event_post(sim_ticker_ticker(of->game), &found) == RT_OK);
    }
    of->updates++;
    return !of->unit->arrived;
}

static void
setup(struct sim_world *world)
{
    struct world_of_game *of = sim_new(world, struct world_of_game);
    of->game =
            sim_ticker_new(world, &(struct sim_ticker_options){.update = update, .argument = of});
    of->unit = sim_new(world, struct unit);
    of->unit->of = of;
    of->path_takes = 5 - (uint32_t)sim_range(world, 0, 4);
    rt_subscription_init(&of->unit->subscription);
    rt_activity_init(&of->unit->activity, unit_poll, NULL, "unit");
    rt_activity_lend_events(&of->unit->activity, of->unit->mailbox, 4, RT_SINK_DROP_NEW);
    sim_ticker_spawn(of->game, &of->unit->activity);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/g-subscribe/broken",
        .about = "A unit that orders a path.", .setup = setup_broken,
        .expect = SIM_VERDICT_TIME_LIMIT, .expect_also = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/g-subscribe/fixed", .about = "A unit that orders a path.",
        .setup = setup_fixed);
