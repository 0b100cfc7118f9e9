/*
 * broadcast.h -- wakes every task that waits now, and no later one (K9).
 *
 * Nothing is stored: a wait that begins after the broadcast waits for the next one. The order in
 * which the waiters are woken is free: the executor may choose (rt_executor_choose); the default is
 * the order in which they began to wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_BROADCAST_H
#define RT_SYNC_BROADCAST_H

#include "runtime/compose/future.h"
#include "runtime/sync/waiters.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_broadcast {
    struct rt_object object;
    struct rt_waiters waiters; /* Never a unit. */
};

/* Pinned until rt_broadcast_fini. */
void rt_broadcast_init(struct rt_broadcast *broadcast);

/* Ends it. Futures that wait, or were woken and not polled: fault RT_E_IN_USE. */
void rt_broadcast_fini(struct rt_broadcast *broadcast);

/* Makes every wait that was polled before READY; returns how many there were. A woken task that
 * waits again waits for the next broadcast. */
#define rt_broadcast_fire(broadcast) rt_broadcast_fire_at((broadcast), RT_HERE)
uint32_t rt_broadcast_fire_at(struct rt_broadcast *broadcast, const struct rt_site *await);

/* A wait, pinned from its first poll, from which it waits, until READY or drop. */
struct rt_heard {
    struct rt_future future;
    struct rt_waiter waiter;
    struct rt_broadcast *broadcast;
    const struct rt_site *await;
};

#define rt_heard_init(heard, broadcast) rt_heard_init_at((heard), (broadcast), RT_HERE)
void rt_heard_init_at(
        struct rt_heard *heard, struct rt_broadcast *broadcast, const struct rt_site *await);

/* READY after a broadcast since the first poll. A further poll is fault RT_E_FINISHED (T20). */
#define rt_heard_poll(heard, cx) rt_heard_poll_at((heard), (cx), RT_HERE)
rt_poll rt_heard_poll_at(struct rt_heard *heard, struct rt_cx *cx, const struct rt_site *await);

/* Drops the wait. After READY: no-op. */
#define rt_heard_drop(heard) rt_heard_drop_at((heard), RT_HERE)
void rt_heard_drop_at(struct rt_heard *heard, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
