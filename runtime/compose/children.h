/*
 * children.h -- what join, race, select, try_join and group share: a waker a child.
 *
 * Each child is polled with a separate waker, so that a wake says which child
 * it is for: only those are polled again (J3).
 *
 *       parent task ◀── wakes ── parent ◀── child 0's waker (bit 0)
 *                                       ◀── child 1's waker (bit 1)
 *
 * 1. All children start with their bit set. A poll of the combinator polls unfinished children
 *    whose bit is set, and clears the bit before it polls the child.
 * 2. The first child wake sets its bit and wakes the parent; further ones only set bits.
 * 3. The parent's waker is stored again at each poll, before any child is polled.
 * 4. A poll with no bit set was not caused by a child (a spurious wake): every unfinished child is
 *    polled (J3).
 *    The same when another task polls than before: what the children have stored must be stored
 *    for the new task, as it would be emptied with the end of the old one (W11).
 * 5. A child's wake after that child has finished, or after its combinator is gone, does nothing
 *    (J4).
 *
 * So between two polls: while the parent's waker is stored, no bit is set. The audit checks that.
 *
 * Ownership. The caller provides the children; futures and children are pinned from
 * the first poll until READY or the drop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_CHILDREN_H
#define RT_COMPOSE_CHILDREN_H

#include "runtime/compose/future.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The combinator's part of it. */
struct rt_parent {
    struct rt_object object; /* First: the audit is called with it. */
    const char *name;        /* "join"; static. */
    struct rt_slot slot;     /* The waker of the last poll of the combinator. */
    uint32_t woken;          /* Children whose bit is set. */
    /* The task in whose polls the children have stored wakers; {0, 0} before the first one. */
    struct rt_key task;
    struct rt_executor *executor; /* The children's targets are open there; NULL: not yet. */
};

struct rt_child {
    struct rt_target target; /* Open from its first poll to its end. */
    struct rt_parent *parent;
    struct rt_future *future; /* Set by the caller before the combinator's init. */
    uint32_t index;           /* For traces: which child it is. */
    bool woken;
    bool finished;
    bool selected; /* select.h */
};

/* A parent of futures in an array. */
struct rt_children {
    struct rt_parent parent;
    struct rt_child *array; /* Caller-provided. */
    uint32_t count;
    uint32_t finished;
};

#ifdef __cplusplus
}
#endif
#endif
