/*
 * g_stale.c -- A game: a lever opens a gate for the guard that stands before it. When the guard
 * dies it is spawned again; guards wait parked until they are marked.
 *
 * Cause: The gate keeps the id of the guard from before it was spawned again, so the lever marks
 * a dead id and the new guard stays parked.
 * Where: guard_spawn
 * Kind: wake sent to a former waiter
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct guard {
    struct rt_activity activity;
    struct game *game;
    struct rt_park park;
    uint32_t at;
};

struct game {
    struct sim_ticker *ticker;
    struct guard guard;
    struct rt_key at_gate; /* Who waits at the gate. */
    uint32_t updates;
    uint32_t dies_at;
    uint32_t lever_at;
    uint32_t lives;
    bool gate_open;
    bool passed;
};

static rt_poll
guard_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct guard *guard = rt_container_of(activity, struct guard, activity);
    if (!guard->game->gate_open) {
        return rt_cx_park(cx);
    }
    guard->game->passed = true;
    return RT_READY;
}

static void
guard_spawn(struct game *game)
{
    rt_activity_init(&game->guard.activity, guard_poll, NULL, "guard");
    game->guard.game = game;
    sim_ticker_spawn(game->ticker, &game->guard.activity);
    if (fixed || game->lives == 0) {
        game->at_gate = rt_activity_id(&game->guard.activity); /* Where. */
    }
    game->lives++;
}

static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->updates++;
    if (game->updates == game->dies_at && rt_activity_alive(&game->guard.activity)) {
        rt_activity_drop(&game->guard.activity);
        guard_spawn(game);
    }
    if (game->updates == game->lever_at) {
        game->gate_open = true;
        (void)rt_mark_ready(sim_ticker_ticker(game->ticker), game->at_gate);
    }
    return !game->passed;
}

static void
setup(struct sim_world *world)
{
    struct game *game = sim_new(world, struct game);
    game->ticker =
            sim_ticker_new(world, &(struct sim_ticker_options){.update = update, .argument = game});
    game->dies_at = 9 - (uint32_t)sim_range(world, 0, 6);
    game->lever_at = 7;
    guard_spawn(game);
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

SIM_SCENARIO(form_broken, .name = "unseen/g-stale/broken",
        .about = "A guard that is spawned again.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_TIME_LIMIT);
SIM_SCENARIO(form_fixed, .name = "unseen/g-stale/fixed", .about = "A guard that is spawned again.",
        .setup = setup_fixed);
