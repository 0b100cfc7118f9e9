/*
 * join.h -- wait for all of several futures.
 *
 * A poll takes the unfinished children in argument order: those that were woken, or
 * all of them (children.h). No child is skipped because another is pending (J1),
 * and a finished one is never polled again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_JOIN_H
#define RT_COMPOSE_JOIN_H

#include "runtime/compose/children.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_join {
    struct rt_future future; /* A join is a future itself. */
    struct rt_children children;
};

/* Joins children[0 .. count-1]. `count` 0 is ready at once (J2). */
void rt_join_init(struct rt_join *join, struct rt_child *children, uint32_t count);

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
