/*
 * ticks.c -- a game: a guard waits at a door until it is opened, then loiters, and goes home.
 *
 * The bug: the guard asks whether the door is open, loiters, and then subscribes to its events. If
 * it is opened meanwhile nothing is announced any more, and the guard never leaves. The fix:
 * subscribe first, then ask. A game that is over drops its activities, so `check` asks for the
 * result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sim/rewake.h>

enum { OPENED = 1 };

#define DOOR 7u
#define TICKS 20u
#define LOITER 2u
#define EVENTS 4u

struct game {
    struct sim_world *world;
    struct sim_ticker *ticker;
    uint64_t opens_at; /* A tick. */
    uint64_t tick;
    bool open;
    bool broken;

    struct rt_activity guard;
    struct rt_event events[EVENTS];
    struct rt_event event;
    struct rt_subscription door;
    struct rt_tick_wait loiter;
    uint32_t at;
    bool home;
};

static void
subscribe(struct game *game)
{
    rt_subscription_init(&game->door);
    rt_subscribe(&game->door, &game->guard, &game->guard.scope, DOOR, 1u << OPENED);
}

static rt_poll
guard_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct game *game = rt_container_of(activity, struct game, guard);
    RT_BEGIN(game->at);
    if (!game->broken) {
        subscribe(game);
    }
    if (!game->open) {
        rt_tick_wait_init(&game->loiter, LOITER);
        RT_AWAIT_HERE(game->at, rt_tick_wait_poll(&game->loiter, &activity->scope, cx));
        if (game->broken) {
            subscribe(game);
        }
        RT_AWAIT_HERE(game->at, rt_next_event(cx, &game->event));
    }
    game->home = true;
    RT_END(game->at);
}

/* The game's systems, before each tick. */
static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->tick++;
    if (game->tick == game->opens_at) {
        game->open = true;
        struct rt_event event = {.kind = OPENED, .subject = DOOR};
        SIM_ALWAYS(rt_event_post(sim_ticker_ticker(game->ticker), &event) == RT_OK);
    }
    return game->tick < TICKS;
}

static void
check(struct sim_world *world, void *state)
{
    const struct game *game = state;
    (void)world;
    SIM_ALWAYS(game->home);
}

static void
set_up(struct sim_world *world, bool broken)
{
    struct game *game = sim_new(world, struct game);
    struct sim_ticker_options options = {.update = update, .argument = game};
    game->world = world;
    game->broken = broken;
    game->opens_at = 10 - sim_range(world, 0, 9);
    game->ticker = sim_ticker_new(world, &options);
    rt_activity_init(&game->guard, guard_poll, NULL, "guard");
    rt_activity_lend_events(&game->guard, game->events, EVENTS, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &game->guard);
    sim_set_state(world, game);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, true);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(broken, .name = "ticks/broken", .about = "The guard asks first, then subscribes.",
        .setup = set_up_broken, .check = check, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "ticks/fixed", .about = "The guard subscribes first, then asks.",
        .setup = set_up_fixed, .check = check);
