/*
 * sequence.c -- the steps of a run that do not depend on one of its steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/sequence.h"

#include "runtime/base/assert.h"

void
dpor_sequence_init(struct dpor_sequence *sequence, const struct dpor_trace *trace,
        const struct dpor_steps *steps, uint32_t i, uint32_t j)
{
    rt_assert(j < trace->count && dpor_is_before(trace, i, j));
    *sequence = (struct dpor_sequence){.trace = trace, .last = j};
    for (uint32_t k = i + 1; k < trace->count; k++) {
        if (!dpor_is_before(trace, i, k)) {
            sequence->among[k / 64] |= UINT64_C(1) << k % 64;
        }
    }
    sequence->sure = dpor_steps_exact(steps, trace, i, sequence->among, j, &sequence->of_last);
    if (!sequence->sure) {
        const struct dpor_transition *last = &trace->transitions[j];
        sequence->of_last = dpor_steps_superset(steps, last->actor, last->nth);
    }
}

uint32_t
dpor_sequence_next(const struct dpor_sequence *sequence, uint32_t from)
{
    rt_assert(from <= sequence->trace->count);
    uint32_t words = (sequence->trace->count + 63) / 64;
    for (uint32_t word = from / 64; word < words; word++) {
        uint64_t bits = sequence->among[word];
        bits &= word == from / 64 ? UINT64_MAX << from % 64 : UINT64_MAX;
        if (bits != 0) {
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return DPOR_NONE;
}

/* Whether no step of the sequence happens before transition k, which is one of them. */
static bool
is_initial(const struct dpor_sequence *sequence, uint32_t k)
{
    rt_assert(dpor_has(sequence->among, k));
    uint64_t both = 0;
    for (uint32_t word = 0; word <= k / 64; word++) {
        both |= sequence->trace->before[k][word] & sequence->among[word];
    }
    return both == 0;
}

/* Whether none of the others conflicts with `footprint`. */
static bool
others_independent(const struct dpor_sequence *sequence, struct dpor_footprint footprint)
{
    const struct dpor_trace *trace = sequence->trace;
    uint32_t k = dpor_sequence_next(sequence, 0);
    while (k != DPOR_NONE &&
            !dpor_conflict(footprint, dpor_footprint_of(trace, &trace->transitions[k]))) {
        k = dpor_sequence_next(sequence, k + 1);
    }
    rt_assert(k == DPOR_NONE || k < trace->count);
    return k == DPOR_NONE;
}

/* Here j may act differently than in the run, so only its footprint here counts. */
static bool
is_last_initial(const struct dpor_sequence *sequence)
{
    rt_assert(sequence->last != DPOR_NONE);
    return dpor_sequence_next(sequence, 0) == DPOR_NONE ||
           (sequence->sure && others_independent(sequence, sequence->of_last));
}

enum dpor_place
dpor_sequence_place(const struct dpor_sequence *sequence, uint32_t actor, uint32_t *ret_transition)
{
    const struct dpor_transition *transitions = sequence->trace->transitions;
    uint32_t k = dpor_sequence_next(sequence, 0);
    while (k != DPOR_NONE && transitions[k].actor != actor) {
        k = dpor_sequence_next(sequence, k + 1);
    }
    if (k != DPOR_NONE) {
        *ret_transition = k;
        return is_initial(sequence, k) ? DPOR_FIRST : DPOR_LATER;
    }
    if (sequence->last == DPOR_NONE || transitions[sequence->last].actor != actor) {
        return DPOR_ABSENT;
    }
    *ret_transition = sequence->last;
    return is_last_initial(sequence) ? DPOR_FIRST : DPOR_LATER;
}

bool
dpor_sequence_independent(const struct dpor_sequence *sequence, struct dpor_footprint footprint)
{
    rt_assert(sequence->last == DPOR_NONE || sequence->last < sequence->trace->count);
    return others_independent(sequence, footprint) &&
           (sequence->last == DPOR_NONE || !dpor_conflict(footprint, sequence->of_last));
}

void
dpor_sequence_take(struct dpor_sequence *sequence, uint32_t transition)
{
    if (dpor_has(sequence->among, transition)) {
        rt_assert(is_initial(sequence, transition));
        sequence->among[transition / 64] &= ~(UINT64_C(1) << transition % 64);
    } else {
        rt_assert(sequence->last == transition);
        sequence->last = DPOR_NONE;
    }
}
