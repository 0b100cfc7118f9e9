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
#include "runtime/base/list.h"
#include "sim/search/footprints.h"
#include "sim/search/kinds.h"
#include "sim/search/learn/learned.h"
#include "sim/search/ordering.h"
#include "sim/search/priorities.h"

#define STREAM UINT32_C(0x706f7321)

struct pos {
    struct sim_ordering ordering;
    struct sim_priorities priorities;
    struct sim_footprints footprints;
};

static struct pos *
pos_of(struct sim_ordering *ordering)
{
    return rt_container_of(ordering, struct pos, ordering);
}

static void
pos_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct pos *pos = pos_of(rt_container_of(strategy, struct sim_ordering, strategy));
    sim_ordering_begin(&pos->ordering, seed, STREAM);
    sim_footprints_begin(&pos->footprints);
}

static uint32_t
highest(struct pos *pos, const uint16_t *actors, uint32_t count)
{
    uint32_t best = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t priority = sim_priority_of(&pos->priorities, &pos->ordering, actors[i]);
        if (i == 0 || priority > most) {
            best = i;
            most = priority;
        }
    }
    return best;
}

static uint32_t
pos_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct pos *pos = pos_of(ordering);
    sim_footprints_asked(&pos->footprints, ordering, actors);
    uint32_t best = highest(pos, actors, count);
    sim_footprints_race(&pos->footprints, &pos->priorities, actors, count, actors[best]);
    return best;
}

static void
pos_events(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count)
{
    struct pos *pos = pos_of(rt_container_of(strategy, struct sim_ordering, strategy));
    for (uint32_t i = 0; i < count; i++) {
        sim_footprints_event(&pos->footprints, &events[i]);
    }
}

static const struct sim_strategy_ops pos_ops = {
        .name = "pos",
        .about = "random priorities, drawn again in a race",
        .begin = pos_begin,
        .choose = sim_ordering_choose,
        .events = pos_events,
};

static struct sim_strategy *
pos_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct pos *pos = memory;
    pos->ordering.strategy.ops = &pos_ops;
    pos->ordering.pick = pos_pick;
    sim_footprints_init(&pos->footprints, &setting->learned->facts);
    return &pos->ordering.strategy;
}

const struct sim_strategy_kind sim_strategy_pos = {
        .name = "pos",
        .about = "random priorities, drawn again in a race",
        .source = "Yuan et al., Partial Order Aware Concurrency Sampling, CAV 2018",
        .adaptive = true,
        .size = sizeof(struct pos),
        .init = pos_init,
};
