/*
 * seen.h -- steps that were taken before, by what they found.
 *
 * A step does what it does because of how its actor stood, and of what it found in each thing that
 * it touched: because of who touched that before it, in conflict with it. Where both are the same
 * again, so is the step; nobody need take it to know what it touches, or that the run ends in it.
 *
 *      step of an actor ── after its step before, named ──▶  { thing, mode, who touched it before }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_DPOR_SEEN_H
#define SIM_SEARCH_DPOR_SEEN_H

#include "sim/search/dpor/trace.h"

#define DPOR_SEEN_STEPS 16384u /* A power of two. */
#define DPOR_SEEN_ACCESSES 65536u

struct dpor_seen_step {
    uint64_t key;   /* Who it was, and how it stood; 0: free. */
    uint32_t first; /* Its accesses: from here … */
    uint16_t count; /* … so many. */
    bool global;
};

/* Zeroed: nothing was seen. What there is no room for is not. */
struct dpor_seen {
    uint32_t steps_used;
    uint32_t accesses_used;
    struct dpor_seen_step steps[DPOR_SEEN_STEPS];
    struct sim_access accesses[DPOR_SEEN_ACCESSES];
    uint64_t versions[DPOR_SEEN_ACCESSES]; /* Of each: who touched it before, as one number. */
};

/* Transition j of `trace`, which is ordered. */
void dpor_seen_learn(struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t j);

/*
 * What the step of transition j touches where only what came before i, and `among`, came before it.
 * False: it was not seen there, or not always the same.
 */
bool dpor_seen_find(const struct dpor_seen *seen, const struct dpor_trace *trace, uint32_t i,
        const uint64_t among[DPOR_WORDS], uint32_t j, struct dpor_footprint *ret);

#endif
