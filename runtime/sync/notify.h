/*
 * notify.h -- "something has happened", for one waiter, with one stored permit.
 *
 * rt_notify_one wakes the head of the queue; without a waiter it stores one permit, and no more, so
 * that the next wait is ready at once (K8). So "set the flag, notify" and "wait, check the flag"
 * cannot miss each other. rt_notify_all wakes the current waiters, and stores nothing.
 *
 * A wait that was chosen by rt_notify_one and is dropped before its poll passes it on: to the next
 * in the queue, else to the stored permit (K6). A wake is a hint: check the condition, and wait
 * again.
 *
 * For a broadcast that never stores anything, see broadcast.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_NOTIFY_H
#define RT_SYNC_NOTIFY_H

#include "runtime/compose/future.h"
#include "runtime/sync/waiters.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_notify {
    struct rt_object object;
    struct rt_waiters waiters; /* Its one unit: the stored permit. */
};

/* Without a permit. Pinned until rt_notify_fini. */
void rt_notify_init(struct rt_notify *notify);

/* Ends it. Futures that wait, or were chosen and not polled: fault RT_E_IN_USE. */
void rt_notify_fini(struct rt_notify *notify);

/* Wakes the one that has waited longest, or stores the permit. */
#define rt_notify_one(notify) rt_notify_one_at((notify), RT_HERE)
void rt_notify_one_at(struct rt_notify *notify, const struct rt_site *await);

/* Wakes all current waiters, in their order, and returns how many. A stored permit stays. */
#define rt_notify_all(notify) rt_notify_all_at((notify), RT_HERE)
uint32_t rt_notify_all_at(struct rt_notify *notify, const struct rt_site *await);

/* Whether a permit is stored. */
bool rt_notify_stored(const struct rt_notify *notify);

/* A wait, pinned from its first poll until READY or drop. It waits from its first poll on. */
struct rt_notified {
    struct rt_future future;
    struct rt_waiter waiter;
    struct rt_notify *notify;
    const struct rt_site *await;
};

#define rt_notified_init(notified, notify) rt_notified_init_at((notified), (notify), RT_HERE)
void rt_notified_init_at(
        struct rt_notified *notified, struct rt_notify *notify, const struct rt_site *await);

/* READY after a notify that was for it, or with the stored permit, which is then taken. A further
 * poll is fault RT_E_FINISHED (T20). */
#define rt_notified_poll(notified, cx) rt_notified_poll_at((notified), (cx), RT_HERE)
rt_poll rt_notified_poll_at(
        struct rt_notified *notified, struct rt_cx *cx, const struct rt_site *await);

/* Drops it (K6). After READY: no-op. */
#define rt_notified_drop(notified) rt_notified_drop_at((notified), RT_HERE)
void rt_notified_drop_at(struct rt_notified *notified, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
