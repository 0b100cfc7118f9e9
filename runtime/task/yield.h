/*
 * yield.h -- yielding: a task that has run for long lets the others, and the host, have a turn.
 *
 *      poll ── rt_yield_now ──▶ PENDING, queued ──▶ the others ──▶ a turn ──▶ woken, READY
 *
 * A task that yields is not woken at once, or it would only alternate with others that yield, and
 * the host would never be polled. Its waker waits in the runtime's queue until the next turn of
 * the reactor is over, and is woken then, after the tasks that turn woke, in the order of yielding
 * (D13; tokio's Defer wakes the last first).
 *
 * The quota. A round is what is polled between two turns. rt_need_preempt says that the round has
 * used up the task quota (500 us by default), by the host's clock. A long computation checks now
 * and then:
 *
 *      while (job_goes_on(job)) {
 *          RT_AWAIT(rt_maybe_yield(&job->yield, cx));
 *          job_do_some(job);
 *      }
 *
 * The loops of runtime.h check after each poll as well, and end the round (X8).
 *
 * Ownership. An rt_yield links nothing: its memory may go at any time, and its task may be
 * cancelled while it is queued. A waker left in the queue then wakes no task (T8).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_YIELD_H
#define RT_TASK_YIELD_H

#include "runtime/task/cx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A round's share of the thread, and the number of woken tasks at which a round continues all the
 * same, as polling the host would only add more (X8; both are Seastar's). */
#define RT_TASK_QUOTA_NS UINT64_C(500000)
#define RT_TASK_BACKLOG_MAX 1000u

/* One yield; all zero at first. It may be used again after READY. */
struct rt_yield {
    bool waiting;
    uint64_t turn;         /* Of the runtime, when it began to wait. */
    const void *target_vt; /* Of the queued waker: compared, never called. */
    uintptr_t target_data;
};

/*
 * PENDING once, READY when the runtime has had a turn since; a spurious poll in between is PENDING
 * again, and one with another waker queues that one too (W11). On a bare executor, which has no
 * turns, and where the queue provided to the runtime is full, the task goes to the tail of the run
 * queue instead, and its next poll is READY.
 */
#define rt_yield_now(yield, cx) rt_yield_now_at((yield), (cx), RT_HERE)
rt_poll rt_yield_now_at(struct rt_yield *yield, struct rt_cx *cx, const struct rt_site *await);

/* As rt_yield_now when the quota is used up or `yield` has begun to wait; otherwise READY. */
#define rt_maybe_yield(yield, cx) rt_maybe_yield_at((yield), (cx), RT_HERE)
rt_poll rt_maybe_yield_at(struct rt_yield *yield, struct rt_cx *cx, const struct rt_site *await);

/*
 * True when this round has used up the task quota, and the task should yield. It may come early
 * (rt_cx_choose; Seastar's debug mode always says true): no task may count on running for the whole
 * quota. Always false on a bare executor, and where the quota is RT_NEVER.
 */
bool rt_need_preempt(const struct rt_cx *cx);

/*
 * Appends the current waker to the queue of yielding tasks. False when there is no queue or it is
 * full: the waker was woken instead. budget.h and yield.h are built on it; a primitive that lacks
 * nothing but time may use it as well.
 */
#define rt_defer(cx) rt_defer_at((cx), RT_HERE)
bool rt_defer_at(struct rt_cx *cx, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
