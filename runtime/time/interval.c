/*
 * interval.c -- one sleep after another, along a schedule.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/time/interval.h"

#include "runtime/base/assert.h"
#include "runtime/runtime.h"

#include "runtime/base/banned.h"

/* Where the schedule continues when the tick due at `due_ns` is taken at `now_ns`. */
static uint64_t
next_tick(const struct rt_interval *interval, uint64_t due_ns, uint64_t now_ns)
{
    uint64_t period_ns = interval->period_ns;
    rt_assert(now_ns >= due_ns);
    switch (interval->missed) {
    case RT_MISSED_BURST:
        return rt_deadline(due_ns, period_ns);
    case RT_MISSED_DELAY:
        return rt_deadline(now_ns, period_ns);
    case RT_MISSED_SKIP:
        return rt_deadline(now_ns - (now_ns - due_ns) % interval->period_ns, period_ns);
    }
    rt_unreached("a policy for missed ticks that is none");
}

void
rt_interval_init(
        struct rt_interval *interval, uint64_t first_ns, uint64_t period_ns, enum rt_missed missed)
{
    rt_assert(interval != NULL);
    if (period_ns == 0) {
        rt_fault(RT_E_INVALID, NULL, "an interval without a period");
    }
    *interval = (struct rt_interval){.period_ns = period_ns, .missed = missed};
    rt_sleep_until(&interval->sleep, first_ns);
}

rt_poll
rt_interval_poll_at(struct rt_interval *interval, struct rt_cx *cx, uint64_t *ret_due_ns,
        const struct rt_site *await)
{
    rt_assert(interval != NULL);
    if (interval->cancelled) {
        rt_fault(RT_E_FINISHED, cx->task->name, "an interval was polled that was cancelled");
    }
    RT_AWAIT(rt_sleep_poll_at(&interval->sleep, cx, await));
    uint64_t due_ns = interval->sleep.deadline_ns;
    /* As the sleep saw it: a clock that goes backwards keeps its last value (M11). */
    uint64_t now_ns = rt_cx_now(cx);
    rt_sleep_until(
            &interval->sleep, next_tick(interval, due_ns, now_ns > due_ns ? now_ns : due_ns));
    if (ret_due_ns != NULL) {
        *ret_due_ns = due_ns;
    }
    return RT_READY;
}

void
rt_interval_reset_at(struct rt_interval *interval, uint64_t next_ns, const struct rt_site *await)
{
    rt_assert(interval != NULL);
    rt_assert(!interval->cancelled);
    rt_sleep_cancel_at(&interval->sleep, await);
    rt_sleep_until(&interval->sleep, next_ns);
}

void
rt_interval_cancel_at(struct rt_interval *interval, const struct rt_site *await)
{
    rt_assert(interval != NULL);
    interval->cancelled = true;
    rt_sleep_cancel_at(&interval->sleep, await);
}
