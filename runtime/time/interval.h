/*
 * interval.h -- a future that is ready again and again, once a period.
 *
 * A tick is due at a scheduled time. When it is taken only later (a poll was long,
 * the thread was busy), the policy says where the schedule continues (M16).
 * Period 10, and the tick that was due at 20 is taken at 47:
 *
 *      due         0    10    20 . . . . . . 47
 *      BURST       0    10    20|30|40 at 47      50        60     missed ticks come at once
 *      DELAY       0    10    20 at 47                  57     67  a period from when it was taken
 *      SKIP        0    10    20 at 47           50        60      missed ticks are left out
 *
 * A tick that is taken registers nothing: the next one has a timer only once a task
 * waits for it (tokio#5553 woke a task that was not waiting).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TIME_INTERVAL_H
#define RT_TIME_INTERVAL_H

#include "runtime/time/sleep.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rt_missed {
    RT_MISSED_BURST, /* Each missed tick comes, without a pause, until the schedule is caught up. */
    RT_MISSED_DELAY, /* The schedule moves: a period from this tick on. */
    RT_MISSED_SKIP   /* The next tick of the old schedule after now. */
};

struct rt_interval {
    struct rt_sleep sleep; /* Until the next tick. */
    uint64_t period_ns;
    enum rt_missed missed;
    bool cancelled;
};

/*
 * Ticks at `first_ns` on the host's clock, which may be past, and every `period_ns` after it. A
 * period of 0 is fault RT_E_INVALID. A tick beyond the clock's range never comes (M4). As an
 * rt_sleep: not while it is armed.
 */
void rt_interval_init(
        struct rt_interval *interval, uint64_t first_ns, uint64_t period_ns, enum rt_missed missed);

/*
 * READY when a tick is due: `*ret_due_ns` (may be NULL) is its scheduled time, which can be before
 * now. May be polled again at once, for the next one. After rt_interval_cancel: fault
 * RT_E_FINISHED.
 */
#define rt_interval_poll(interval, cx, ret_due_ns) \
    rt_interval_poll_at((interval), (cx), (ret_due_ns), RT_HERE)
rt_poll rt_interval_poll_at(struct rt_interval *interval, struct rt_cx *cx, uint64_t *ret_due_ns,
        const struct rt_site *await);

/* The schedule begins again: the next tick is at `next_ns`. A waiting task is not woken by this,
 * and polls again before it takes effect. */
#define rt_interval_reset(interval, next_ns) rt_interval_reset_at((interval), (next_ns), RT_HERE)
void rt_interval_reset_at(
        struct rt_interval *interval, uint64_t next_ns, const struct rt_site *await);

/* The end: the timer is disarmed. May be called at any time, also twice. */
#define rt_interval_cancel(interval) rt_interval_cancel_at((interval), RT_HERE)
void rt_interval_cancel_at(struct rt_interval *interval, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
