/*
 * timers.c -- starting, cancelling and firing timers.
 *
 * An armed timer is in one of four states:
 *
 *      start ──▶ wheel ───────┐                     later than the time reached
 *      start ──▶ overdue ─────┼──▶ pending ──▶ fired   at or before it
 *      start ──▶ endless      │                     RT_NEVER
 *                             └ rt_timers_process
 *
 * Firing is two steps. First everything due is collected into `pending` and
 * sorted (M3, M10); then it is popped one by one, made idle, and its waker is
 * woken, with nothing kept across the call but the list's head. A waker may start
 * what was fired, and cancel what is still pending: timer->place says which list
 * it is in. What is started for the past meanwhile is overdue, and is not fired
 * before the next call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/time/timers.h"

#include "runtime/base/assert.h"
#include "runtime/base/small.h"
#include "runtime/time/wheel.h"

#include "runtime/base/banned.h"

#define RT_TIMERS_MAGIC 0x52544d53u
#define RT_TIMER_MAGIC 0x5254494du
#define RT_TIMERS_BITS_MAX 6u

/* The first deadline of a list that is in order; RT_NEVER of an empty one. */
static uint64_t
first_deadline(const struct rt_list *list)
{
    return rt_list_empty(list) ? RT_NEVER : rt__wheel_timer(list->next)->deadline_ns;
}

/* Computes the earliest deadline. What is pending or overdue is before the whole wheel. */
static uint64_t
find_earliest(const struct rt_timers *timers)
{
    uint64_t pending_ns = first_deadline(&timers->pending);
    uint64_t overdue_ns = first_deadline(&timers->overdue);
    uint64_t earliest_ns = pending_ns < overdue_ns ? pending_ns : overdue_ns;
    return earliest_ns != RT_NEVER ? earliest_ns : rt__wheel_earliest(timers);
}

static uint64_t
know_earliest(struct rt_timers *timers)
{
    if (!timers->earliest_known) {
        timers->earliest_ns = find_earliest(timers);
        timers->earliest_known = true;
    }
    return timers->earliest_ns;
}

/* Before a change: the earliest deadline, where a listener needs to know whether it changes. */
static uint64_t
earliest_before(struct rt_timers *timers)
{
    return timers->on_earliest != NULL ? know_earliest(timers) : RT_NEVER;
}

/* After a change: calls the listener (M12). Last, because it may call back into the timers. */
static void
notify_earliest(struct rt_timers *timers, uint64_t before_ns)
{
    if (timers->on_earliest != NULL && know_earliest(timers) != before_ns) {
        timers->on_earliest(timers->argument, timers->earliest_ns);
    }
}

static void
verify(const struct rt_timers *timers)
{
#ifdef RT_VERIFY
    rt_timers_audit(timers);
#else
    (void)timers;
#endif
}

/* Gives `timer` its deadline, rounded up to a tick (M5); RT_NEVER when the clock cannot hold that.
 * Returns the tick, so that there is one division. */
static inline uint64_t
round_up(const struct rt_timers *timers, struct rt_timer *timer, uint64_t deadline_ns)
{
    uint64_t tick_ns = rt__wheel_tick_ns(timers);
    timer->deadline_ns = deadline_ns;
    if (deadline_ns == RT_NEVER || tick_ns == 1) {
        return deadline_ns;
    }
    uint64_t tick = deadline_ns / tick_ns;
    uint64_t beyond_ns = deadline_ns - tick * tick_ns;
    if (beyond_ns == 0) {
        return tick;
    }
    timer->deadline_ns = rt_deadline(deadline_ns, tick_ns - beyond_ns);
    return tick + 1;
}

/* Inserts `timer` into a list, in order. Mostly it is the last: the walk is short. */
static void
put_in_order(struct rt_list *list, struct rt_timer *timer)
{
    struct rt_list *before = list->prev;
    while (before != list && rt__wheel_before(timer, rt__wheel_timer(before))) {
        before = before->prev;
    }
    rt_list_push_front(before, &timer->link);
}

static void
put_overdue(struct rt_timers *timers, struct rt_timer *timer)
{
    put_in_order(&timers->overdue, timer);
    timer->place = RT_TIMER_OVERDUE;
}

static void
put(struct rt_timers *timers, struct rt_timer *timer, uint64_t tick)
{
    rt_assert(timer->place == RT_TIMER_IDLE);
    if (timer->deadline_ns == RT_NEVER) {
        rt_list_push_back(&timers->endless, &timer->link);
        timer->place = RT_TIMER_ENDLESS;
    } else if (tick <= timers->elapsed) {
        put_overdue(timers, timer);
    } else {
        rt__wheel_put(timers, timer, tick);
    }
    timers->armed += 1;
    if (timers->earliest_known && timer->deadline_ns < timers->earliest_ns) {
        timers->earliest_ns = timer->deadline_ns;
    }
}

