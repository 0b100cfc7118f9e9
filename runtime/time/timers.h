/*
 * timers.h -- deadlines, and the order in which they come due: a hierarchical wheel.
 *
 * Level k has 2^bits slots, each 2^(bits*k) ticks wide. A timer is at the level
 * of the highest digit in which its deadline differs from the time reached so far
 * (`elapsed`); when time enters its slot it is put again, one level lower, until it
 * is due (M8). A deadline beyond the top level waits in the top level for more than
 * one turn (M9). One bit per slot says whether it holds a timer, so the next
 * deadline and the next slot are found without walking, and a slot whose bit is
 * clear is never read: initialising a wheel costs nothing.
 *
 *      level 2   [    ][    ][ x  ][    ]      one slot = one turn of level 1
 *      level 1   [ x  ][    ][ xx ][    ]      one slot = one turn of level 0
 *      level 0   [    ][ x  ][    ][    ]      one slot = one tick
 *
 * The wheel has no clock: `now_ns` is always an argument, so it runs on a
 * simulated clock as on a real one.
 *
 * Order. Timers come due by deadline, equal deadlines in the order in which they
 * were started (M3), also when time jumps over many of them at once (M10).
 *
 * Firing. rt_timers_process first moves what is due to a separate list, then
 * wakes from it one by one; a waker may start and cancel timers, those of the
 * list included (M6, W7). What is started for now or earlier during that waits
 * for the next call (M10).
 *
 * Small machines. Built with -DRT_SMALL every wheel has RT_TIMERS_LEVELS levels, RT_TIMERS_BITS
 * bits and ticks of 1, which are then constants and cost no division; a config that asks for
 * another shape is an assertion.
 *
 * Ownership. The caller provides the slots; a timer is pinned while it is armed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TIME_TIMERS_H
#define RT_TIME_TIMERS_H

#include "runtime/task/slot.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_NEVER UINT64_MAX

#define RT_TIMERS_LEVELS_MAX 11u
#ifndef RT_TIMERS_LEVELS
#define RT_TIMERS_LEVELS 6u /* The default: 6 levels of 64 slots. */
#define RT_TIMERS_BITS 6u
#endif
#define RT_TIMERS_SLOTS(levels, bits) ((levels) << (bits))

/* Which list or slot a timer is in. Only one IN_WHEEL is in a slot. */
enum rt_timer_place {
    RT_TIMER_IDLE,
    RT_TIMER_IN_WHEEL,
    RT_TIMER_PENDING, /* Taken out to be fired, and not yet fired. */
    RT_TIMER_OVERDUE, /* Started when its deadline was past; for the next rt_timers_process. */
    RT_TIMER_ENDLESS  /* Never due (M4). */
};

struct rt_timers;

struct rt_timer {
    struct rt_object object;
    struct rt_list link;
    uint64_t deadline_ns; /* Rounded up to a tick; RT_NEVER when that is not on the clock. */
    uint64_t start_order; /* Ties: the smaller one fires first. */
    uint8_t place;        /* enum rt_timer_place */
    uint8_t level;        /* Where the timer was put: read at removal, never computed again. */
    uint16_t index;
    struct rt_slot slot; /* The waker. */
};

struct rt_timers_config {
    struct rt_list **slots; /* RT_TIMERS_SLOTS(levels, bits) of them; need not be initialised. */
    uint32_t levels;        /* 0: RT_TIMERS_LEVELS. At most RT_TIMERS_LEVELS_MAX. */
    uint32_t bits;          /* 0: RT_TIMERS_BITS. At most 6. */
    uint64_t tick_ns;       /* 0 or 1: every nanosecond. Deadlines are rounded up to it (M5). */
    uint64_t start_ns;      /* The time reached so far; deadlines at or before it are past. */
    /* Called with the new earliest deadline whenever it changes by a start or a cancel; RT_NEVER
     * when the last timer is gone (M12). Firing changes it without a call: use rt_timers_next
     * afterwards. NULL: no listener. */
    void (*on_earliest)(void *argument, uint64_t deadline_ns);
    void *argument;
};

struct rt_timers {
    uint32_t magic;
    uint32_t levels;
    uint32_t bits;
    uint32_t armed; /* Timers not IDLE. */
    uint64_t tick_ns;
    uint64_t elapsed;     /* Ticks: everything up to here has been processed. */
    uint64_t last_ns;     /* The latest time ever seen (M11). */
    uint64_t started;     /* Start orders given so far. */
    uint64_t earliest_ns; /* The earliest deadline, where earliest_known. */
    bool earliest_known;
    uint64_t occupied[RT_TIMERS_LEVELS_MAX];
#ifndef RT_SMALL
    uint64_t unled[RT_TIMERS_LEVELS_MAX]; /* Slots whose first timer may not be the earliest. */
#endif
    struct rt_list **slots;
    struct rt_list pending; /* By deadline, then start order; so is `overdue`. */
    struct rt_list overdue;
    struct rt_list endless;
    void (*on_earliest)(void *argument, uint64_t deadline_ns);
    void *argument;
};

/* Makes an empty wheel. `config` is copied; the slots are borrowed. */
void rt_timers_init(struct rt_timers *timers, const struct rt_timers_config *config);

/* Ends it. Timers still armed: fault RT_E_IN_USE (M14). */
void rt_timers_fini(struct rt_timers *timers);

/* Makes an idle timer. */
void rt_timer_init(struct rt_timer *timer);

/*
 * Arms `timer`; one that is armed is moved to the new deadline and counts as started now (M7). The
 * waker in timer->slot is woken when it comes due. A deadline at or before the time reached is due
 * at the next rt_timers_process. RT_NEVER: never due (M4), as is a deadline whose tick is beyond
 * the clock's range.
 */
#define rt_timer_start(timers, timer, deadline_ns) \
    rt_timer_start_at((timers), (timer), (deadline_ns), RT_HERE)
void rt_timer_start_at(struct rt_timers *timers, struct rt_timer *timer, uint64_t deadline_ns,
        const struct rt_site *await);

/*
 * Disarms it and empties its slot without a wake, in constant time. True iff it was armed (M6).
 * With a listener (on_earliest), and if it was the earliest, the next one is computed first.
 */
#define rt_timer_cancel(timers, timer) rt_timer_cancel_at((timers), (timer), RT_HERE)
bool rt_timer_cancel_at(
        struct rt_timers *timers, struct rt_timer *timer, const struct rt_site *await);

/* The exact earliest deadline (rounded up to a tick), or RT_NEVER (M12). */
uint64_t rt_timers_next(const struct rt_timers *timers);

/*
 * Fires everything due at `now_ns`, inclusive (M1), and returns how many were fired. A clock that
 * went backwards is clamped to the latest time seen (M11).
 */
#define rt_timers_process(timers, now_ns) rt_timers_process_at((timers), (now_ns), RT_HERE)
uint32_t rt_timers_process_at(
        struct rt_timers *timers, uint64_t now_ns, const struct rt_site *await);

/* now + duration; RT_NEVER when that does not fit (M4). */
uint64_t rt_deadline(uint64_t now_ns, uint64_t duration_ns);

/* Walks everything; panics when the wheel contradicts itself. */
void rt_timers_audit(const struct rt_timers *timers);

#ifdef __cplusplus
}
#endif
#endif
