/*
 * remote.h -- waking and cancelling a task of another shard.
 *
 * A waker of an executor belongs to its thread (W4). Other threads get a name: the shard,
 * and the key of the task. A wake through it is a message (X4), but one that no full lane can
 * block: each entry of the executor's slab has a cell, and the cell is what travels.
 *
 *      cell    0 ──ask: push, notify─▶ asked ──loop takes it──▶ 0, and the task is looked up
 *                                      │ ▲
 *                                      └─┘ ask again: nothing to push or notify (coalesced)
 *
 * A name of a task that is gone has no effect (X6): it is refused in the cell, when a younger
 * task of the same entry has a request there, or at the look-up.
 *
 * T12. A remote waker is no registration: the task must store its wait in a slot as well, as
 * rt_remote_wait does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_REMOTE_H
#define RT_SHARD_REMOTE_H

#include <stdint.h>

#include "runtime/base/atomic.h"
#include "runtime/shard/inbox.h"
#include "runtime/task/cx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_shard;

/* One for each entry of the shard's executor. */
struct rt_remote_cell {
    struct rt_inbox_link link;
    RT_ATOMIC(uint64_t) asked; /* Generation and request bits; 0: in no list. */
};

/* The name of a task, good on every thread for as long as the shard exists. */
struct rt_remote {
    struct rt_shard *shard;
    struct rt_key key;
};

/* The name of `task`, posted on `shard`; to be called on the thread of its loop. */
struct rt_remote rt_remote_of(struct rt_shard *shard, const struct rt_task *task);

/* Any thread: wakes it. Gone: nothing happens (X6). */
void rt_remote_wake(const struct rt_remote *remote);

/* Any thread: cancels it, on its own shard (X1). Gone: nothing happens. */
void rt_remote_cancel(const struct rt_remote *remote);

/*
 * A waker of the polled task for use on any thread; clones and drops cost nothing. Until it is used
 * the task waits in `slot` for `reason`: another task waiting there is replaced.
 */
#define rt_remote_wait(shard, slot, cx, reason) \
    rt_remote_wait_at((shard), (slot), (cx), (reason), RT_HERE)
struct rt_waker rt_remote_wait_at(struct rt_shard *shard, struct rt_slot *slot, struct rt_cx *cx,
        const char *reason, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