/* Removes an armed timer from the list or slot that it is in. */
static void
take(struct rt_timers *timers, struct rt_timer *timer)
{
    rt_assert(timers->armed > 0);
    rt_assert(timer->place != RT_TIMER_IDLE);
    if (timer->place == RT_TIMER_IN_WHEEL) {
        rt__wheel_remove(timers, timer);
    } else {
        rt_list_unlink(&timer->link);
        timer->place = RT_TIMER_IDLE;
    }
    timers->armed -= 1;
    if (timer->deadline_ns == timers->earliest_ns && timer->deadline_ns != RT_NEVER) {
        timers->earliest_known = false; /* Computed at the next use. */
    }
}

#ifdef RT_SMALL

/* Few timers, and nearly in order: this is 150 bytes less than what follows. */
static void
sort(struct rt_list *list)
{
    struct rt_list sorted;
    struct rt_list *link;
    rt_list_init(&sorted);
    while ((link = rt_list_pop_front(list)) != NULL) {
        put_in_order(&sorted, rt__wheel_timer(link));
    }
    rt_list_splice(list, &sorted);
}

#else

/* Moves the first node of `from`, which is not empty, after the last of `to`. */
static void
move_first(struct rt_list *from, struct rt_list *to)
{
    struct rt_list *link = from->next;
    rt_assert(link != from);
    rt_list_unlink(link);
    rt_list_push_back(to, link);
}

/* Moves the nodes at the front of `from` that are in order to `run`. */
static void
take_run(struct rt_list *from, struct rt_list *run)
{
    rt_assert(!rt_list_empty(from));
    rt_list_init(run);
    do {
        move_first(from, run);
    } while (!rt_list_empty(from) &&
             rt__wheel_before(rt__wheel_timer(run->prev), rt__wheel_timer(from->next)));
}

/* Appends two runs to `to` as one. Both are empty afterwards. */
static void
merge_runs(struct rt_list *to, struct rt_list *a, struct rt_list *b)
{
    while (!rt_list_empty(a) && !rt_list_empty(b)) {
        bool b_first = rt__wheel_before(rt__wheel_timer(b->next), rt__wheel_timer(a->next));
        move_first(b_first ? b : a, to);
    }
    rt_list_splice(to, a);
    rt_list_splice(to, b);
}

/* A natural merge sort: slots come nearly in order, so one or two passes are the rule. */
static void
sort(struct rt_list *list)
{
    uint32_t runs;
    do {
        struct rt_list sorted;
        rt_list_init(&sorted);
        for (runs = 0; !rt_list_empty(list); runs++) {
            struct rt_list a;
            struct rt_list b;
            take_run(list, &a);
            rt_list_init(&b);
            if (!rt_list_empty(list)) {
                take_run(list, &b);
            }
            merge_runs(&sorted, &a, &b);
        }
        rt_list_splice(list, &sorted);
    } while (runs > 1);
}

#endif

/* Moves everything due to `pending`. It may hold some already, when a waker fires timers. */
static void
collect(struct rt_timers *timers)
{
    rt_list_each(link, &timers->overdue)
    {
        rt__wheel_timer(link)->place = RT_TIMER_PENDING;
    }
    rt_list_splice(&timers->pending, &timers->overdue);
    rt__wheel_advance(timers, timers->last_ns / rt__wheel_tick_ns(timers), &timers->pending);
    sort(&timers->pending);
}

/* The next timer but one, early enough to prefetch what its wake needs. At the end of the list it
 * may be no timer: only its address is used. */
static inline const struct rt_timer *
after_next(const struct rt_list *list)
{
    return rt__wheel_timer(list->next->next->next);
}

/* Fires the first of `pending`. The timer is not touched after its wake: it may be freed. */
static void
fire(struct rt_timers *timers, const struct rt_site *await)
{
    struct rt_timer *timer = rt__wheel_timer(timers->pending.next);
    rt_assert(timer->place == RT_TIMER_PENDING);
    rt_assert(timer->deadline_ns <= timers->last_ns);
    RT_PREFETCH(&after_next(&timers->pending)->slot);
    take(timers, timer);
    RT_PROBE(EXPIRE, timer->object.id, RT_HERE, await, timer->deadline_ns);
    (void)rt_slot_wake_at(&timer->slot, await);
}

void
rt_timers_init(struct rt_timers *timers, const struct rt_timers_config *config)
{
    uint32_t levels = config->levels != 0 ? config->levels : RT_TIMERS_LEVELS;
    uint32_t bits = config->bits != 0 ? config->bits : RT_TIMERS_BITS;
    rt_assert(config->slots != NULL);
#ifdef RT_SMALL
    rt_assert(levels == RT_TIMERS_LEVELS && bits == RT_TIMERS_BITS && config->tick_ns <= 1);
#endif
    rt_assert(levels <= RT_TIMERS_LEVELS_MAX);
    rt_assert(bits <= RT_TIMERS_BITS_MAX);
    *timers = (struct rt_timers){
            .magic = RT_TIMERS_MAGIC,
            .levels = levels,
            .bits = bits,
            .tick_ns = config->tick_ns != 0 ? config->tick_ns : 1,
            .last_ns = config->start_ns,
            .earliest_ns = RT_NEVER,
            .earliest_known = true,
            .slots = config->slots,
            .on_earliest = config->on_earliest,
            .argument = config->argument,
    };
    timers->elapsed = timers->last_ns / rt__wheel_tick_ns(timers);
    rt_list_init(&timers->pending);
    rt_list_init(&timers->overdue);
    rt_list_init(&timers->endless);
}

