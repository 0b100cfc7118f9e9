/*
 * wakeup.h -- wakeup trees: the beginnings of the runs that are still to be made.
 *
 *      at a node:     ann ── bob ── ann          each path from the top to a leaf is a beginning;
 *                      └──── cid                 below a leaf all is free
 *                     bob ── bob
 *
 * A sequence is not inserted if the tree has an equivalent path: one that the sequence becomes by
 * exchanging steps that do not conflict, as far as both go. So no run is begun twice, and no tree
 * leads to a node where all enabled actors are asleep.
 *
 * Trees live in one pool, by index; lists of siblings, oldest first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/dpor/sequence.h"

#define DPOR_BRANCHES (1u << 17)

struct dpor_branch {
    uint32_t actor;
    uint32_t nth : 31; /* Of its steps. */
    uint32_t sure : 1; /* Its footprint is known exactly. */
    uint32_t child;    /* The oldest; DPOR_NONE: this is a leaf. */
    uint32_t sibling;  /* The next younger one. */
};

struct dpor_branches {
    uint32_t free; /* First of the released ones, linked by `sibling`. */
    uint32_t used; /* Ever taken. */
    struct dpor_branch all[DPOR_BRANCHES];
};

void dpor_branches_init(struct dpor_branches *branches);

/* Inserts `sequence` into the list *list, unless that has an equivalent path. An end that exceeds
 * the pool is left out, and free. False: the pool is full. */
bool dpor_branches_insert(struct dpor_branches *branches, const struct dpor_steps *steps,
        uint32_t *list, struct dpor_sequence *sequence);

/* Appends a single step of `actor`, with unknown footprint, to *list. False: the pool is full. */
bool dpor_branches_add(struct dpor_branches *branches, uint32_t *list, uint32_t actor);

/* Takes the oldest branch out of *list, which is not empty, copies it to *ret, releases it and
 * returns its children. */
uint32_t dpor_branches_take(
        struct dpor_branches *branches, uint32_t *list, struct dpor_branch *ret);

/* Releases a whole list. */
void dpor_branches_free(struct dpor_branches *branches, uint32_t *list);
