/*
 * timeout.c -- a future with a time limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/timeout.h"

#include "runtime/compose/internal.h"
#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

/*
 * The time is taken before the inner future is polled, for that poll may be long.
 * It is compared after it, for the same reason.
 */
static rt_poll
poll_both(struct rt_timeout *timeout, struct rt_cx *cx, const struct rt_site *await)
{
    rt_sleep_begin(&timeout->sleep, cx);
    if (rt_future_poll(timeout->inner, cx) == RT_READY) {
        rt_sleep_cancel_at(&timeout->sleep, await);
        return RT_READY;
    }
    /* Whatever the inner future used up: a deadline must be checked (tokio#4314). */
    uint32_t suspended = rt_budget_suspend(cx);
    rt_poll answer = rt_sleep_poll_at(&timeout->sleep, cx, await);
    rt_budget_resume(cx, suspended);
    if (answer == RT_READY) {
        timeout->expired = true;
        rt_future_drop(timeout->inner);
        return RT_READY;
    }
    return RT_PENDING;
}

static struct rt_timeout *
timeout_of(struct rt_future *future)
{
    struct rt_timeout *timeout = rt_container_of(future, struct rt_timeout, future);
    rt_assert(timeout->inner != NULL);
    return timeout;
}

/* As a child of another. The line that awaits is not known then. */
static rt_poll
future_poll(struct rt_future *future, struct rt_cx *cx)
{
    return poll_both(timeout_of(future), cx, NULL);
}

static void
future_drop(struct rt_future *future)
{
    struct rt_timeout *timeout = timeout_of(future);
    rt_sleep_cancel_at(&timeout->sleep, NULL);
    rt_future_drop(timeout->inner);
}

void
rt_timeout_init(struct rt_timeout *timeout, struct rt_future *inner, uint64_t duration_ns)
{
    rt_assert(timeout != NULL);
    rt_assert(inner != NULL);
    *timeout = (struct rt_timeout){.inner = inner};
    rt_future_init(&timeout->future, future_poll, future_drop, "timeout");
    rt_sleep_init(&timeout->sleep, duration_ns);
}

rt_poll
rt_timeout_poll_at(struct rt_timeout *timeout, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(timeout != NULL);
    rt_cx_check(cx);
    rt__future_begin(&timeout->future);
    return rt__future_end(&timeout->future, poll_both(timeout, cx, await));
}

void
rt_timeout_drop(struct rt_timeout *timeout)
{
    rt_assert(timeout != NULL);
    rt_future_drop(&timeout->future);
}
