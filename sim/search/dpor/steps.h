/*
 * steps.h -- what steps have touched, in any run so far.
 *
 * The footprint of a step that has not been taken at some place is unknown there. It is found in
 * one of two ways:
 *
 *   exact      A step is determined by the state of its actor and by the state of each resource
 *              that it touches: by the conflicting steps that touched the resource before it. Where
 *              both are the same again, so is the step.
 *                 step, with the actor's previous one ──▶ { resource, mode, the steps before it }
 *   superset   Else the union of all footprints of the n-th step of the actor is used. So an actor
 *              in the sleep set does not count as independent of a step with which it was in
 *              conflict before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/dpor/trace.h"

#define DPOR_EXACT_STEPS 16384u /* A power of two, like that of the others. */
#define DPOR_UNION_STEPS 8192u
#define DPOR_STEPS_ACCESSES 65536u

struct dpor_step {
    uint64_t key;   /* 0: free. */
    uint32_t first; /* Its accesses: from here … */
    uint16_t count; /* … so many. */
    bool global;
};

/* Zeroed: nothing is known. Beyond its capacity nothing is added. */
struct dpor_steps {
    uint32_t exact_used;
    uint32_t exact_accesses_used;
    struct dpor_step exact[DPOR_EXACT_STEPS]; /* By the step and the state of its actor. */
    struct sim_access exact_accesses[DPOR_STEPS_ACCESSES];
    uint64_t versions[DPOR_STEPS_ACCESSES]; /* Of each: a hash of the steps before it. */
    uint32_t unions_used;
    uint32_t union_accesses_used;
    struct dpor_step unions[DPOR_UNION_STEPS]; /* By actor and number. */
    struct sim_access union_accesses[DPOR_STEPS_ACCESSES];
};

/* Adds transition j of `trace`, which is ordered. */
void dpor_steps_learn(struct dpor_steps *steps, const struct dpor_trace *trace, uint32_t j);

/* All that the n-th step of `actor` has touched; global, where nothing is known of it. */
struct dpor_footprint dpor_steps_superset(
        const struct dpor_steps *steps, uint32_t actor, uint32_t nth);

/*
 * The footprint of the step of transition j where only the transitions before i, and those of
 * `among`, preceded it. False: it is unknown, or there are several.
 */
bool dpor_steps_exact(const struct dpor_steps *steps, const struct dpor_trace *trace, uint32_t i,
        const uint64_t among[DPOR_WORDS], uint32_t j, struct dpor_footprint *ret);