void
rt_timers_fini(struct rt_timers *timers)
{
    rt_check(timers, RT_TIMERS_MAGIC);
    if (timers->armed != 0) {
        rt_fault(RT_E_IN_USE, "timers", "the wheel is ended while timers are armed");
    }
    verify(timers);
    timers->magic = 0;
}

void
rt_timer_init(struct rt_timer *timer)
{
    rt_assert(timer != NULL);
    *timer = (struct rt_timer){
            .object = {RT_TIMER_MAGIC, RT_PROBE_OBJECT(TIMER)},
            .deadline_ns = RT_NEVER,
            .place = RT_TIMER_IDLE,
    };
    rt_list_init(&timer->link);
    rt_slot_init(&timer->slot);
    timer->slot.owner = timer->object.id;
}

void
rt_timer_start_at(struct rt_timers *timers, struct rt_timer *timer, uint64_t deadline_ns,
        const struct rt_site *await)
{
    rt_check(timers, RT_TIMERS_MAGIC);
    rt_check(&timer->object, RT_TIMER_MAGIC);
    uint64_t before_ns = earliest_before(timers);
    if (timer->place != RT_TIMER_IDLE) {
        take(timers, timer);
    }
    uint64_t tick = round_up(timers, timer, deadline_ns);
    timer->start_order = timers->started;
    timers->started += 1;
    put(timers, timer, tick);
    RT_PROBE(ARM, timer->object.id, RT_HERE, await, timer->deadline_ns);
    verify(timers);
    notify_earliest(timers, before_ns);
}

bool
rt_timer_cancel_at(struct rt_timers *timers, struct rt_timer *timer, const struct rt_site *await)
{
    rt_check(timers, RT_TIMERS_MAGIC);
    rt_check(&timer->object, RT_TIMER_MAGIC);
    uint64_t before_ns = earliest_before(timers);
    bool armed = timer->place != RT_TIMER_IDLE;
    if (armed) {
        take(timers, timer);
        RT_PROBE(DISARM, timer->object.id, RT_HERE, await, timer->deadline_ns);
    }
    verify(timers);
    (void)rt_slot_clear_at(&timer->slot, await);
    notify_earliest(timers, before_ns);
    return armed;
}

uint64_t
rt_timers_next(const struct rt_timers *timers)
{
    rt_check(timers, RT_TIMERS_MAGIC);
    return timers->earliest_known ? timers->earliest_ns : find_earliest(timers);
}

uint32_t
rt_timers_process_at(struct rt_timers *timers, uint64_t now_ns, const struct rt_site *await)
{
    rt_check(timers, RT_TIMERS_MAGIC);
    uint32_t fired = 0;
    timers->last_ns = now_ns > timers->last_ns ? now_ns : timers->last_ns; /* M11 */
    collect(timers);
    verify(timers);
    while (!rt_list_empty(&timers->pending)) {
        fire(timers, await);
        fired += 1;
    }
    (void)know_earliest(timers); /* So that rt_timers_next need not compute it. */
    verify(timers);
    return fired;
}

uint64_t
rt_deadline(uint64_t now_ns, uint64_t duration_ns)
{
    return duration_ns < RT_NEVER - now_ns ? now_ns + duration_ns : RT_NEVER;
}

/* Checks a list outside the wheel, and returns how many timers it holds. */
static uint32_t
audit_list(const struct rt_timers *timers, const struct rt_list *list, enum rt_timer_place place)
{
    uint32_t count = 0;
    rt_list_each(link, list)
    {
        const struct rt_timer *timer = rt__wheel_timer(link);
        rt_assert(link->next->prev == link);
        rt_assert(timer->object.magic == RT_TIMER_MAGIC);
        rt_assert(timer->place == place);
        rt_assert((timer->deadline_ns == RT_NEVER) == (place == RT_TIMER_ENDLESS));
        rt_assert(place == RT_TIMER_ENDLESS || timer->deadline_ns <= timers->last_ns);
        rt_assert(link->next == list || rt__wheel_before(timer, rt__wheel_timer(link->next)));
        count += 1;
    }
    return count;
}

void
rt_timers_audit(const struct rt_timers *timers)
{
    rt_check(timers, RT_TIMERS_MAGIC);
    rt_assert(timers->elapsed == timers->last_ns / rt__wheel_tick_ns(timers));
    uint32_t count = rt__wheel_audit(timers);
    count += audit_list(timers, &timers->pending, RT_TIMER_PENDING);
    count += audit_list(timers, &timers->overdue, RT_TIMER_OVERDUE);
    count += audit_list(timers, &timers->endless, RT_TIMER_ENDLESS);
    rt_assert(count == timers->armed);
    rt_assert(!timers->earliest_known || timers->earliest_ns == find_earliest(timers));
}
