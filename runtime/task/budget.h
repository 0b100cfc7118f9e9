/*
 * budget.h -- how much one poll may take from what is always ready.
 *
 * A task whose channel is never empty never has to wait, and would keep the
 * thread forever. So each poll of a task begins with a budget, 128 units where
 * the executor was configured with RT_BUDGET, and each operation takes one unit.
 * With none left the operation answers PENDING though it could succeed, and the
 * task yields (yield.h), to begin again with a full budget (D12, after
 * tokio's coop).
 *
 *      RT_AWAIT(rt_budget_take(cx));           // one unit, or PENDING with the task in the queue
 *      if (nothing is there) {
 *          rt_budget_restore(cx);              // it did nothing, so it costs nothing
 *          store the waker; return RT_PENDING;
 *      }
 *
 * The unit is given back when the operation made no progress: a task that polls
 * 200 sources, of which only the last is ready, must reach it.
 *
 * What counts: each poll of a wait that may succeed again and again without another task's help.
 * Sleeps and intervals, rt_wait_for, rt_read and rt_write, rt_io_poll_ready and what tcp.h builds
 * on it, operations, joins of tasks, everything in sync/, the streams of a group (one unit an
 * item, whichever member took it). The report of an end (a closed channel or semaphore) costs
 * nothing, and arrives however much was used up.
 *
 * Off unless the executor's config sets a budget; then these calls cost one test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_BUDGET_H
#define RT_TASK_BUDGET_H

#include "runtime/task/executor.h"
#include "runtime/task/yield.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The usual budget of a poll, in units. */
#define RT_BUDGET 128u

/* An executor's `budget_left` while the budget is off. */
#define RT_BUDGET_UNCONSTRAINED UINT32_MAX

/* READY, and one unit less; or PENDING at zero: the current waker is queued (rt_defer), and the
 * caller answers PENDING without a waker stored anywhere else. */
#define rt_budget_take(cx) rt_budget_take_at((cx), RT_HERE)

/* The two below where the budget is on. */
rt_poll rt__budget_take(struct rt_cx *cx, const struct rt_site *await);
void rt__budget_restore(struct rt_executor *executor);

static inline bool
rt__budget_counts(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    return __builtin_expect(cx->executor->budget_left != RT_BUDGET_UNCONSTRAINED, 0);
}

static inline rt_poll
rt_budget_take_at(struct rt_cx *cx, const struct rt_site *await)
{
    return rt__budget_counts(cx) ? rt__budget_take(cx, await) : RT_READY;
}

/* Gives back the unit of the rt_budget_take before it: the operation made no progress. */
static inline void
rt_budget_restore(const struct rt_cx *cx)
{
    if (rt__budget_counts(cx)) {
        rt__budget_restore(cx->executor);
    }
}

/* Units left in this poll; RT_BUDGET_UNCONSTRAINED where the budget is off. */
uint32_t rt_budget_left(const struct rt_cx *cx);

/*
 * Between the two nothing is counted: for what must be checked however much was used up, a
 * deadline above all. They nest; the second takes what the first answered.
 */
uint32_t rt_budget_suspend(struct rt_cx *cx);
void rt_budget_resume(struct rt_cx *cx, uint32_t suspended);

#ifdef __cplusplus
}
#endif
#endif
