/*
 * wakeup.h -- wakeup trees: how the runs that are still to be made begin.
 *
 *      at a node:     ann ── bob ── ann          each way from the top to a leaf is a beginning;
 *                      └──── cid                 behind a leaf all is free
 *                     bob ── bob
 *
 * A sequence that some way already stands for is not put in: one that can be made of the sequence
 * by exchanging steps that do not conflict, as far as both go. So nothing is begun twice, and
 * nobody is led to where only sleep set stand ready.
 *
 * Trees live in one pool, by index; lists of siblings, oldest first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_DPOR_WAKEUP_H
#define SIM_SEARCH_DPOR_WAKEUP_H

#include "sim/search/dpor/sequence.h"

#define DPOR_BRANCHES (1u << 17)

struct dpor_branch {
    uint32_t actor;
    uint32_t nth : 31; /* Of its steps. */
    uint32_t sure : 1; /* What it will touch is known. */
    uint32_t child;    /* The oldest; DPOR_NONE: this is a leaf. */
    uint32_t sibling;  /* The next younger one. */
};

struct dpor_branches {
    uint32_t free; /* Given back, by `sibling`. */
    uint32_t used; /* Ever taken. */
    struct dpor_branch all[DPOR_BRANCHES];
};

void dpor_branches_init(struct dpor_branches *branches);

/* Puts `sequence` into the list *list, unless something there stands for it. What there is no room
 * for at its end is left out: it is free then. False: there was no room for any of it. */
bool dpor_branches_insert(struct dpor_branches *branches, const struct dpor_known *known,
        uint32_t *list, struct dpor_sequence *sequence);

/* Puts a single step of `actor`, of which nothing is known, at the end of *list. False: no room. */
bool dpor_branches_add(struct dpor_branches *branches, uint32_t *list, uint32_t actor);

/* Takes the oldest out of *list, which is not empty, gives it back, and returns its children; *ret:
 * what it said. */
uint32_t dpor_branches_take(
        struct dpor_branches *branches, uint32_t *list, struct dpor_branch *ret);

/* Gives back a whole list. */
void dpor_branches_free(struct dpor_branches *branches, uint32_t *list);

#endif
