// Cause: guard_poll() takes all events out of its inbox after each leg, and hear_noise() forgets those that are no
// NOISE. A GATE_OPENED that comes during the round is thrown away, and after the round the guard waits for it forever
// (the ticks go on). hear() must remember the opened gate (may_go = true).
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A game: a guard walks a round, listens for noises on its way, and goes home when the gate has been
 * opened. */
#include <sim/rewake.h>

#define LEGS 3

enum kind { NOISE, GATE_OPENED };

struct guard {
    struct rt_activity activity;
    uint32_t at;
    uint32_t leg;
    uint32_t noises;
    bool may_go;
    struct rt_tick_wait walk;
    struct rt_event inbox[8];
    struct rt_event event;
    void (*hear)(struct guard *guard, const struct rt_event *event);
};

struct game {
    struct sim_ticker *ticker;
    struct guard guard;
    struct rt_key id;
    uint64_t tick;
    uint64_t noise_at;
    uint64_t open_at;
};

static void
hear_noise(struct guard *guard, const struct rt_event *event)
{
    if (event->kind == NOISE) {
        guard->noises++;
    }
}

static void
hear_all(struct guard *guard, const struct rt_event *event)
{
    if (event->kind == NOISE) {
        guard->noises++;
    } else if (event->kind == GATE_OPENED) {
        guard->may_go = true;
    }
}

static rt_poll
guard_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct guard *guard = rt_container_of(activity, struct guard, activity);
    RT_BEGIN(guard->at);
    for (guard->leg = 0; guard->leg < LEGS; guard->leg++) {
        rt_tick_wait_init(&guard->walk, 2);
        RT_AWAIT_HERE(guard->at, rt_tick_wait_poll(&guard->walk, &activity->scope, cx));
        while (rt_event_pop(activity, &guard->event)) {
            guard->hear(guard, &guard->event);
        }
    }
    while (!guard->may_go) {
        RT_AWAIT_HERE(guard->at, rt_next_event(cx, &guard->event));
        guard->may_go = guard->event.kind == GATE_OPENED;
    }
    RT_END(guard->at);
}

static void
post(struct game *game, enum kind kind)
{
    struct rt_event event = {.kind = kind, .subject = 1};
    (void)!rt_event_push(sim_ticker_ticker(game->ticker), game->id, &event);
}

static bool
game_update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->tick++;
    if (game->tick == game->noise_at) {
        post(game, NOISE);
    }
    if (game->tick == game->open_at) {
        post(game, GATE_OPENED);
    }
    return rt_ticker_alive(sim_ticker_ticker(game->ticker)) > 0;
}

static void
setup_game(struct sim_world *world, void (*hear)(struct guard *, const struct rt_event *))
{
    struct game *game = sim_new(world, struct game);
    const struct sim_ticker_options options = {.update = game_update, .argument = game};
    game->noise_at = 3;
    game->open_at = 9 - sim_range(world, 0, 5);
    game->guard.hear = hear;
    game->ticker = sim_ticker_new(world, &options);
    rt_activity_init(&game->guard.activity, guard_poll, NULL, "guard");
    rt_activity_lend_events(&game->guard.activity, game->guard.inbox, 8, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &game->guard.activity);
    game->id = rt_activity_id(&game->guard.activity);
}

static void
setup_broken(struct sim_world *world)
{
    setup_game(world, hear_noise);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_game(world, hear_all);
}

SIM_SCENARIO(patrol_broken, .name = "patrol/broken", .about = "A guard goes home when the gate opens.",
        .setup = setup_broken);
SIM_SCENARIO(patrol_fixed, .name = "patrol/fixed", .about = "A guard goes home when the gate opens.",
        .setup = setup_fixed);
