/*
 * budget.h -- how much one poll may take from what is always ready.
 *
 * A task whose channel is never empty never has to wait, and would keep the
 * thread for ever. So each poll of a task begins with a budget, 128 units where
 * the executor was given RT_BUDGET, and each operation takes one unit from it.
 * With none left the operation answers PENDING though it could go on, and the
 * task gives way (yield.h), to begin again with a full budget (D12, after
 * tokio's coop).
 *
 *      RT_AWAIT(rt_budget_take(cx));           // one unit, or PENDING with the task in the line
 *      if (nothing is there) {
 *          rt_budget_restore(cx);              // it did nothing, so it takes nothing
 *          store the waker; return RT_PENDING;
 *      }
 *
 * The unit is given back when the operation got nowhere: a task that looks at
 * 200 places, of which the last is ready, must come to it.
 *
 * Off unless the executor's config names a budget; then these calls cost one test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_BUDGET_H
#define RT_TASK_BUDGET_H

#include "runtime/task/yield.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The usual budget of a poll, in units. */
#define RT_BUDGET 128u

/* What an executor's `budget_left` is while nobody counts. */
#define RT_BUDGET_UNCONSTRAINED UINT32_MAX

/* READY, and one unit less; or PENDING at zero: the current waker is in the line (rt_defer), and
 * the caller answers PENDING without a waker stored anywhere else. */
#define rt_budget_take(cx) rt_budget_take_at((cx), RT_HERE)
rt_poll rt_budget_take_at(struct rt_cx *cx, const struct rt_site *await);

/* Gives back the unit of the rt_budget_take before it: the operation made no progress. */
void rt_budget_restore(struct rt_cx *cx);

/* Units left in this poll; RT_BUDGET_UNCONSTRAINED where nobody counts. */
uint32_t rt_budget_left(const struct rt_cx *cx);

/*
 * Between the two nothing is counted: for what must be looked at however much was used up, a
 * deadline above all. They nest; the second takes what the first answered.
 */
uint32_t rt_budget_suspend(struct rt_cx *cx);
void rt_budget_resume(struct rt_cx *cx, uint32_t suspended);

#ifdef __cplusplus
}
#endif
#endif
