/*
 * pos.c -- partial order sampling: random priorities, drawn again in a race.
 *
 *      pick:  each runnable actor without a priority draws one
 *             b := the actor with the highest
 *             b loses its priority, and so does each whose next step conflicts with b's
 *
 * A step without a race keeps its priority, so the order of two racing steps is decided by one
 * comparison of two new draws. In a random walk it is the sum of many draws, and of two racing
 * steps the one with fewer independent steps before it mostly wins.
 *
 * After: Yuan, Yang, Gu, "Partial order aware concurrency sampling", CAV 2018. Deviations:
 *
 *   - A step is a whole poll; what it will touch is a guess (footprints.h). An actor without a
 *     guess conflicts with all, so the first runs of a sweep are a random walk.
 *   - Each poll also touches its own task, so it conflicts with a step that wakes that task.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/search/footprints.h"

#define STREAM UINT32_C(0x706f7321)

struct pos {
    struct sim_ordering ordering;
    struct sim_priorities priorities;
    struct sim_footprints footprints;
};

static void
pos_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct pos *pos = (void *)strategy;
    sim_ordering_begin(&pos->ordering, seed, STREAM);
    sim_footprints_begin(&pos->footprints);
}

static uint32_t
pos_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct pos *pos = (void *)ordering;
    sim_footprints_asked(&pos->footprints, ordering, actors);
    uint32_t best = sim_priority_highest(&pos->priorities, ordering, actors, count);
    sim_footprints_race(&pos->footprints, &pos->priorities, actors, count, actors[best]);
    return best;
}

static void
take_event(struct pos *pos, const struct sim_event *event)
{
    sim_footprints_event(&pos->footprints, event);
}

SIM_STRATEGY_EVENTS(pos_events, pos, take_event)

static void
pos_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct pos *pos = memory;
    pos->ordering.pick = pos_pick;
    sim_footprints_init(&pos->footprints, &setting->learned->facts);
}

const struct sim_strategy_kind sim_strategy_pos = {
        .name = "pos",
        .about = "random priorities, drawn again in a race",
        .adaptive = true,
        .size = sizeof(struct pos),
        .ops = {.begin = pos_begin, .choose = sim_ordering_choose, .events = pos_events},
        .init = pos_init,
};
