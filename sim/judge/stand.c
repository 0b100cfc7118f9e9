/*
 * stand.c -- a replay that stands at a stop, and can be put back there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/stand.h"

#include "runtime/base/assert.h"

#define NONE SIM_SNAPSHOTS

void
sim_stand_init(struct sim_stand *stand, struct sim_world *world, const struct sim_case *what)
{
    rt_assert(world != NULL);
    rt_assert(what->strategy != NULL);
    *stand = (struct sim_stand){.world = world, .what = what};
}

void
sim_stand_leave(struct sim_stand *stand)
{
    rt_assert(stand->world != NULL);
    if (!stand->standing) {
        return;
    }
    sim_world_drop(stand->world);
    stand->world->gains = NULL;
    stand->standing = false;
    stand->untouched = false;
    for (uint32_t i = 0; i < SIM_SNAPSHOTS; i++) {
        stand->snapshots[i].kept = false;
    }
}

/* Where stops lie in a run: one at a step comes before the quiescence after that step. */
static bool
is_before(struct sim_stop a, struct sim_stop b)
{
    return a.step < b.step || (a.step == b.step && !a.at_quiet && b.at_quiet);
}

/* Whether a replay that was put back there can stand at the stop, or continue to it. */
static bool
leads_to(const struct sim_stand *stand, const struct sim_stood *snapshot, struct sim_stop stop)
{
    rt_assert(snapshot != NULL);
    return snapshot->kept && !is_before(stop, snapshot->stop) &&
           (stand->what->strategy->ops->seek != NULL || snapshot->asked == stand->asked ||
                   !is_before(snapshot->stop, stop));
}

/* The latest snapshot that leads to the stop, or NONE. */
static uint32_t
nearest(const struct sim_stand *stand, struct sim_stop stop)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < SIM_SNAPSHOTS; i++) {
        const struct sim_stood *each = &stand->snapshots[i];
        if (leads_to(stand, each, stop) &&
                (best == NONE || is_before(stand->snapshots[best].stop, each->stop))) {
            best = i;
        }
    }
    return best;
}

/* In an empty place, or in that of the earliest one, which takes the shortest replay. */
static void
keep(struct sim_stand *stand, struct sim_stop stop)
{
    rt_assert(stand->standing);
    struct sim_stood *all = stand->snapshots;
    uint32_t place = 0;
    for (uint32_t i = 1; i < SIM_SNAPSHOTS && all[place].kept; i++) {
        if (!all[i].kept || is_before(all[i].stop, all[place].stop)) {
            place = i;
        }
    }
    all[place].kept = sim_snapshot_take(stand->world, place);
    all[place].stop = stop;
    all[place].asked = stand->asked;
}

static bool
replay(struct sim_stand *stand, struct sim_stop stop)
{
    rt_assert(stand->world != NULL);
    rt_assert(stand->what != NULL);
    const struct sim_recording nothing = {false, false};
    const struct sim_case *what = stand->what;
    if (stand->standing) {
        sim_world_drop(stand->world);
    }
    stand->standing = true;
    return sim_world_run_to(stand->world, what->scenario, &what->options, what->seed,
            what->strategy, nothing, stop);
}

static bool
stands_at(const struct sim_stand *stand, struct sim_stop stop)
{
    rt_assert(stand->standing || !stand->untouched);
    return stand->untouched && stand->at.step == stop.step && stand->at.at_quiet == stop.at_quiet;
}

/* Puts the replay back, or makes it. False: it was dropped. */
static bool
go_to(struct sim_stand *stand, struct sim_stop stop)
{
    rt_assert(stand->what != NULL);
    struct sim_world *world = stand->world;
    uint32_t place = nearest(stand, stop);
    bool there = place != NONE && !is_before(stand->snapshots[place].stop, stop);
    bool reached = true;
    if (place != NONE) {
        sim_snapshot_restore(world, place);
        reached = there || sim_world_continue(world, stop);
    } else {
        reached = replay(stand, stop);
    }
    if (!reached) {
        sim_stand_leave(stand);
        return false;
    }
    if (!there) {
        stand->asked = world->decider.asked;
        keep(stand, stop);
    }
    return true;
}

bool
sim_stand_look(struct sim_stand *stand, struct sim_stop stop)
{
    rt_assert(stand->world != NULL);
    struct sim_world *world = stand->world;
    world->gains = &world->journals[SIM_JOURNALS - 1];
    if (!stands_at(stand, stop) && !go_to(stand, stop)) {
        return false;
    }
    stand->untouched = true;
    stand->at = stop;
    sim_gains_clear(world->gains);
    return true;
}

bool
sim_stand_at(struct sim_stand *stand, struct sim_stop stop)
{
    bool stands = sim_stand_look(stand, stop);
    stand->untouched = false;
    return stands;
}
