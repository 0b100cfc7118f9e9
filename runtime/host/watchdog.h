/*
 * watchdog.h -- the rewake oracle in production: are there tasks that should have been woken?
 *
 * Every `idle_ns` the watchdog takes each task that has not been polled for that long, and polls it
 * once more, spuriously. A correct task finds nothing new and answers PENDING. One that makes
 * progress has lost its wake: the watchdog reports it with the ledger of its wait (which slot, what
 * for, which line stored the waker), and the task runs on, as if it had been woken.
 *
 *      sleep idle_ns ─▶ for each task: asleep, and not polled since the last scan?
 *                          └▶ wake it, and poll it with the world frozen ─▶ report, or nothing
 *
 * Progress. The poll answers READY, parks, wakes a task, or waits elsewhere than before; of the
 * last three only what a second poll right after does not repeat, for a task may make its futures
 * again in each poll.
 *
 * No false report. A task is polled only while no other is woken, and what may change by itself is
 * frozen meanwhile: the clock stays at the tick of the timers, no pollable is ready that was not
 * reported, no completion is reaped. So whatever the poll finds was there when the runtime had
 * nothing left to do. Two things remain, and the report says `foreign` for the first: a thread that
 * changed something and is about to wake (only while the runtime is held, rt_runtime_hold; a task
 * that is woken within another `idle_ns` is not reported), and a poll function that reads a
 * descriptor or a clock past the host.
 *
 * Cost. Nothing while it is not started. Then one poll of each idle task in `idle_ns`, and two
 * words of memory for each.
 *
 * A program with a watchdog has a timer at all times, so it is never RT_E_DEADLOCK (D5).
 *
 * Ownership. Pinned from start to stop; borrows the runtime and `seen` for that time. Everything on
 * the runtime's own thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_WATCHDOG_H
#define RT_HOST_WATCHDOG_H

#include <stddef.h>

#include "runtime/runtime.h"

#define RT_WATCHDOG_WAITS 8u /* Of a task: more are counted, and not described. */

/* One thing that a task waited for. */
struct rt_watchdog_wait {
    const struct rt_slot *slot;
    const char *reason;          /* As given to the store; may be NULL. */
    const struct rt_site *site;  /* Where the waker was stored … */
    const struct rt_site *await; /* … and the caller's line; both NULL with -DRT_SMALL. */
};

struct rt_watchdog_report {
    const char *task;   /* Its name. */
    uint64_t waited_ns; /* At least. */
    bool finished;      /* The poll answered READY, or parked: the task is gone. */
    bool foreign;       /* The runtime is held: a wake from another thread may be under way. */
    uint32_t wait_count;
    struct rt_watchdog_wait waits[RT_WATCHDOG_WAITS];
};

/* One for each entry of the executor; need not be initialised. */
struct rt_watchdog_seen {
    uint32_t generation; /* Of the task's key; 0: no task was asleep here. */
    rt_count polls;
};

struct rt_watchdog_config {
    struct rt_runtime *runtime;
    uint64_t idle_ns;              /* 0: one second. */
    struct rt_watchdog_seen *seen; /* As many as the executor's capacity. */
    void (*report)(void *argument, const struct rt_watchdog_report *report); /* Not NULL. */
    void *argument;
};

struct rt_watchdog {
    struct rt_watchdog_config config;
    struct rt_task task; /* A background task. */
    struct rt_sleep sleep;
    bool scanning;
    uint32_t next;           /* The entry to inspect next in this scan. */
    struct rt_task *watched; /* Its next poll is ours; NULL: none. */
    rt_poll_fn poll;         /* Of that task. */
    rt_count polled;         /* The executor's counts when it was woken … */
    rt_count wakes;          /* … of polls and of wakes. */
    bool held;               /* `pending` waits for the end of another period … */
    struct rt_key key;       /* … and whether this task … */
    rt_count polls;          /* … is polled in it more often than the check explains. */
    struct rt_watchdog_report pending;
    uint64_t checked; /* Spurious polls so far … */
    uint64_t found;   /* … and reports. */
};

/* Starts it: posts its task. RT_E_FULL and others, as rt_post. */
RT_MUST_CHECK rt_err rt_watchdog_start(
        struct rt_watchdog *watchdog, const struct rt_watchdog_config *config);

/* Stops it; a report that waits for its second period is made now. Not from inside a poll. */
void rt_watchdog_stop(struct rt_watchdog *watchdog);

/*
 * Writes the report as text into `text` (`size` bytes, always terminated; what does not fit is cut
 * off), one line a wait, without a newline at the end.
 */
void rt_watchdog_describe(const struct rt_watchdog_report *report, char *text, size_t size);

#endif
