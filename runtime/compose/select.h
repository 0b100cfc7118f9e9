/*
 * select.h -- wait until at least one of several futures is ready, and get all that are.
 *
 * Unlike a race it drops none: each poll goes through all children that were woken, and
 * READY comes with the set of *all* that were ready in it (J7), so no result is obtained and
 * then lost. The children outside the set can be awaited further:
 *
 *      do {
 *          RT_AWAIT(rt_select_poll(&select, cx));
 *          for (i = 0; i < count; i++)
 *              if (rt_select_has(&select, i))
 *                  ... the result of future i ...
 *      } while (rt_select_again(&select));
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_SELECT_H
#define RT_COMPOSE_SELECT_H

#include "runtime/compose/children.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_select {
    struct rt_future future; /* A select is a future itself. */
    struct rt_children children;
    uint32_t ready; /* After READY: how many are in the set. */
};

/*
 * Selects among children[0 .. count-1], whose futures are set (borrowed, pinned until each is READY
 * or dropped). RT_E_INVALID for `count` 0, of which none could ever be ready; nothing has changed
 * then.
 */
RT_MUST_CHECK rt_err rt_select_init(
        struct rt_select *select, struct rt_child *children, uint32_t count);

/*
 * READY when at least one child was ready in this poll; rt_select_has names them. A child that was
 * woken after its turn in the poll is in the next set. Faults as rt_race_poll.
 */
#define rt_select_poll(select, cx) rt_select_poll_at((select), (cx), RT_HERE)
rt_poll rt_select_poll_at(struct rt_select *select, struct rt_cx *cx, const struct rt_site *await);

/* Whether child `index` is in the set of the last READY. */
bool rt_select_has(const struct rt_select *select, uint32_t index);

/*
 * After READY: continues with the children that were in no set so far. True when there are any: the
 * select may be polled again. False when there are none, or after the drop.
 */
bool rt_select_again(struct rt_select *select);

/* Drops the children that were in no set, in index order; also after READY. Twice: no-op. */
#define rt_select_drop(select) rt_select_drop_at((select), RT_HERE)
void rt_select_drop_at(struct rt_select *select, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
