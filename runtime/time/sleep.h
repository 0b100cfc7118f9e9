/*
 * sleep.h -- a future that is ready at a deadline.
 *
 *      struct rt_sleep nap;
 *      rt_sleep_init(&nap, 50 * RT_MS);        // from the first poll on
 *      ...
 *      RT_AWAIT(rt_sleep_poll(&nap, cx));
 *
 * The deadline of a relative sleep is taken at its first poll; with ticks wider
 * than a nanosecond one tick is added, so that "n ticks" is never less (M5). A
 * deadline that is past is READY at once and registers nothing (M2). Only the task
 * that polled last is woken (W11). A clock that went backwards keeps its last
 * value, as for the timers (M11).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TIME_SLEEP_H
#define RT_TIME_SLEEP_H

#include "runtime/task/cx.h"
#include "runtime/time/timers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_US UINT64_C(1000)
#define RT_MS UINT64_C(1000000)
#define RT_SECOND UINT64_C(1000000000)

struct rt_sleep {
    struct rt_timer timer;
    uint64_t duration_ns;
    uint64_t deadline_ns; /* RT_NEVER until it is known, or forever. */
    bool has_deadline;
    bool finished;
    struct rt_timers *timers; /* Where it is armed; NULL before the first poll. */
};

/*
 * A sleep of `duration_ns` from its first poll on. 0: ready at once; RT_NEVER: never ready.
 *
 * Not while it is armed: rt_sleep_cancel first, for memory cannot tell a new sleep from one that
 * the wheel holds. For the same reason a task cancels its sleeps before their memory goes, in its
 * cleanup.
 */
void rt_sleep_init(struct rt_sleep *sleep, uint64_t duration_ns);

/* A sleep until `deadline_ns` on the host's clock. */
void rt_sleep_until(struct rt_sleep *sleep, uint64_t deadline_ns);

/* Takes the deadline of a relative sleep now, not at its first poll. Known already: no-op. */
void rt_sleep_begin(struct rt_sleep *sleep, const struct rt_cx *cx);

/*
 * READY once the deadline is reached; a further poll is fault RT_E_FINISHED (T20), as is one after
 * rt_sleep_cancel. Without timers (a bare executor): fault RT_E_INVALID. READY takes a unit of the
 * poll's budget (D12).
 */
#define rt_sleep_poll(sleep, cx) rt_sleep_poll_at((sleep), (cx), RT_HERE)
rt_poll rt_sleep_poll_at(struct rt_sleep *sleep, struct rt_cx *cx, const struct rt_site *await);

/* Drops it: the timer is disarmed, no task is woken. May be called at any time, also twice. */
#define rt_sleep_cancel(sleep) rt_sleep_cancel_at((sleep), RT_HERE)
void rt_sleep_cancel_at(struct rt_sleep *sleep, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
