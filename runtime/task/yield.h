/*
 * yield.h -- giving way: a task that has run for long lets the others, and the host, have a turn.
 *
 *      poll ── rt_yield_now ──▶ PENDING, in the line ──▶ the others ──▶ a turn ──▶ woken, READY
 *
 * Who gives way is not woken at once, or it would only go round with others that do the same, and
 * nobody would look at the host. Its waker stands in the runtime's line until the next turn of the
 * reactor is over, and is woken then, behind whatever that turn woke, in the order of giving way
 * (D13; tokio's Defer wakes the last first).
 *
 * The quota. A round is what is polled between two turns. rt_need_preempt says that the round has
 * used up the task quota (500 us unless the runtime was told otherwise), by the host's clock. A
 * long computation asks now and then:
 *
 *      while (job_goes_on(job)) {
 *          RT_AWAIT(rt_maybe_yield(&job->yield, cx));
 *          job_do_some(job);
 *      }
 *
 * The loops of runtime.h ask after each poll as well, and end the round (X8).
 *
 * Ownership. An rt_yield links nothing: its memory may go at any time, and its task may be
 * cancelled while it is in the line. What is left there wakes nobody then (T8).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_YIELD_H
#define RT_TASK_YIELD_H

#include "runtime/task/cx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A round's share of the thread, and how many woken tasks are so many that a round goes on all the
 * same, for looking at the host would only bring more (X8; both are Seastar's). */
#define RT_TASK_QUOTA_NS UINT64_C(500000)
#define RT_TASK_BACKLOG_MAX 1000u

/* One place of giving way; all zero at first. It may be used again after READY. */
struct rt_yield {
    bool waiting;
    uint64_t turn;         /* Of the runtime, when it began to wait. */
    const void *target_vt; /* Whose waker is in the line: compared, never called. */
    uintptr_t target_data;
};

/*
 * PENDING once, READY when the runtime has had a turn since; a spurious poll in between is PENDING
 * again, and one with another waker puts that one in the line too (W11). On a bare executor, which
 * has no turns, and where the line lent to the runtime is full, the task goes behind those queued
 * already instead, and its next poll is READY.
 */
#define rt_yield_now(yield, cx) rt_yield_now_at((yield), (cx), RT_HERE)
rt_poll rt_yield_now_at(struct rt_yield *yield, struct rt_cx *cx, const struct rt_site *await);

/* As rt_yield_now when the quota is used up or `yield` has begun to wait; otherwise READY. */
#define rt_maybe_yield(yield, cx) rt_maybe_yield_at((yield), (cx), RT_HERE)
rt_poll rt_maybe_yield_at(struct rt_yield *yield, struct rt_cx *cx, const struct rt_site *await);

/*
 * True when this round has used up the task quota, and the task should give way. It may come early
 * (rt_cx_choose; Seastar's debug mode says true always): nobody may count on running for the whole
 * quota. Always false on a bare executor, and where the quota is RT_NEVER.
 */
bool rt_need_preempt(const struct rt_cx *cx);

/*
 * Puts the current waker at the end of the line of those who gave way. False when there is no line
 * or no room in it: the waker was woken instead. What budget.h and yield.h are made of; a
 * primitive that cannot go on, though nothing is missing but time, may use it as well.
 */
#define rt_defer(cx) rt_defer_at((cx), RT_HERE)
bool rt_defer_at(struct rt_cx *cx, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
