/*
 * sleep.c -- a future that is ready at a deadline: a timer and the time it was made for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/time/sleep.h"

#include "runtime/base/assert.h"
#include "runtime/runtime.h"
#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

static struct rt_timers *
timers_of(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    if (cx->runtime == NULL) {
        rt_fault(RT_E_INVALID, cx->task->name, "a sleep was polled where there are no timers");
    }
    return &cx->runtime->timers;
}

/*
 * The time, never before what the timers have seen (M11). With the host's clock
 * alone, one that went backwards would let a timer fire whose sleep then answers
 * PENDING and starts it again, at once overdue: a task that spins.
 */
static uint64_t
now_of(const struct rt_cx *cx, const struct rt_timers *timers)
{
    uint64_t now_ns = rt_cx_now(cx);
    return now_ns > timers->last_ns ? now_ns : timers->last_ns;
}

static void
init(struct rt_sleep *sleep)
{
    rt_assert(sleep != NULL);
    *sleep = (struct rt_sleep){.deadline_ns = RT_NEVER};
    rt_timer_init(&sleep->timer);
}

/* M4, M5: saturates, and adds the tick that the coarse clock may already have used up. */
static uint64_t
deadline_from(uint64_t now_ns, uint64_t duration_ns, uint64_t tick_ns)
{
    uint64_t deadline_ns = rt_deadline(now_ns, duration_ns);
    bool exact = tick_ns == 1 || duration_ns == 0;
    return exact ? deadline_ns : rt_deadline(deadline_ns, tick_ns);
}

static rt_poll
finish(struct rt_sleep *sleep, const struct rt_site *await)
{
    rt_sleep_cancel_at(sleep, await);
    return RT_READY;
}

/* Arms it, or leaves it armed, for the waker of `cx`. */
static void
wait(struct rt_sleep *sleep, struct rt_timers *timers, struct rt_cx *cx,
        const struct rt_site *await)
{
    if (sleep->timers != NULL && sleep->timers != timers) {
        (void)rt_timer_cancel_at(sleep->timers, &sleep->timer, await);
    }
    sleep->timers = timers;
    rt_slot_replace_at(&sleep->timer.slot, cx, "sleep", RT_HERE, await);
    if (sleep->timer.place == RT_TIMER_IDLE) {
        rt_timer_start_at(timers, &sleep->timer, sleep->deadline_ns, await);
    }
}

void
rt_sleep_init(struct rt_sleep *sleep, uint64_t duration_ns)
{
    init(sleep);
    sleep->duration_ns = duration_ns;
}

void
rt_sleep_until(struct rt_sleep *sleep, uint64_t deadline_ns)
{
    init(sleep);
    sleep->deadline_ns = deadline_ns;
    sleep->has_deadline = true;
}

void
rt_sleep_begin(struct rt_sleep *sleep, const struct rt_cx *cx)
{
    rt_assert(sleep != NULL);
    const struct rt_timers *timers = timers_of(cx);
    if (!sleep->has_deadline) {
        sleep->deadline_ns = deadline_from(now_of(cx, timers), sleep->duration_ns, timers->tick_ns);
        sleep->has_deadline = true;
    }
}

rt_poll
rt_sleep_poll_at(struct rt_sleep *sleep, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(sleep != NULL);
    struct rt_timers *timers = timers_of(cx);
    if (sleep->finished) {
        rt_fault(RT_E_FINISHED, cx->task->name, "a sleep was polled that has ended");
    }
    rt_sleep_begin(sleep, cx);
    RT_AWAIT(rt_budget_take_at(cx, await));
    if (sleep->deadline_ns != RT_NEVER && now_of(cx, timers) >= sleep->deadline_ns) {
        return finish(sleep, await);
    }
    rt_budget_restore(cx);
    wait(sleep, timers, cx, await);
    return RT_PENDING;
}

void
rt_sleep_cancel_at(struct rt_sleep *sleep, const struct rt_site *await)
{
    rt_assert(sleep != NULL);
    sleep->finished = true;
    if (sleep->timers != NULL) {
        (void)rt_timer_cancel_at(sleep->timers, &sleep->timer, await);
        sleep->timers = NULL;
    }
    rt_assert(sleep->timer.place == RT_TIMER_IDLE);
}
