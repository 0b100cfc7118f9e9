/*
 * join.h -- wait for all of several futures.
 *
 * Each child is polled with a waker of its own, so that a wake says which child
 * it is for: only those are polled again (J3).
 *
 *       parent task ◀── wakes ── join ◀── child 0's waker (bit 0)
 *                                     ◀── child 1's waker (bit 1)
 *
 * 1. All children start with their bit set. A poll takes each unfinished child whose bit is set,
 *    in argument order, clears the bit, and polls it; no child is skipped because another is
 *    pending (J1), and a finished one is never polled again.
 * 2. The first child wake sets its bit and wakes the parent; further ones only set bits.
 * 3. The parent's waker is stored afresh at each poll.
 * 4. A poll with no bit set was not caused by a child (a spurious wake): every unfinished child is
 *    polled (J3).
 *    So it is when another task polls than did before: what the children have stored must be stored
 *    for the new one, for it would be emptied with the end of the old one (W11).
 * 5. A child's wake after that child has finished, or after the join is gone, does nothing (J4).
 *
 * Ownership. The caller lends the children array; futures and children are pinned
 * from the first poll until READY or rt_join_drop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_JOIN_H
#define RT_COMPOSE_JOIN_H

#include "runtime/compose/future.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_join;

struct rt_join_child {
    struct rt_target target;
    struct rt_join *join;
    struct rt_future *future; /* Set by the caller before rt_join_init. */
    bool woken;
    bool finished;
};

struct rt_join {
    struct rt_future future; /* A join is a future itself. */
    struct rt_object object;
    struct rt_slot parent;
    struct rt_join_child *children;
    uint32_t count;
    uint32_t finished;
    uint32_t woken; /* Children whose bit is set. */
    /* Whose polls the children have stored their wakers in; {0, 0} before the first one. */
    struct rt_key task;
    struct rt_executor *executor; /* The children's targets are open there; NULL: not yet. */
};

/* Joins children[0 .. count-1]. `count` 0 is ready at once (J2). */
void rt_join_init(struct rt_join *join, struct rt_join_child *children, uint32_t count);

/*
 * READY when every child is; a child's result is where that child keeps it, so results are in
 * argument order (J2). The executor needs one free entry a child; fault RT_E_FULL without.
 * All polls are on one executor: fault RT_E_INVALID otherwise.
 */
#define rt_join_poll(join, cx) rt_join_poll_at((join), (cx), RT_HERE)
rt_poll rt_join_poll_at(struct rt_join *join, struct rt_cx *cx, const struct rt_site *await);

/* Drops the children that have not finished, in argument order. Twice, or after READY: no-op. */
void rt_join_drop(struct rt_join *join);

#ifdef __cplusplus
}
#endif
#endif
