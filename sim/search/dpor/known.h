/*
 * known.h -- all that the n-th step of an actor has ever touched, in any run so far.
 *
 * The footprint of a step that has not been taken at some place is unknown; the union of its
 * footprints elsewhere is used instead. So an actor in the sleep set does not count as independent
 * of a step with which it was in conflict before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_DPOR_KNOWN_H
#define SIM_SEARCH_DPOR_KNOWN_H

#include "sim/search/dpor/trace.h"

#define DPOR_KNOWN_STEPS 8192u /* A power of two. */
#define DPOR_KNOWN_ACCESSES 65536u

struct dpor_known_step {
    uint32_t actor; /* 0: free. */
    uint32_t nth;
    uint32_t first; /* Its accesses: from here … */
    uint16_t count; /* … so many. */
    bool global;
};

/* Zeroed: nothing is known. */
struct dpor_known {
    uint32_t steps_used;
    uint32_t accesses_used;
    struct dpor_known_step steps[DPOR_KNOWN_STEPS];
    struct sim_access accesses[DPOR_KNOWN_ACCESSES];
};

/* Adds the footprint of `transition`, which is one of `trace`. */
void dpor_known_learn(struct dpor_known *known, const struct dpor_trace *trace,
        const struct dpor_transition *transition);

/* Of the same step of the same actor; global, where nothing is known of it. */
struct dpor_footprint dpor_known_footprint(
        const struct dpor_known *known, const struct dpor_transition *transition);

/* The same by its name. */
struct dpor_footprint dpor_known_step(const struct dpor_known *known, uint32_t actor, uint32_t nth);

#endif
