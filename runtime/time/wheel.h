/*
 * wheel.h -- the slots of the timer wheel; for timers.c alone.
 *
 * Times are in ticks here. Everything in the wheel lies after `elapsed`; what is
 * due, overdue or endless is in lists that timers.c keeps.
 *
 * Invariant: a timer's slot is a function of its deadline and of `elapsed`
 * alone. Time that advances without entering a timer's slot changes nothing
 * above the digit in which the two differ, so the slot stays what it would be
 * if the timer were put now. Equal deadlines are therefore always in one slot,
 * and putting them again oldest first keeps them in their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TIME_WHEEL_H
#define RT_TIME_WHEEL_H

#include "runtime/time/timers.h"

/* The timer that `link` is in. */
static inline struct rt_timer *
rt__wheel_timer(struct rt_list *link)
{
    return rt_container_of(link, struct rt_timer, link);
}

/* The shape of the wheel: constants where the build fixes it. */
#ifdef RT_SMALL
#define rt__wheel_levels(timers) ((void)(timers), RT_TIMERS_LEVELS)
#define rt__wheel_bits(timers) ((void)(timers), RT_TIMERS_BITS)
#define rt__wheel_tick_ns(timers) ((void)(timers), UINT64_C(1))
#else
#define rt__wheel_levels(timers) ((timers)->levels)
#define rt__wheel_bits(timers) ((timers)->bits)
#define rt__wheel_tick_ns(timers) ((timers)->tick_ns)
#endif

/* The tick that `time_ns` lies in. A division costs as much as half a start, and with ticks of a
 * nanosecond there is nothing to divide. */
static inline uint64_t
rt__wheel_tick(const struct rt_timers *timers, uint64_t time_ns)
{
    return rt__wheel_tick_ns(timers) == 1 ? time_ns : time_ns / rt__wheel_tick_ns(timers);
}

/* True when `a` comes due before `b` (M3). */
static inline bool
rt__wheel_before(const struct rt_timer *a, const struct rt_timer *b)
{
    return a->deadline_ns != b->deadline_ns ? a->deadline_ns < b->deadline_ns
                                            : a->start_order < b->start_order;
}

/* Puts an idle `timer`, whose deadline's tick lies after `elapsed`, into its slot. */
void rt__wheel_put(struct rt_timers *timers, struct rt_timer *timer, uint64_t tick);

/* Takes a timer out of the slot that it was put into. It is idle afterwards. */
void rt__wheel_remove(struct rt_timers *timers, struct rt_timer *timer);

/* Advances the time to `now`, and moves everything due by then, in any order, to `due`, PENDING. */
void rt__wheel_advance(struct rt_timers *timers, uint64_t now, struct rt_list *due);

/* The earliest deadline in the wheel, ns, or RT_NEVER. */
uint64_t rt__wheel_earliest(const struct rt_timers *timers);

/* Walks all slots, and returns how many timers there are. */
uint32_t rt__wheel_audit(const struct rt_timers *timers);

#endif
