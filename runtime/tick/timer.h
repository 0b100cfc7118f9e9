/*
 * timer.h -- waiting for a number of ticks.
 *
 * A timer marks an activity, by its weak reference, at the first tick that is at least `ticks`
 * after the one at which it was started (G8). Timers that end at the same tick mark in the order in
 * which they were started. An activity that is dead by then is passed over (G3).
 *
 * The queue is a list by (end, start order), walked from its tail: as many steps as there are
 * timers that end later. The timers of runtime/time wake stored wakers, which parking nulls (T13);
 * these mark by id, so an activity may park on one.
 *
 *      struct rt_tick_wait loiter;
 *      rt_tick_wait_init(&loiter, 5);
 *      ...
 *      RT_AWAIT(rt_tick_wait_poll(&loiter, &activity->scope, cx));
 *
 * Ownership. A timer is its owner's, pinned while it is started. A wait defers its own cancel to
 * the scope that it is polled with: code that interrupts the activity need not know of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TICK_TIMER_H
#define RT_TICK_TIMER_H

#include "runtime/base/slab.h"
#include "runtime/task/cx.h"
#include "runtime/task/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_ticker;

/* Its own token: cancelling it again, or after it has elapsed, cancels nothing. */
struct rt_tick_timer {
    uint32_t magic;
    struct rt_list link; /* In a queue exactly while it is started. */
    struct rt_key id;
    uint64_t end_tick;
    uint64_t start_order;
};

/* Embedded in a ticker. */
struct rt_tick_timers {
    struct rt_list started; /* By end_tick, then start_order. */
    uint64_t starts;
};

/* Makes a timer that is not started. */
void rt_tick_timer_init(struct rt_tick_timer *timer);

/*
 * Marks `id` at the first tick that is at least `ticks` from now; 0: at the next one. A sum that
 * does not fit means never. Started already: it is moved, and counts as started now.
 */
void rt_tick_timer_start(
        struct rt_ticker *ticker, struct rt_tick_timer *timer, uint64_t ticks, struct rt_key id);

/* True iff it was started and had not elapsed: so at most once for each start (G8). */
bool rt_tick_timer_cancel(struct rt_tick_timer *timer);

static inline bool
rt_tick_timer_started(const struct rt_tick_timer *timer)
{
    return !rt_list_empty(&timer->link);
}

/* How many timers are started. */
uint32_t rt_ticker_timers(const struct rt_ticker *ticker);

/* "Loiter for `ticks` ticks", as a future. */
struct rt_tick_wait {
    struct rt_tick_timer timer;
    struct rt_defer cancel;
    uint64_t ticks;
    bool begun;
    bool over;
};

/* From its first poll on. Not between that and its end. */
void rt_tick_wait_init(struct rt_tick_wait *wait, uint64_t ticks);

/*
 * READY once the timer has elapsed, without a further wake (G9); until then PARKED. The first poll
 * starts the timer for the activity of `cx` and defers its cancel to `scope`. A poll after READY,
 * or after the scope has ended, is fault RT_E_FINISHED (T20).
 */
rt_poll rt_tick_wait_poll(struct rt_tick_wait *wait, struct rt_scope *scope, struct rt_cx *cx);

/* Drops it: true iff the timer was still running. */
bool rt_tick_wait_cancel(struct rt_tick_wait *wait);

#ifdef __cplusplus
}
#endif
#endif
