/*
 * target.h -- what the runtime's wakers point at.
 *
 * A target is an entry of the executor's slab with a function to call when it is
 * woken. A task is one; a combinator that wants to know *which* child was woken
 * has one per child. The wakers of a target carry its key, so a waker that
 * outlives its target does nothing (T8, J4), even when the memory was reused.
 *
 * Ownership. A target is embedded in its owner and pinned while it is open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_TARGET_H
#define RT_TASK_TARGET_H

#include "runtime/base/slab.h"
#include "runtime/task/waker.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_executor;

struct rt_target {
    struct rt_key key; /* {0, 0} while closed. */
    uint32_t clones;   /* Wakers of this target that exist. */
    uint32_t name;     /* For traces: the object that a wake of this target names. */
    struct rt_executor *executor;
    /* Called at each wake, with no lock held. `await`: the line that woke; pass it on. */
    void (*woken)(struct rt_target *target, const struct rt_site *await);
};

/*
 * Opens `target`, all zero or closed, on `executor`: from now on its wakers call `woken`. The
 * caller sets `name`, before or after.
 * RT_E_FULL when the executor has too few entries; nothing has changed then.
 */
RT_MUST_CHECK rt_err rt_target_open(struct rt_target *target, struct rt_executor *executor,
        void (*woken)(struct rt_target *target, const struct rt_site *await));

/* Closes it: its remaining wakers do nothing any more. Closed already: no-op. */
void rt_target_close(struct rt_target *target);

/* The target's waker, borrowed: no reference is counted. Clone it to keep it. */
struct rt_waker rt_target_waker(const struct rt_target *target);

/* The open target that `waker` wakes, or NULL: another kind of waker, or a target that is gone. */
struct rt_target *rt_waker_target(const struct rt_waker *waker);

#ifdef __cplusplus
}
#endif
#endif
