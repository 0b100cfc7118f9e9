/*
 * stand.c -- a replay that stands at a stop, and can be put back there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/stand.h"

#include "runtime/base/assert.h"

void
sim_stand_init(struct sim_stand *stand, struct sim_world *world, const struct sim_case *what)
{
    *stand = (struct sim_stand){.world = world, .what = what};
}

void
sim_stand_leave(struct sim_stand *stand)
{
    if (stand->standing) {
        sim_world_drop(stand->world);
        stand->world->gains = NULL;
        stand->standing = false;
    }
}

static bool
is_same(struct sim_stop a, struct sim_stop b)
{
    return a.step == b.step && a.at_quiet == b.at_quiet;
}

/* A stop at a step comes before the quiescence after that step. */
static bool
is_later(struct sim_stop a, struct sim_stop b)
{
    return a.step > b.step || (a.step == b.step && a.at_quiet && !b.at_quiet);
}

static bool
replay(struct sim_stand *stand, struct sim_stop stop)
{
    const struct sim_recording nothing = {false, false};
    const struct sim_case *what = stand->what;
    sim_stand_leave(stand);
    stand->world->gains = &stand->world->journals[SIM_JOURNALS - 1];
    return sim_world_run_to(stand->world, what->scenario, &what->options, what->seed,
            what->strategy, nothing, stop);
}

bool
sim_stand_at(struct sim_stand *stand, struct sim_stop stop)
{
    struct sim_world *world = stand->world;
    bool back = stand->standing && stand->kept;
    bool reached = true;
    if (back && is_same(stop, stand->stop)) {
        sim_snapshot_put_back(world);
    } else if (back && is_later(stop, stand->stop)) {
        sim_snapshot_put_back(world);
        reached = sim_world_go_on(world, stop);
    } else {
        reached = replay(stand, stop);
        stand->standing = true;
    }
    if (!reached) {
        sim_stand_leave(stand);
        return false;
    }
    if (!back || !is_same(stop, stand->stop)) {
        stand->stop = stop;
        stand->kept = sim_snapshot_take(world);
    }
    world->gains = &world->journals[SIM_JOURNALS - 1];
    sim_gains_clear(world->gains);
    return true;
}
