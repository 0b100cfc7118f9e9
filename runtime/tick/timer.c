/*
 * timer.c -- the queue of tick timers, and a wait built on one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/timer.h"

#include "runtime/base/assert.h"
#include "runtime/tick/internal.h"

#include "runtime/base/banned.h"

#define RT_TICK_TIMER_MAGIC 0x5254544du

static struct rt_tick_timer *
timer_at(struct rt_list *link)
{
    return rt_container_of(link, struct rt_tick_timer, link);
}

static bool
before(const struct rt_tick_timer *a, const struct rt_tick_timer *b)
{
    return a->end_tick != b->end_tick ? a->end_tick < b->end_tick : a->start_order < b->start_order;
}

static void
verify(struct rt_tick_timers *timers)
{
#ifdef RT_VERIFY
    rt_list_each(link, &timers->started)
    {
        rt_assert(timer_at(link)->magic == RT_TICK_TIMER_MAGIC);
        rt_assert(link->next->prev == link);
        rt_assert(link->next == &timers->started || before(timer_at(link), timer_at(link->next)));
    }
#else
    (void)timers;
#endif
}

static void
insert(struct rt_tick_timers *timers, struct rt_tick_timer *timer)
{
    struct rt_list *previous = timers->started.prev;
    while (previous != &timers->started && before(timer, timer_at(previous))) {
        previous = previous->prev;
    }
    rt_list_push_front(previous, &timer->link);
    verify(timers);
}

void
rt__tick_timers_init(struct rt_tick_timers *timers)
{
    *timers = (struct rt_tick_timers){.starts = 0};
    rt_list_init(&timers->started);
}

/* Marking calls only the policy, which knows no timers. */
uint32_t
rt__tick_timers_fire(struct rt_ticker *ticker, const struct rt_site *await)
{
    struct rt_list *started = &ticker->timers.started;
    uint32_t fired = 0;
    while (!rt_list_empty(started) && timer_at(started->next)->end_tick <= ticker->tick) {
        struct rt_tick_timer *timer = timer_at(started->next);
        rt_list_unlink(&timer->link);
        (void)rt_mark_ready_at(ticker, timer->id, await);
        fired++;
    }
    return fired;
}

void
rt_tick_timer_init(struct rt_tick_timer *timer)
{
    rt_assert(timer != NULL);
    *timer = (struct rt_tick_timer){.magic = RT_TICK_TIMER_MAGIC};
    rt_list_init(&timer->link);
}

void
rt_tick_timer_start(
        struct rt_ticker *ticker, struct rt_tick_timer *timer, uint64_t ticks, struct rt_key id)
{
    rt_check(ticker, RT_TICKER_MAGIC);
    rt_check(timer, RT_TICK_TIMER_MAGIC);
    rt_list_unlink(&timer->link);
    bool fits = ticks < UINT64_MAX - ticker->tick;
    timer->end_tick = fits ? ticker->tick + ticks : UINT64_MAX;
    timer->start_order = ticker->timers.starts++;
    timer->id = id;
    insert(&ticker->timers, timer);
}

bool
rt_tick_timer_cancel(struct rt_tick_timer *timer)
{
    rt_check(timer, RT_TICK_TIMER_MAGIC);
    bool started = rt_tick_timer_started(timer);
    rt_list_unlink(&timer->link);
    return started;
}

uint32_t
rt_ticker_timers(const struct rt_ticker *ticker)
{
    rt_check(ticker, RT_TICKER_MAGIC);
    uint32_t count = 0;
    rt_list_each(link, &ticker->timers.started)
    {
        count++;
    }
    return count;
}

static void
cancel_deferred(struct rt_defer *defer)
{
    struct rt_tick_wait *wait = rt_container_of(defer, struct rt_tick_wait, cancel);
    wait->over = true;
    (void)rt_tick_timer_cancel(&wait->timer);
}

static void
begin(struct rt_tick_wait *wait, struct rt_scope *scope, const struct rt_cx *cx)
{
    const struct rt_activity *activity = rt_activity_of(cx);
    wait->begun = true;
    rt_scope_defer(scope, &wait->cancel);
    rt_tick_timer_start(activity->ticker, &wait->timer, wait->ticks, activity->id);
}

void
rt_tick_wait_init(struct rt_tick_wait *wait, uint64_t ticks)
{
    rt_assert(wait != NULL);
    *wait = (struct rt_tick_wait){.ticks = ticks};
    rt_tick_timer_init(&wait->timer);
    rt_defer_init(&wait->cancel, cancel_deferred);
}

rt_poll
rt_tick_wait_poll(struct rt_tick_wait *wait, struct rt_scope *scope, struct rt_cx *cx)
{
    rt_assert(wait != NULL);
    rt_cx_check(cx);
    if (wait->over) {
        rt_fault(RT_E_FINISHED, cx->task->name, "a wait for ticks was polled that has ended");
    }
    if (!wait->begun) {
        begin(wait, scope, cx);
    }
    if (rt_tick_timer_started(&wait->timer)) {
        return rt_cx_park(cx);
    }
    wait->over = true;
    (void)rt_undefer(&wait->cancel);
    return RT_READY;
}

bool
rt_tick_wait_cancel(struct rt_tick_wait *wait)
{
    rt_assert(wait != NULL);
    bool running = rt_tick_timer_started(&wait->timer);
    wait->over = true;
    (void)rt_defer_now(&wait->cancel);
    return running;
}
