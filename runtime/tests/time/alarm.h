/*
 * alarm.h -- timers for tests: each wake is written down, and may do something.
 *
 * An alarm is a timer with a foreign waker in its slot. When it goes off its name
 * is appended to the bench's log and `then` is called, from inside the firing, as
 * the most ill-behaved waker would: it may start, cancel, process, free.
 *
 * The slots that the wheel borrows are filled with rubbish first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_TIME_ALARM_H
#define RT_TESTS_TIME_ALARM_H

#include "runtime/task/executor.h"
#include "runtime/time/timers.h"

struct alarm_bench;

struct alarm {
    struct rt_timer timer;
    struct alarm_bench *bench;
    char name;
    uint32_t wakes;
    uint32_t held; /* Wakers of it that were cloned, and neither woken nor dropped. */
    void (*then)(struct alarm *alarm);
    struct alarm *other; /* For `then`. */
    uint64_t again_ns;   /* For `then`. */
};

struct alarm_bench {
    struct rt_executor executor;
    struct rt_slab_entry entries[1];
    struct rt_sched_link links[1];
    struct rt_task task;
    struct rt_list *slots[RT_TIMERS_SLOTS(RT_TIMERS_LEVELS_MAX, 6)];
    struct rt_timers timers;
    char log[256];        /* Names, in the order of the wakes, since the last alarm_process. */
    uint32_t reports;     /* Calls of on_earliest so far … */
    uint64_t reported_ns; /* … and the argument of the last one. */
};

/* An empty wheel that reports its earliest deadline to the bench. */
void alarm_bench_init(struct alarm_bench *bench, uint32_t levels, uint32_t bits, uint64_t tick_ns,
        uint64_t start_ns);

void alarm_init(struct alarm *alarm, struct alarm_bench *bench, char name);

/* Stores a waker and starts the timer; audits. */
void alarm_start(struct alarm *alarm, uint64_t deadline_ns);

/* Cancels the timer; audits. */
bool alarm_cancel(struct alarm *alarm);

/* Empties the log, fires what is due, audits. */
uint32_t alarm_process(struct alarm_bench *bench, uint64_t now_ns);

/* Ready-made `then`s. */
void alarm_then_start_again(struct alarm *alarm);  /* at again_ns */
void alarm_then_cancel_other(struct alarm *alarm); /* which must be armed */
void alarm_then_scribble(struct alarm *alarm);     /* over the alarm's memory */

#endif
