/*
 * lost.c -- the step in which the only copy of a cloned waker was overwritten or forgotten.
 *
 * After a step, each clone that is neither woken nor dropped lies somewhere in the run's memory, or
 * is lost. A lost one stays lost, so the first step after which one is lost is found by bisection,
 * with a replay for each question.
 *
 * Possible error: a stale copy of the waker in memory hides the loss until that is overwritten too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/judge/judge.h"
#include "sim/judge/spurious_poll.h"
#include "sim/judge/stand.h"

static bool
is_lost_after(struct sim_stand *stand, uint64_t step)
{
    rt_assert(step > 0);
    return sim_stand_look(stand, (struct sim_stop){step, false}) &&
           sim_world_lost(stand->world) > 0;
}

/* 0: nothing was lost before the end. */
static uint64_t
bisect(struct sim_stand *stand, uint64_t last)
{
    rt_assert(stand->what != NULL);
    uint64_t there = 0;
    uint64_t lost = last;
    if (last == 0 || !is_lost_after(stand, last)) {
        return 0;
    }
    while (lost - there > 1) {
        uint64_t middle = there + (lost - there) / 2;
        if (is_lost_after(stand, middle)) {
            lost = middle;
        } else {
            there = middle;
        }
    }
    return lost;
}

uint64_t
sim_judge_lost(struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome)
{
    rt_assert(what->strategy != NULL);
    if (outcome->lost_wakers == 0) {
        return 0;
    }
    struct sim_aside kept;
    struct sim_stand stand;
    sim_keep(world, &kept);
    sim_stand_init(&stand, world, what);
    outcome->lost_step = bisect(&stand, outcome->steps);
    sim_stand_leave(&stand);
    sim_restore(world, &kept);
    return outcome->lost_step;
}
