/*
 * g_spin.c -- A script on a fiber waits for a flag that another task sets: it asks the host in a
 * loop.
 *
 * Cause: The store has no fuel interval, so the guest's waiting loop never yields within its
 * poll, and the task that would set the flag never gets its turn.
 * Where: setup
 * Kind: livelock by a branch that never gets its turn
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct game {
    struct rt_task script;
    struct rt_task door;
    struct rt_store store;
    struct rt_call call;
    struct rt_sleep opens;
    enum rt_trap trap;
    uint64_t delay;
    bool open;
};

static void
is_open(struct rt_host_call *host)
{
    struct game *game = host->guest->store->data;
    host->results[0] = game->open;
    host->continuation = (struct rt_continuation){.callback = rt_answered};
}

static void
script_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t open[1] = {0};
    (void)arguments;
    (void)results;
    do {
        if (!rt_guest_check(guest, 100) || !rt_guest_host(guest, is_open, NULL, open)) {
            return;
        }
    } while (open[0] == 0);
}

static rt_poll
script_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct game *game = rt_container_of(task, struct game, script);
    RT_AWAIT(rt_call_drive(&game->call, cx));
    rt_call_delete(&game->call);
    rt_store_fini(&game->store);
    return RT_READY;
}

static rt_poll
door_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct game *game = rt_container_of(task, struct game, door);
    RT_AWAIT(rt_sleep_poll(&game->opens, cx));
    game->open = true;
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, &(struct sim_rt_options){.task_quota_ns = 20 * RT_US});
    struct game *game = sim_new(world, struct game);
    rt_store_init(&game->store, sim_engine_new(world, NULL), game);
    rt_fuel_yield_interval(&game->store, fixed ? 1000 : 0); /* Where. */
    struct rt_call_config config = {.guest = script_main, .trap = &game->trap, .name = "script"};
    SIM_ALWAYS(rt_call_init(&game->call, &game->store, &config) == RT_OK);
    rt_sleep_init(&game->opens, sim_range(world, 0, 50 * RT_US));
    rt_task_init(&game->door, door_poll, NULL, "door");
    rt_task_init(&game->script, script_poll, NULL, "script");
    sim_spawn(rt, &game->door);
    sim_spawn(rt, &game->script);
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

SIM_SCENARIO(form_broken, .name = "unseen/g-spin/broken", .about = "A script that waits in a loop.",
        .setup = setup_broken, .expect = SIM_VERDICT_OVER_BUDGET,
        .expect_also = SIM_VERDICT_TIME_LIMIT);
SIM_SCENARIO(form_fixed, .name = "unseen/g-spin/fixed", .about = "A script that waits in a loop.",
        .setup = setup_fixed);
