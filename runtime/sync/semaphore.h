/*
 * semaphore.h -- a number of permits, first come, first served.
 *
 *      struct rt_acquire acquire;
 *      rt_acquire_init(&acquire, &semaphore, 2);
 *      ...
 *      RT_AWAIT(rt_acquire_poll(&acquire, cx));
 *      if (acquire.err == RT_OK) { ...; err = rt_semaphore_release(&semaphore, 2); }
 *
 * First come, first served, also where a later one wants fewer: a large request at the head of the
 * queue collects permits as they are released, and holds up those after it (K10). A request that is
 * dropped gives back what it has collected, or was granted, to the next (K6).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_SEMAPHORE_H
#define RT_SYNC_SEMAPHORE_H

#include "runtime/compose/future.h"
#include "runtime/sync/waiters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More permits than this cannot be free at a time. */
#define RT_SEMAPHORE_PERMITS_MAX RT_UNITS_MAX

struct rt_semaphore {
    struct rt_object object;
    struct rt_waiters waiters;
    bool closed;
};

/* A semaphore with `permits` (at most RT_SEMAPHORE_PERMITS_MAX) free ones; 0: a release must come
 * first. Pinned until rt_semaphore_fini. */
void rt_semaphore_init(struct rt_semaphore *semaphore, uint32_t permits);

/* Ends it. Futures that wait, or were granted and not polled: fault RT_E_IN_USE. Acquired permits
 * are not checked. */
void rt_semaphore_fini(struct rt_semaphore *semaphore);

/* Takes `permits` without waiting. RT_E_AGAIN: too few are free, or a task queues for them;
 * RT_E_CLOSED. 0 is always granted while it is open. */
RT_MUST_CHECK rt_err rt_semaphore_try_acquire(struct rt_semaphore *semaphore, uint32_t permits);

/*
 * Gives back `permits`, or adds new ones: ownership is not checked. Queued requests get them first,
 * in their order; the rest is free. Closed: they are free, and not granted.
 * RT_E_INVALID, and nothing has changed: there would be more than RT_SEMAPHORE_PERMITS_MAX.
 */
#define rt_semaphore_release(semaphore, permits) \
    rt_semaphore_release_at((semaphore), (permits), RT_HERE)
RT_MUST_CHECK rt_err rt_semaphore_release_at(
        struct rt_semaphore *semaphore, uint32_t permits, const struct rt_site *await);

/* From now on every acquire fails with RT_E_CLOSED: queued requests at once, and those that are
 * granted and not polled as well. Closed already: no-op. */
#define rt_semaphore_close(semaphore) rt_semaphore_close_at((semaphore), RT_HERE)
void rt_semaphore_close_at(struct rt_semaphore *semaphore, const struct rt_site *await);

/* Permits that are free now; 0 while a task queues. */
uint32_t rt_semaphore_free(const struct rt_semaphore *semaphore);

/* A wait for `permits`, pinned from its first poll until READY or drop. */
struct rt_acquire {
    struct rt_future future;
    struct rt_waiter waiter;
    struct rt_semaphore *semaphore;
    const struct rt_site *await;
    rt_err err; /* After READY: RT_OK, the permits are the caller's; or RT_E_CLOSED. */
};

/* Makes a request, which does nothing until it is polled. `permits` above
 * RT_SEMAPHORE_PERMITS_MAX: fault RT_E_INVALID, it could never be met. 0: ready at once. */
#define rt_acquire_init(acquire, semaphore, permits) \
    rt_acquire_init_at((acquire), (semaphore), (permits), RT_HERE)
void rt_acquire_init_at(struct rt_acquire *acquire, struct rt_semaphore *semaphore,
        uint32_t permits, const struct rt_site *await);

/* READY with `acquire->err`. As a child of a combinator: `&acquire->future`. A further poll, or one
 * after the drop, is fault RT_E_FINISHED (T20). */
#define rt_acquire_poll(acquire, cx) rt_acquire_poll_at((acquire), (cx), RT_HERE)
rt_poll rt_acquire_poll_at(
        struct rt_acquire *acquire, struct rt_cx *cx, const struct rt_site *await);

/* Drops it (K6). After READY: no-op; the permits are released by rt_semaphore_release. */
#define rt_acquire_drop(acquire) rt_acquire_drop_at((acquire), RT_HERE)
void rt_acquire_drop_at(struct rt_acquire *acquire, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
