/*
 * ordering.h -- the common base of all strategies that order actors.
 *
 * Such a strategy is a function that picks the runnable actor that goes first, by its place in the
 * queue. Here that place becomes the answer to a choice:
 *
 *   kind RUN, at most 64 ready     the alternative at that place
 *   kind RUN, more than 64 ready   first the block that holds the place, then the place itself;
 *                                  the strategy is asked once
 *   kind RUN of a loop that polls  the alternative at that place; tasks are read from its choice
 *   all other kinds                as `random` would answer
 *
 * Draws. A strategy has its own random numbers, a function of the seed and of how many were drawn.
 * Choices arrive in the order of the run, so the run is a function of the seed as well. There are
 * two sorts, independent draws and one spread number (spread.h), and a priority for each actor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/actor.h"
#include "sim/core/decide/strategies.h"
#include "sim/search/spread.h"
#include "sim/search/strategy.h"

/* In-run indices of actors are below this. */
#define SIM_INDICES (SIM_ACTORS_MAX + 1u)

/* Embedded first in an ordering strategy's own struct. */
struct sim_ordering {
    struct sim_strategy strategy;
    /* Returns the place, below `count` (at least 2), of the actor that goes first. `actors`: in-run
     * indices, oldest first, each once. */
    uint32_t (*pick)(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count);
    uint64_t key;   /* Of its draws. */
    uint32_t drawn; /* So many in this run. */
    uint32_t run;   /* Counts runs from 1; data with another number is of an earlier run. */
    uint32_t place; /* Picked; kept for the second choice, within the block. */
    struct sim_spread spread;
    uint16_t described[SIM_ALTERNATIVES_MAX];
};

/* Begins a run; from `begin`. `stream`: a number that only this strategy has. */
void sim_ordering_begin(struct sim_ordering *ordering, uint64_t seed, uint32_t stream);

/* The sim_strategy_ops.choose of all such strategies. */
uint32_t sim_ordering_choose(struct sim_strategy *strategy, const struct sim_choice *choice);

/* 64 random bits. */
static inline uint64_t
sim_ordering_draw(struct sim_ordering *ordering)
{
    return sim_stream_draw(ordering->key, ordering->drawn++);
}

/* A number below `n`, which is not 0. */
static inline uint32_t
sim_ordering_below(struct sim_ordering *ordering, uint32_t n)
{
    return (uint32_t)((sim_ordering_draw(ordering) >> 32) * n >> 32);
}

/* ---- A random priority for each actor of a run. ---------------------------------------------- */

/* Drawn at its first use, and at the first one after it was removed. Zeroed once. */
struct sim_priorities {
    uint64_t bits; /* That each one drawn has. */
    uint64_t value[SIM_INDICES];
    uint32_t run[SIM_INDICES]; /* The run in which it was drawn; 0: there is none. */
};

static inline uint64_t
sim_priority_of(struct sim_priorities *priorities, struct sim_ordering *ordering, uint32_t actor)
{
    if (priorities->run[actor] != ordering->run) {
        priorities->run[actor] = ordering->run;
        priorities->value[actor] = priorities->bits | sim_ordering_draw(ordering);
    }
    return priorities->value[actor];
}

/* Removes it. */
static inline void
sim_priority_forget(struct sim_priorities *priorities, uint32_t actor)
{
    priorities->run[actor] = 0;
}

/* The place of the actor with the highest one; of equal ones the oldest. */
static inline uint32_t
sim_priority_highest(struct sim_priorities *priorities, struct sim_ordering *ordering,
        const uint16_t *actors, uint32_t count)
{
    uint32_t best = 0;
    uint64_t highest = sim_priority_of(priorities, ordering, actors[0]);
    for (uint32_t i = 1; i < count; i++) {
        uint64_t priority = sim_priority_of(priorities, ordering, actors[i]);
        if (priority > highest) {
            best = i;
            highest = priority;
        }
    }
    return best;
}
