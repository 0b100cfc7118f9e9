/*
 * wait_queue.h -- several tasks waiting for one thing, first come, first served.
 *
 * The caller provides an array of slots. The same waiter is in the queue once,
 * however often it stores, and keeps its position; a full queue refuses (W9).
 * A waiter is what its waker wakes: a task, or one child of a combinator, so that
 * two children of one task do not replace each other. Wakes go in the order
 * of the first store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_WAIT_QUEUE_H
#define RT_TASK_WAIT_QUEUE_H

#include "runtime/task/slot.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_wait_queue_entry {
    struct rt_list link; /* In `waiting` or in `free`. */
    uint64_t ticket;     /* Given at the first store; rises along `waiting`. */
    struct rt_slot slot;
};

struct rt_wait_queue {
    struct rt_object object;
    struct rt_list waiting; /* May hold entries whose task has finished: skipped, then reused. */
    struct rt_list free;
    uint64_t next_ticket;
};

/* An empty queue over `count` entries, which it borrows; 0 refuses every waiter. */
void rt_wait_queue_init(
        struct rt_wait_queue *queue, struct rt_wait_queue_entry *entries, uint32_t count);

/* Empties it without a wake. */
#define rt_wait_queue_fini(queue) rt_wait_queue_clear_at((queue), RT_HERE)
void rt_wait_queue_clear_at(struct rt_wait_queue *queue, const struct rt_site *await);

/* Queues a waker of `cx`; a queued one keeps its position. RT_E_FULL: nothing has changed. */
#define rt_wait_queue_store(queue, cx, reason) \
    rt_wait_queue_store_at((queue), (cx), (reason), RT_HERE, RT_HERE)
RT_MUST_CHECK rt_err rt_wait_queue_store_at(struct rt_wait_queue *queue, struct rt_cx *cx,
        const char *reason, const struct rt_site *site, const struct rt_site *await);

/* Wakes the `count` that have waited longest (UINT32_MAX: all), and returns how many there were.
 * Only those queued at the call are woken; a task that queues meanwhile waits for the next. */
#define rt_wait_queue_wake(queue, count) rt_wait_queue_wake_at((queue), (count), RT_HERE)
uint32_t rt_wait_queue_wake_at(
        struct rt_wait_queue *queue, uint32_t count, const struct rt_site *await);

/*
 * Takes the waker of `cx` out of the queue; not in it: no-op. A task that stops waiting without
 * having been woken (a spurious poll found what it wanted, a wait was dropped) must call this, or
 * its entry takes a wake that was for the next one. True when it was in the queue.
 */
#define rt_wait_queue_leave(queue, cx) rt_wait_queue_leave_at((queue), (cx), RT_HERE)
bool rt_wait_queue_leave_at(
        struct rt_wait_queue *queue, const struct rt_cx *cx, const struct rt_site *await);

/* How many wait now. */
uint32_t rt_wait_queue_length(const struct rt_wait_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
