/*
 * sequence.h -- the steps of a run that do not depend on one of its steps.
 *
 * Of a run and a race in it, i before j: all steps after i that do not happen after it, in their
 * order, and then the actor of j. At the node that chose i this is the beginning of a run in which
 * j does not come after i.
 *
 *      run:       … i  a  b  c  j  d  e          sequence:   b  d  j
 *                      ^     ^     ^  happen after i
 *
 * The run does not show the footprint of j there, since j came after i: it is taken from other runs
 * (steps.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/dpor/steps.h"

struct dpor_sequence {
    const struct dpor_trace *trace;
    struct dpor_footprint of_last; /* Of j there, … */
    bool sure;                     /* … exactly; else a superset. */
    uint32_t last;                 /* j; DPOR_NONE: it has been taken out. */
    uint64_t among[DPOR_WORDS];    /* A bit for each of the others that is left. */
};

/* The position of an actor's next step in a sequence. */
enum dpor_place {
    DPOR_ABSENT, /* Nowhere. */
    DPOR_FIRST,  /* It can come first: no step of the sequence happens before it. */
    DPOR_LATER
};

/* The sequence of the race of i and j. */
void dpor_sequence_init(struct dpor_sequence *sequence, const struct dpor_trace *trace,
        const struct dpor_steps *steps, uint32_t i, uint32_t j);

/* The position of the next step of `actor`; *ret_transition: its transition, unless absent. */
enum dpor_place dpor_sequence_place(
        const struct dpor_sequence *sequence, uint32_t actor, uint32_t *ret_transition);

/* Whether no step of it conflicts with `footprint`. */
bool dpor_sequence_independent(
        const struct dpor_sequence *sequence, struct dpor_footprint footprint);

/* Takes out `transition`, which can come first. */
void dpor_sequence_take(struct dpor_sequence *sequence, uint32_t transition);

/* The first one from `from` on, in order, without j; DPOR_NONE: there is none. */
uint32_t dpor_sequence_next(const struct dpor_sequence *sequence, uint32_t from);
