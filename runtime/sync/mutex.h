/*
 * mutex.h -- mutual exclusion, first come, first served.
 *
 *      RT_AWAIT(rt_lock_poll(&lock, cx));
 *      ...                                     // also across suspensions
 *      rt_mutex_unlock(&mutex);
 *
 * The unlock hands the mutex to the head of the queue: it is locked again before another task can
 * try (K11). A future that was handed it and is dropped before its poll hands it on (K6). A task
 * that is cancelled while it holds the mutex unlocks it in its cleanup.
 *
 * Hand-off has a price: a future that was handed the mutex, lives, and is not polled, blocks all
 * others (smol-rs/async-lock#91). Drop what is not going to be polled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_MUTEX_H
#define RT_SYNC_MUTEX_H

#include "runtime/compose/future.h"
#include "runtime/sync/waiters.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_mutex {
    struct rt_object object;
    struct rt_waiters waiters; /* Its one unit: the right to hold the mutex. */
};

/* An unlocked mutex. Pinned until rt_mutex_fini. */
void rt_mutex_init(struct rt_mutex *mutex);

/* Ends it. Locked, or waited for: fault RT_E_IN_USE. */
void rt_mutex_fini(struct rt_mutex *mutex);

/* Locks it, when it is unlocked and no task queues; else false. */
RT_MUST_CHECK bool rt_mutex_try_lock(struct rt_mutex *mutex);

/* Unlocks it, or hands it to the head of the queue. Of an unlocked mutex: fault RT_E_INVALID. */
#define rt_mutex_unlock(mutex) rt_mutex_unlock_at((mutex), RT_HERE)
void rt_mutex_unlock_at(struct rt_mutex *mutex, const struct rt_site *await);

/* Locked, or handed to a waiter that has not polled yet. */
bool rt_mutex_locked(const struct rt_mutex *mutex);

/* A wait for the mutex, pinned from its first poll until READY or drop. */
struct rt_lock {
    struct rt_future future;
    struct rt_waiter waiter;
    struct rt_mutex *mutex;
    const struct rt_site *await;
};

#define rt_lock_init(lock, mutex) rt_lock_init_at((lock), (mutex), RT_HERE)
void rt_lock_init_at(struct rt_lock *lock, struct rt_mutex *mutex, const struct rt_site *await);

/* READY: the mutex is the caller's. A further poll is fault RT_E_FINISHED (T20). */
#define rt_lock_poll(lock, cx) rt_lock_poll_at((lock), (cx), RT_HERE)
rt_poll rt_lock_poll_at(struct rt_lock *lock, struct rt_cx *cx, const struct rt_site *await);

/* Stops waiting (K6). After READY: no-op; that is what rt_mutex_unlock is for. */
#define rt_lock_drop(lock) rt_lock_drop_at((lock), RT_HERE)
void rt_lock_drop_at(struct rt_lock *lock, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
