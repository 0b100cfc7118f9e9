/*
 * seen.h -- footprints of steps, by what determined them.
 *
 * A step is determined by the state of its actor and by the state of each resource that it touches:
 * by the conflicting steps that touched the resource before it. Where both are the same again, so
 * is the step, and its footprint is known without taking it.
 *
 *      step, with the actor's previous one  ──▶  { resource, mode, version: the steps before it }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_DPOR_SEEN_H
#define SIM_SEARCH_DPOR_SEEN_H

#include "sim/search/dpor/trace.h"

#define DPOR_SEEN_STEPS 16384u /* A power of two. */
#define DPOR_SEEN_ACCESSES 65536u

struct dpor_seen_step {
    uint64_t key;   /* The step, and the state of its actor; 0: free. */
    uint32_t first; /* Its accesses: from here … */
    uint16_t count; /* … so many. */
    bool global;
};

/* Zeroed: empty. Beyond its capacity nothing is added. */
struct dpor_seen {
    uint32_t steps_used;
    uint32_t accesses_used;
    struct dpor_seen_step steps[DPOR_SEEN_STEPS];
    struct sim_access accesses[DPOR_SEEN_ACCESSES];
    uint64_t versions[DPOR_SEEN_ACCESSES]; /* Of each: a hash of the steps before it. */
};

/* Adds transition j of `trace`, which is ordered. */
void dpor_seen_learn(struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t j);

/*
 * The footprint of the step of transition j where only the transitions before i, and those of
 * `among`, preceded it. False: it is unknown, or there are several.
 */
bool dpor_seen_find(const struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t i,
        const uint64_t among[DPOR_WORDS], uint32_t j, struct dpor_footprint *ret);

#endif
