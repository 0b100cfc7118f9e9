/*
 * races.c -- what a run teaches: which orders have to be tried, and at which node.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/dpor.h"
#include "sim/search/dpor/sequence.h"

/* Whether `actor` was enabled before transition `t`. */
static bool
was_enabled(const struct dpor *dpor, uint32_t t, uint32_t actor)
{
    const struct dpor_transition *transition = &dpor->trace.transitions[t];
    rt_assert(t < dpor->trace.count);
    if (transition->node == DPOR_NONE) {
        return transition->actor == actor;
    }
    rt_assert(transition->node < dpor->depth);
    const struct dpor_node *node = &dpor->nodes[transition->node];
    return dpor_alternative(dpor, node, actor) < node->n;
}

/* j could have come before i: it was not i that enabled its actor. */
static bool
is_reversible(const struct dpor *dpor, uint32_t i, uint32_t j)
{
    uint32_t actor = dpor->trace.transitions[j].actor;
    rt_assert(i < j && actor != dpor->trace.transitions[i].actor);
    return actor != 0 && (was_enabled(dpor, i, actor) || !was_enabled(dpor, i + 1, actor));
}

/* Whether each run that begins with the sequence is equivalent to one that begins with an actor in
 * the sleep set of `node`: that one has been made. */
static bool
is_in_sleep_set(
        const struct dpor *dpor, const struct dpor_node *node, const struct dpor_sequence *sequence)
{
    rt_assert(((node->asleep | node->done) & ~dpor_all_of(node->n)) == 0);
    for (uint64_t left = node->asleep | node->done; left != 0; left &= left - 1) {
        uint32_t actor = dpor->ids[node->ids + (uint32_t)__builtin_ctzll(left)];
        uint32_t transition = DPOR_NONE;
        enum dpor_place place = dpor_sequence_place(sequence, actor, &transition);
        if (place == DPOR_FIRST ||
                (place == DPOR_ABSENT &&
                        dpor_sequence_independent(sequence, dpor_recorded(dpor, node, actor)))) {
            return true;
        }
    }
    return false;
}

/* Adds a branch for each actor that is awake at `node`. */
static void
try_all(struct dpor *dpor, struct dpor_node *node)
{
    uint64_t left = dpor_all_of(node->n) & ~node->asleep & ~node->done;
    rt_assert((left >> node->index & 1) != 0); /* At least the one in progress. */
    for (; left != 0; left &= left - 1) {
        uint32_t actor = dpor->ids[node->ids + (uint32_t)__builtin_ctzll(left)];
        dpor->cut = !dpor_branches_add(&dpor->branches, &node->tree, actor) || dpor->cut;
    }
}

/* i and j conflict, and no step between them forces this order: the other one has to be tried at
 * the node that chose i, unless an equivalent run is noted there. */
static void
on_race(struct dpor *dpor, uint32_t i, uint32_t j)
{
    uint32_t place = dpor->trace.transitions[i].node;
    if (place == DPOR_NONE || !is_reversible(dpor, i, j)) {
        return;
    }
    struct dpor_node *node = &dpor->nodes[place];
    rt_assert(dpor->ids[node->ids + node->index] == dpor->trace.transitions[i].actor);
    struct dpor_sequence sequence;
    dpor_sequence_init(&sequence, &dpor->trace, &dpor->steps, i, j);
    if (is_in_sleep_set(dpor, node, &sequence)) {
        return;
    }
    uint32_t first = dpor_sequence_next(&sequence, 0);
    first = first != DPOR_NONE ? first : j;
    if (dpor_alternative(dpor, node, dpor->trace.transitions[first].actor) == node->n) {
        try_all(dpor, node);
    } else if (!dpor_branches_insert(&dpor->branches, &dpor->steps, &node->tree, &sequence)) {
        dpor->cut = true;
    }
}

/* Whether one of `these` is going to be tried at `node`. */
static bool
is_noted(const struct dpor *dpor, const struct dpor_node *node, uint64_t these)
{
    rt_assert((these & ~dpor_all_of(node->n)) == 0);
    for (uint32_t at = node->tree; at != DPOR_NONE; at = dpor->branches.all[at].sibling) {
        uint32_t alternative = dpor_alternative(dpor, node, dpor->branches.all[at].actor);
        if (alternative < node->n && (these >> alternative & 1) != 0) {
            return true;
        }
    }
    return false;
}

/*
 * The run ended in its last transition, which kept the others from their next steps: it conflicts
 * with everything. One of the others that does not end the run as well is tried in its place; the
 * races of that run lead to the rest.
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
    rt_assert(last->node < dpor->depth && node->runs);
    node->ended |= UINT64_C(1) << node->index;
    uint64_t others = dpor_all_of(node->n) & ~node->asleep & ~node->ended;
    if (others == 0 || (others & node->done) != 0 || is_noted(dpor, node, others)) {
        return;
    }
    uint32_t actor = dpor->ids[node->ids + (uint32_t)__builtin_ctzll(others)];
    dpor->cut = !dpor_branches_add(&dpor->branches, &node->tree, actor) || dpor->cut;
}

/* Whether i happens before j by itself, and not only by way of one between them. */
static bool
is_direct(const struct dpor_trace *trace, uint32_t i, uint32_t j)
{
    rt_assert(dpor_is_before(trace, i, j));
    for (uint32_t k = i + 1; k < j; k++) {
        if (dpor_is_before(trace, i, k) && dpor_is_before(trace, k, j)) {
            return false;
        }
    }
    return true;
}

/* The race of two steps of two actors is where they conflict and no step happens after i and before
 * j. The nearest i first. */
static void
find_races(struct dpor *dpor, uint32_t j)
{
    const struct dpor_trace *trace = &dpor->trace;
    rt_assert(j < trace->count && dpor->depth <= DPOR_NODES);
    for (uint32_t i = j; i-- > 0;) {
        bool other = trace->transitions[i].actor != trace->transitions[j].actor;
        if (other && dpor_is_before(trace, i, j) && is_direct(trace, i, j)) {
            /* Else `before` is not what dpor_trace_order made. */
            rt_assert(dpor_conflict(dpor_footprint_of(trace, &trace->transitions[i]),
                    dpor_footprint_of(trace, &trace->transitions[j])));
            on_race(dpor, i, j);
        }
    }
}

void
dpor_learn(struct dpor *dpor)
{
    struct dpor_trace *trace = &dpor->trace;
    rt_assert(!dpor->under_way);
    rt_assert(trace->kept <= trace->count);
    dpor->cut = dpor->cut || trace->full;
    dpor_trace_order(trace, trace->kept);
    for (uint32_t j = trace->kept; j < trace->count; j++) {
        dpor_steps_learn(&dpor->steps, trace, j);
    }
    for (uint32_t j = 0; j < trace->count; j++) {
        find_races(dpor, j);
    }
}
