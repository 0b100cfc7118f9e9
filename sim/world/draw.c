/*
 * draw.c -- numbers out of choices of at most 64 alternatives.
 *
 * A large domain is drawn in two steps, so that its edges are met often and a shrinker can go from
 * "some number" to "an edge" in one move: a class, then a value by halving.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/world/actor.h"

#define CLASSES 5u

static uint64_t
by_halves(struct sim_actor *actor, enum sim_kind kind, uint64_t lo, uint64_t hi)
{
    while (hi - lo >= SIM_ALTERNATIVES_MAX) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (sim_actor_choose(actor, kind, 2, SIM_ODDS_EVEN) == 0) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    return lo + sim_actor_choose(actor, kind, (uint32_t)(hi - lo) + 1, SIM_ODDS_EVEN);
}

uint64_t
sim_actor_range(struct sim_actor *actor, enum sim_kind kind, uint64_t lo, uint64_t hi)
{
    rt_assert(lo <= hi);
    if (hi - lo < CLASSES) {
        return lo + sim_actor_choose(actor, kind, (uint32_t)(hi - lo) + 1, SIM_ODDS_EVEN);
    }
    switch (sim_actor_choose(actor, kind, CLASSES, SIM_ODDS_EVEN)) {
    case 0:
        return lo;
    case 1:
        return hi;
    case 2:
        return lo + (hi - lo) / 2;
    case 3:
        return lo + 1;
    default:
        return by_halves(actor, kind, lo, hi);
    }
}

uint64_t
sim_actor_length(struct sim_actor *actor, uint64_t full)
{
    rt_assert(full >= 1);
    if (full <= CLASSES) {
        return full - sim_actor_choose(actor, SIM_KIND_LENGTH, (uint32_t)full, SIM_ODDS_EVEN);
    }
    switch (sim_actor_choose(actor, SIM_KIND_LENGTH, CLASSES, SIM_ODDS_EVEN)) {
    case 0:
        return full;
    case 1:
        return 1;
    case 2:
        return full / 2;
    case 3:
        return full - 1;
    default:
        return by_halves(actor, SIM_KIND_LENGTH, 1, full);
    }
}
