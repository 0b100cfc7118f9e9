/*
 * race.h -- wait for the first of several futures.
 *
 *      poll 1   0 1 2      each poll begins one child later, so that two that are always
 *      poll 2     1 2 0    ready win in turn (J6)
 *      poll 3       2 0 1
 *
 * The first to be READY wins, and the children after it are not polled any more. The
 * others have been dropped, in index order, when the race answers, and can wake no task
 * afterwards (J5).
 *
 * Which child is polled first is not promised: the order above is the default, and any other
 * start is correct (rt_cx_choose).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_RACE_H
#define RT_COMPOSE_RACE_H

#include "runtime/compose/children.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_race {
    struct rt_future future; /* A race is a future itself. */
    struct rt_children children;
    uint32_t start;  /* The child with which the next poll begins by default. */
    uint32_t winner; /* After READY: the index of the child that was ready. */
};

/*
 * Races children[0 .. count-1], whose futures are set (borrowed, pinned until READY or the drop).
 * RT_E_INVALID for `count` 0, which could never be READY; nothing has changed then.
 */
RT_MUST_CHECK rt_err rt_race_init(struct rt_race *race, struct rt_child *children, uint32_t count);

/*
 * READY as soon as one child is, and `race->winner` says which; its result is where that child
 * keeps it. Only children that were woken are polled (children.h). The executor needs one free
 * entry a child, fault RT_E_FULL without; all polls are on one executor, fault RT_E_INVALID
 * otherwise; after READY or the drop, fault RT_E_FINISHED (T20).
 */
#define rt_race_poll(race, cx) rt_race_poll_at((race), (cx), RT_HERE)
rt_poll rt_race_poll_at(struct rt_race *race, struct rt_cx *cx, const struct rt_site *await);

/* Drops all children, in index order. Twice, or after READY: no-op. */
void rt_race_drop(struct rt_race *race);

#ifdef __cplusplus
}
#endif
#endif
