/*
 * races.c -- what a run teaches: which orders are to be tried, and where.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/dpor.h"
#include "sim/search/dpor/sequence.h"

/* Whether `actor` stood ready before transition `t`. */
static bool
stood_ready(const struct dpor *dpor, uint32_t t, uint32_t actor)
{
    const struct dpor_transition *transition = &dpor->trace.transitions[t];
    if (transition->node == DPOR_NONE) {
        return transition->actor == actor;
    }
    const struct dpor_node *node = &dpor->nodes[transition->node];
    return dpor_alternative(dpor, node, actor) < node->n;
}

/* j could have come before i: it was not i that made its actor ready. */
static bool
is_reversible(const struct dpor *dpor, uint32_t i, uint32_t j)
{
    uint32_t actor = dpor->trace.transitions[j].actor;
    return actor != 0 && (stood_ready(dpor, i, actor) || !stood_ready(dpor, i + 1, actor));
}

/* Whether all that begins with the sequence can also begin with somebody who sleeps at `node`: it
 * has been seen elsewhere. */
static bool
is_slept_through(
        const struct dpor *dpor, const struct dpor_node *node, const struct dpor_sequence *sequence)
{
    for (uint64_t left = node->asleep | node->done; left != 0; left &= left - 1) {
        uint32_t actor = dpor->ids[node->ids + (uint32_t)__builtin_ctzll(left)];
        uint32_t transition = DPOR_NONE;
        enum dpor_place place = dpor_sequence_place(sequence, actor, &transition);
        if (place == DPOR_FIRST ||
                (place == DPOR_ABSENT &&
                        dpor_sequence_spares(sequence, dpor_recorded(dpor, node, actor)))) {
            return true;
        }
    }
    return false;
}

/* Whoever does not sleep, each by itself. */
static void
try_all(struct dpor *dpor, struct dpor_node *node)
{
    uint64_t left = dpor_all_of(node->n) & ~node->asleep & ~node->done;
    for (; left != 0; left &= left - 1) {
        uint32_t actor = dpor->ids[node->ids + (uint32_t)__builtin_ctzll(left)];
        dpor->cut = !dpor_branches_add(&dpor->branches, &node->tree, actor) || dpor->cut;
    }
}

/* i and j conflict, and nothing between them holds them in this order: the other order is to be
 * tried where i was chosen, unless something that leads there is. */
static void
on_race(void *argument, uint32_t i, uint32_t j)
{
    struct dpor *dpor = argument;
    uint32_t place = dpor->trace.transitions[i].node;
    if (place == DPOR_NONE || !is_reversible(dpor, i, j)) {
        return;
    }
    struct dpor_node *node = &dpor->nodes[place];
    struct dpor_sequence sequence;
    dpor_sequence_init(&sequence, &dpor->trace, &dpor->known, &dpor->seen, i, j);
    if (is_slept_through(dpor, node, &sequence)) {
        return;
    }
    uint32_t first = dpor_sequence_next(&sequence, 0);
    first = first != DPOR_NONE ? first : j;
    if (dpor_alternative(dpor, node, dpor->trace.transitions[first].actor) == node->n) {
        try_all(dpor, node);
    } else if (!dpor_branches_insert(&dpor->branches, &dpor->known, &node->tree, &sequence)) {
        dpor->cut = true;
    }
}

/* Whether somebody of `these` is going to be tried at `node`. */
static bool
is_noted(const struct dpor *dpor, const struct dpor_node *node, uint64_t these)
{
    for (uint32_t at = node->tree; at != DPOR_NONE; at = dpor->branches.all[at].sibling) {
        uint32_t alternative = dpor_alternative(dpor, node, dpor->branches.all[at].actor);
        if (alternative < node->n && (these >> alternative & 1) != 0) {
            return true;
        }
    }
    return false;
}

/*
 * The run ended in its last transition, and took from the others what they would have done: it
 * conflicts with everything. One of the others is tried in its place, which does not end the run as
 * well; in what comes of that are the races that lead to any of the others first.
 */
void
dpor_note_end(struct dpor *dpor)
{
    if (dpor->trace.count == 0 || dpor->trace.count != dpor->trace.seen) {
        return;
    }
    struct dpor_transition *last = &dpor->trace.transitions[dpor->trace.count - 1];
    last->global = true;
    if (last->node == DPOR_NONE) {
        return;
    }
    struct dpor_node *node = &dpor->nodes[last->node];
    node->ended |= UINT64_C(1) << node->index;
    uint64_t others = dpor_all_of(node->n) & ~node->asleep & ~node->ended;
    if (others == 0 || (others & node->done) != 0 || is_noted(dpor, node, others)) {
        return;
    }
    uint32_t actor = dpor->ids[node->ids + (uint32_t)__builtin_ctzll(others)];
    dpor->cut = !dpor_branches_add(&dpor->branches, &node->tree, actor) || dpor->cut;
}

void
dpor_learn(struct dpor *dpor)
{
    struct dpor_trace *trace = &dpor->trace;
    dpor->cut = dpor->cut || trace->full;
    dpor_trace_order(trace, trace->kept);
    for (uint32_t j = trace->kept; j < trace->count; j++) {
        dpor_known_learn(&dpor->known, trace, &trace->transitions[j]);
        dpor_seen_learn(&dpor->seen, trace, j);
    }
    dpor_trace_races(trace, 0, on_race, dpor);
}
