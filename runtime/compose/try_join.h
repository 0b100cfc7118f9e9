/*
 * try_join.h -- wait for all of several futures that may fail, or for the first failure.
 *
 * A join (join.h) until a child fails: then the unfinished ones are dropped, in index
 * order, before it answers, and the children after the failed one are not polled any
 * more (J8).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_TRY_JOIN_H
#define RT_COMPOSE_TRY_JOIN_H

#include "runtime/compose/children.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_try_join {
    struct rt_future future; /* A try_join is a future itself. */
    struct rt_children children;
    const rt_err *const *errors; /* Caller-provided. */
    rt_err err;                  /* After READY: RT_OK, or the first child's error … */
    uint32_t failed;             /* … and the index of that child. */
};

/*
 * Joins children[0 .. count-1], whose futures are set (borrowed, pinned until READY or the drop).
 * `errors[i]` is where future i has left its result by the time that it is READY; NULL: it cannot
 * fail. `count` 0 is ready at once, with RT_OK (J2).
 */
void rt_try_join_init(struct rt_try_join *join, struct rt_child *children,
        const rt_err *const *errors, uint32_t count);

/* READY when every child is, or one has failed; `join->err` says which. Faults as rt_join_poll. */
#define rt_try_join_poll(join, cx) rt_try_join_poll_at((join), (cx), RT_HERE)
rt_poll rt_try_join_poll_at(
        struct rt_try_join *join, struct rt_cx *cx, const struct rt_site *await);

/* Drops the children that have not finished, in index order. Twice, or after READY: no-op. */
void rt_try_join_drop(struct rt_try_join *join);

#ifdef __cplusplus
}
#endif
#endif
