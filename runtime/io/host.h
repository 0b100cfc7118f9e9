/*
 * host.h -- the seam: everything the runtime needs from the world outside.
 *
 * A host has a clock and pollables. A pollable is interest in one event: a deadline
 * of the clock, "there is something to read", "a notification came". It is queried
 * with `ready`, waited for with `poll`, and level-triggered: ready until its
 * event has been taken (P8). The model is WASI 0.2's `wasi:io/poll`.
 *
 * `poll` has no timeout. A caller that must wake up at a deadline puts a clock
 * pollable into the list, so the list is never empty while anything is waited for; an
 * empty list is a fault of the caller (P3). A host over epoll turns that entry
 * into a timeout.
 *
 * Everything outside the core implements this: the simulator's fake host, and
 * hosts over real systems. The core includes no system header.
 *
 * Ownership. A pollable's memory is the caller's; it is pinned from subscribe to
 * drop. A host outlives its pollables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_HOST_H
#define RT_IO_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_host;

struct rt_pollable {
    struct rt_object object; /* object.id: of what is waited for, where the host has a name. */
    struct rt_host *host;    /* NULL: not subscribed. */
    uint64_t handle;         /* The host's own. */
};

/* What the runtime itself subscribes to; a host's own sources have their own calls. */
enum rt_subscribe {
    RT_SUBSCRIBE_INSTANT, /* argument: a deadline on the host's clock, ns */
    RT_SUBSCRIBE_NOTIFY   /* ready once rt_host_ops.notify was called; taken by its report */
};

struct rt_host_ops {
    /* The clock, ns; never goes backwards (M15). UINT64_MAX is never reached (M4). */
    uint64_t (*now)(struct rt_host *host);

    /* Makes *pollable. RT_E_FULL; RT_E_INVALID for what the host does not have. An instant that is
     * past is ready at once, or at the second query at the latest (M15, P10). */
    rt_err (*subscribe)(struct rt_host *host, enum rt_subscribe what, uint64_t argument,
            struct rt_pollable *pollable);

    /* Whether it is ready now. Never blocks; no effect that others can see (P7). */
    bool (*ready)(struct rt_host *host, const struct rt_pollable *pollable);

    /*
     * Blocks until at least one of in[0 .. count-1] is ready, and writes the indices of ready ones
     * to ret_indices (`count` elements), their number, at least 1, to *ret_ready (P4); each index
     * once. The same pollable may be in the list twice, at two indices (P5). The order of indices
     * means nothing, and ready ones may be missing: a later poll reports them (P6). A broken source
     * counts as ready, and its own call reports the error: only RT_OK is an answer (P4).
     * An empty list is refused: a strict host traps, another answers RT_E_EMPTY_POLL (P3).
     */
    rt_err (*poll)(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
            uint32_t *ret_indices, uint32_t *ret_ready);

    /* Drops the pollable. */
    void (*drop)(struct rt_host *host, struct rt_pollable *pollable);

    /* Makes the NOTIFY pollable ready, and so a blocked `poll` return; callable from anywhere (D8).
     * Many calls before the report count as one. */
    void (*notify)(struct rt_host *host);
};

/* Embedded first in a host's own struct. */
struct rt_host {
    uint32_t magic;                /* RT_HOST_MAGIC */
    const struct rt_host_ops *ops; /* Constant: any thread notifies. */
    /* The `now` and `ready` of the host's own thread while a watchdog polls a task; else NULL. */
    const struct rt_host_ops *frozen;
};

#define RT_HOST_MAGIC 0x52484f53u
#define RT_POLLABLE_MAGIC 0x52504f4cu

/* The calls, with their contract checked on both sides: a host that breaks it is a panic, a caller
 * a fault, RT_E_INVALID (a pollable of another host, or of none). Signatures and meaning as in
 * rt_host_ops. */
uint64_t rt_host_now(struct rt_host *host);
RT_MUST_CHECK rt_err rt_host_subscribe(struct rt_host *host, enum rt_subscribe what,
        uint64_t argument, struct rt_pollable *pollable);
RT_MUST_CHECK rt_err rt_host_poll(struct rt_host *host, struct rt_pollable *const *in,
        uint32_t count, uint32_t *ret_indices, uint32_t *ret_ready);
void rt_host_notify(struct rt_host *host);

bool rt_pollable_ready(const struct rt_pollable *pollable);

/* Drops it; a pollable that is not subscribed is left alone. */
void rt_pollable_drop(struct rt_pollable *pollable);

/* A pollable that is ready `duration_ns` from now / at `deadline_ns` (S1). Saturates to never
 * (M4). */
RT_MUST_CHECK rt_err rt_subscribe_duration(
        struct rt_host *host, uint64_t duration_ns, struct rt_pollable *pollable);
RT_MUST_CHECK rt_err rt_subscribe_instant(
        struct rt_host *host, uint64_t deadline_ns, struct rt_pollable *pollable);

#ifdef __cplusplus
}
#endif
#endif
