/*
 * timeout.h -- a future with a time limit.
 *
 * The inner future is polled first: one that is ready at the deadline is ready (J12).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_TIMEOUT_H
#define RT_COMPOSE_TIMEOUT_H

#include "runtime/compose/future.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_timeout {
    struct rt_future future;
    struct rt_future *inner;
    struct rt_sleep sleep;
    bool expired; /* After READY: the time was up, the inner future was dropped. */
};

/* Gives `inner` (borrowed, pinned) `duration_ns` from the first poll on; RT_NEVER: forever. */
void rt_timeout_init(struct rt_timeout *timeout, struct rt_future *inner, uint64_t duration_ns);

/* READY when the inner future is, or when the time is up; `timeout->expired` says which. */
#define rt_timeout_poll(timeout, cx) rt_timeout_poll_at((timeout), (cx), RT_HERE)
rt_poll rt_timeout_poll_at(
        struct rt_timeout *timeout, struct rt_cx *cx, const struct rt_site *await);

/* Drops both. */
void rt_timeout_drop(struct rt_timeout *timeout);

#ifdef __cplusplus
}
#endif
#endif
