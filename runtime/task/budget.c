/*
 * budget.c -- the units of one poll. They lie in the executor and are set again at each poll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/budget.h"

#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

rt_poll
rt__budget_take(struct rt_cx *cx, const struct rt_site *await)
{
    struct rt_executor *executor = cx->executor;
    if (executor->budget_left > 0) {
        executor->budget_left--;
        return RT_READY;
    }
    RT_PROBE(YIELD, cx->task->object.id, RT_HERE, await, executor->budget);
    (void)rt_defer_at(cx, await);
    return RT_PENDING;
}

void
rt__budget_restore(struct rt_executor *executor)
{
    rt_assert(executor->budget_left < executor->budget);
    executor->budget_left++;
}

uint32_t
rt_budget_left(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    return cx->executor->budget_left;
}

uint32_t
rt_budget_suspend(struct rt_cx *cx)
{
    rt_cx_check(cx);
    uint32_t left = cx->executor->budget_left;
    cx->executor->budget_left = RT_BUDGET_UNCONSTRAINED;
    return left;
}

void
rt_budget_resume(struct rt_cx *cx, uint32_t suspended)
{
    rt_cx_check(cx);
    rt_assert(cx->executor->budget_left == RT_BUDGET_UNCONSTRAINED);
    cx->executor->budget_left = suspended;
}
