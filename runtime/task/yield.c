/*
 * yield.c -- yielding, and the quota.
 *
 * The queue itself belongs to the runtime (runtime.c), which wakes it at the end of each turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/yield.h"

#include "runtime/runtime.h"
#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

bool
rt_defer_at(struct rt_cx *cx, const struct rt_site *await)
{
    rt_cx_check(cx);
    if (cx->runtime != NULL && rt_runtime_defer_at(cx->runtime, &cx->waker, await)) {
        return true;
    }
    rt_cx_reenqueue_at(cx, await);
    return false;
}

static bool
turn_is_over(const struct rt_yield *yield, const struct rt_cx *cx)
{
    return cx->runtime == NULL || yield->turn != cx->runtime->turns;
}

/* Queues the waker of this poll, unless the previous one was the same and is still queued. */
static void
enqueue(struct rt_yield *yield, struct rt_cx *cx, const struct rt_site *await)
{
    if (yield->waiting && yield->target_vt == cx->waker.vt &&
            yield->target_data == cx->waker.data) {
        return;
    }
    yield->waiting = true;
    yield->target_vt = cx->waker.vt;
    yield->target_data = cx->waker.data;
    yield->turn = cx->runtime != NULL ? cx->runtime->turns : 0;
    if (!rt_defer_at(cx, await)) {
        yield->turn--; /* Woken already: it need not wait for a turn. */
    }
}

/* For traces: how long the round has lasted. */
static uint64_t
since_round_began(const struct rt_cx *cx)
{
    const struct rt_runtime *runtime = cx->runtime;
    if (runtime == NULL || runtime->task_quota_ns == RT_NEVER) {
        return 0;
    }
    uint64_t now_ns = rt_host_now(runtime->host);
    return now_ns > runtime->round_began_ns ? now_ns - runtime->round_began_ns : 0;
}

rt_poll
rt_yield_now_at(struct rt_yield *yield, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(yield != NULL);
    rt_cx_check(cx);
    if (yield->waiting && turn_is_over(yield, cx)) {
        *yield = (struct rt_yield){0};
        return RT_READY;
    }
    if (!yield->waiting) {
        RT_PROBE(YIELD, cx->task->object.id, RT_HERE, await, since_round_began(cx));
    }
    enqueue(yield, cx, await);
    return RT_PENDING;
}

bool
rt_need_preempt(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    const struct rt_runtime *runtime = cx->runtime;
    if (runtime == NULL || runtime->task_quota_ns == RT_NEVER) {
        return false;
    }
    bool used_up = since_round_began(cx) >= runtime->task_quota_ns || rt_cx_choose(cx, 2) != 0;
    RT_PROBE(ASK, cx->task->object.id, RT_HERE, NULL, used_up ? 1 : 0);
    return used_up;
}

rt_poll
rt_maybe_yield_at(struct rt_yield *yield, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(yield != NULL);
    if (!yield->waiting && !rt_need_preempt(cx)) {
        return RT_READY;
    }
    return rt_yield_now_at(yield, cx, await);
}
