/*
 * sequence.h -- what of a run could have come without one of its steps.
 *
 * Of a run and a race in it, i before j: all that came after i and did not have to, in its order,
 * and then the actor of j. From where i was taken that is the beginning of a run in which j does
 * not come after i.
 *
 *      run:       … i  a  b  c  j  d  e          sequence:   b  d  j
 *                      ^     ^     ^  had to come after i
 *
 * What j will touch there the run does not tell, for it came after i: another run may (seen.h),
 * else all that is known of that step of its actor stands for it (known.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_DPOR_SEQUENCE_H
#define SIM_SEARCH_DPOR_SEQUENCE_H

#include "sim/search/dpor/known.h"
#include "sim/search/dpor/seen.h"
#include "sim/search/dpor/trace.h"

struct dpor_sequence {
    const struct dpor_trace *trace;
    struct dpor_footprint of_last; /* What j will touch, … */
    bool sure;                     /* … exactly so; else what it may touch. */
    uint32_t last;                 /* j; DPOR_NONE: it has been taken away. */
    uint64_t among[DPOR_WORDS];    /* A bit for each of the others that is left. */
};

/* Where somebody's next step stands in a sequence. */
enum dpor_place {
    DPOR_ABSENT, /* Nowhere. */
    DPOR_FIRST,  /* It can come first: nothing in the sequence had to come before it. */
    DPOR_LATER
};

/* That of the race of i and j. */
void dpor_sequence_init(struct dpor_sequence *sequence, const struct dpor_trace *trace,
        const struct dpor_known *known, const struct dpor_seen *seen, uint32_t i, uint32_t j);

/* Where the next step of `actor` is; *ret_transition: which it is, unless it is absent. */
enum dpor_place dpor_sequence_place(
        const struct dpor_sequence *sequence, uint32_t actor, uint32_t *ret_transition);

/* Whether nothing in it conflicts with `footprint`. */
bool dpor_sequence_spares(const struct dpor_sequence *sequence, struct dpor_footprint footprint);

void dpor_sequence_take(struct dpor_sequence *sequence, uint32_t transition);

/* The next one from `from` on, in order; DPOR_NONE: there is none. */
uint32_t dpor_sequence_next(const struct dpor_sequence *sequence, uint32_t from);

#endif
