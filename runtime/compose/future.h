/*
 * future.h -- something that can be polled until it is ready, and dropped before.
 *
 * The common head of what combinators hold. A user's future embeds it:
 *
 *      struct fetch { struct rt_future future; ... };
 *      static rt_poll fetch_poll(struct rt_future *future, struct rt_cx *cx);
 *      static void fetch_drop(struct rt_future *future);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_FUTURE_H
#define RT_COMPOSE_FUTURE_H

#include "runtime/task/cx.h"
#include "runtime/time/sleep.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_future;

typedef rt_poll (*rt_future_poll_fn)(struct rt_future *future, struct rt_cx *cx);
typedef void (*rt_future_drop_fn)(struct rt_future *future);

struct rt_future {
    uint32_t magic;
    bool finished;
    rt_future_poll_fn poll;
    rt_future_drop_fn drop; /* NULL: nothing to give back. */
    const char *name;       /* Borrowed; for people. */
};

void rt_future_init(
        struct rt_future *future, rt_future_poll_fn poll, rt_future_drop_fn drop, const char *name);

/* Polls it. A future that was READY before is fault RT_E_FINISHED (T20). PARKED is not for futures:
 * a fault as well. */
rt_poll rt_future_poll(struct rt_future *future, struct rt_cx *cx);

/* Drops it: calls `drop` once, unless it has finished. Polling it afterwards is a fault. */
void rt_future_drop(struct rt_future *future);

/* A sleep as a future. */
struct rt_sleep_future {
    struct rt_future future;
    struct rt_sleep sleep;
    const struct rt_site *await; /* For traces: the line that made it. */
};
#define rt_sleep_future_init(sleep, duration_ns) \
    rt_sleep_future_init_at((sleep), (duration_ns), RT_HERE)
void rt_sleep_future_init_at(
        struct rt_sleep_future *sleep, uint64_t duration_ns, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
