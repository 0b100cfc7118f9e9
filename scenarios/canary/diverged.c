/*
 * diverged.c -- a canary: an uninitialized byte decides which task runs.
 *
 * Uninitialized memory of a run has one value in one process and another in a replica run. So a run
 * that reads it is not a function of its seed. Nothing in the run itself is wrong, and a plain
 * sweep passes, which is what this scenario expects. Only replica runs find it:
 *
 *      rewake run canary/diverged --check-determinism 100
 *
 * Must end in: pass; with --check-determinism in replica runs that differ (diverged, exit status
 * 3).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct turn {
    unsigned char owner; /* Never set: sim_alloc does not zero. */
};

struct player {
    struct rt_task task;
    const struct turn *turn;
    bool gave_way;
};

/* Yields once, if it is not its turn. */
static rt_poll
player_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->turn->owner % 2 == 0 && !player->gave_way) {
        player->gave_way = true;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct turn *turn = sim_alloc(world, sizeof(*turn));
    struct player *player = sim_new(world, struct player);
    player->turn = turn;
    rt_task_init(&player->task, player_poll, NULL, "player");
    sim_spawn(rt, &player->task);
}

SIM_SCENARIO(canary_diverged, .name = "canary/diverged",
        .about = "A byte that was never set decides; found with --check-determinism only.",
        .setup = setup);
