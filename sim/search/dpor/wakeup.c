/*
 * wakeup.c -- the pool of branches; inserting sequences, and taking branches out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/wakeup.h"

#include "runtime/base/assert.h"

void
dpor_branches_init(struct dpor_branches *branches)
{
    branches->free = DPOR_NONE;
    branches->used = 0;
}

/* ---- The pool. ------------------------------------------------------------------------------- */

static uint32_t
take_free(struct dpor_branches *branches)
{
    if (branches->free != DPOR_NONE) {
        uint32_t index = branches->free;
        rt_assert(index < branches->used);
        branches->free = branches->all[index].sibling;
        return index;
    }
    return branches->used < DPOR_BRANCHES ? branches->used++ : DPOR_NONE;
}

static void
release(struct dpor_branches *branches, uint32_t index)
{
    rt_assert(index < branches->used && branches->free != index);
    branches->all[index].sibling = branches->free;
    branches->free = index;
}

void
dpor_branches_free(struct dpor_branches *branches, uint32_t *list)
{
    /* Children go before their younger siblings, so that one list is enough for both. */
    uint32_t index = *list;
    *list = DPOR_NONE;
    while (index != DPOR_NONE) {
        rt_assert(index < branches->used);
        struct dpor_branch branch = branches->all[index];
        release(branches, index);
        if (branch.child == DPOR_NONE) {
            index = branch.sibling;
            continue;
        }
        uint32_t last = branch.child;
        while (branches->all[last].sibling != DPOR_NONE) {
            last = branches->all[last].sibling;
        }
        branches->all[last].sibling = branch.sibling;
        index = branch.child;
    }
}

/* ---- In. ------------------------------------------------------------------------------------- */

/* The link at the end of a list. */
static uint32_t *
end_of(struct dpor_branches *branches, uint32_t *list)
{
    uint32_t *place = list;
    while (*place != DPOR_NONE) {
        rt_assert(*place < branches->used);
        place = &branches->all[*place].sibling;
    }
    return place;
}

static bool
add(struct dpor_branches *branches, uint32_t *list, struct dpor_branch branch)
{
    uint32_t index = take_free(branches);
    if (index == DPOR_NONE) {
        return false;
    }
    rt_assert(index < branches->used);
    branch.child = DPOR_NONE;
    branch.sibling = DPOR_NONE;
    branches->all[index] = branch;
    *end_of(branches, list) = index;
    return true;
}

bool
dpor_branches_add(struct dpor_branches *branches, uint32_t *list, uint32_t actor)
{
    return add(branches, list, (struct dpor_branch){.actor = actor});
}

/* Appends all that is left of `sequence`, as one path. */
static bool
append(struct dpor_branches *branches, uint32_t *list, const struct dpor_sequence *sequence)
{
    const struct dpor_transition *transitions = sequence->trace->transitions;
    uint32_t *place = list;
    bool any = false;
    uint32_t k = dpor_sequence_next(sequence, 0);
    for (bool done = false; !done;) {
        done = k == DPOR_NONE;
        uint32_t which = done ? sequence->last : k;
        if (which == DPOR_NONE || !add(branches, place,
                                          (struct dpor_branch){.actor = transitions[which].actor,
                                                  .nth = transitions[which].nth & INT32_MAX,
                                                  .sure = !done || sequence->sure})) {
            break;
        }
        rt_assert(which < sequence->trace->count);
        any = true;
        while (branches->all[*place].sibling != DPOR_NONE) {
            place = &branches->all[*place].sibling;
        }
        place = &branches->all[*place].child;
        k = done ? k : dpor_sequence_next(sequence, k + 1);
    }
    return any;
}

static bool
is_empty(const struct dpor_sequence *sequence)
{
    return sequence->last == DPOR_NONE && dpor_sequence_next(sequence, 0) == DPOR_NONE;
}

/* Whether `branch` can come before all of the sequence: it is its first step, which is taken out,
 * or independent of all its steps. */
static bool
covers(const struct dpor_branch *branch, const struct dpor_steps *steps,
        struct dpor_sequence *sequence)
{
    uint32_t transition = DPOR_NONE;
    enum dpor_place place = dpor_sequence_place(sequence, branch->actor, &transition);
    if (place == DPOR_FIRST) {
        rt_assert(sequence->trace->transitions[transition].actor == branch->actor);
        dpor_sequence_take(sequence, transition);
        return true;
    }
    return place == DPOR_ABSENT && branch->sure &&
           dpor_sequence_independent(
                   sequence, dpor_steps_superset(steps, branch->actor, branch->nth));
}

bool
dpor_branches_insert(struct dpor_branches *branches, const struct dpor_steps *steps, uint32_t *list,
        struct dpor_sequence *sequence)
{
    uint32_t index = *list;
    while (index != DPOR_NONE) {
        struct dpor_branch *branch = &branches->all[index];
        rt_assert(index < branches->used);
        if (!covers(branch, steps, sequence)) {
            index = branch->sibling;
            continue;
        }
        if (branch->child == DPOR_NONE || is_empty(sequence)) {
            return true;
        }
        list = &branch->child;
        index = branch->child;
    }
    return append(branches, list, sequence);
}

/* ---- Out. ------------------------------------------------------------------------------------ */

uint32_t
dpor_branches_take(struct dpor_branches *branches, uint32_t *list, struct dpor_branch *ret)
{
    rt_assert(*list != DPOR_NONE);
    uint32_t index = *list;
    *ret = branches->all[index];
    *list = ret->sibling;
    release(branches, index);
    return ret->child;
}
