/*
 * waker.h -- two words that have a task polled again.
 *
 * A waker is a vtable and a data word. It can be copied to where an event will
 * come from, and woken there; the runtime makes its own, and libraries build
 * theirs around it (a join has one per child). The holder of a waker owns one
 * reference: it either wakes it (which consumes it) or drops it, exactly once
 * (W1: clones + 1 = wakes + drops).
 *
 * The runtime's own waker holds no pointer to its task. Its vtable lies in the
 * executor, its data word is a generational key of the executor's target slab
 * (target.h); the wake of a task that is gone, however long, is a no-op (T8), and
 * a task may be freed while clones of its waker still exist.
 *
 * An all-zero waker is *null*: it may be dropped and woken, and does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_WAKER_H
#define RT_TASK_WAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_waker_vt;

struct rt_waker {
    const struct rt_waker_vt *vt; /* NULL: the null waker. */
    uintptr_t data;
};

/*
 * What a waker does. All four are called with no lock held and may re-enter the
 * runtime. `await` is the calling line, for the watcher; pass it on.
 */
struct rt_waker_vt {
    /* A second waker with a separate reference. */
    struct rt_waker (*clone)(const struct rt_waker *waker, const struct rt_site *await);
    /* Wakes and gives the reference back. */
    void (*wake)(struct rt_waker waker, const struct rt_site *await);
    /* Wakes and keeps the reference. */
    void (*wake_by_ref)(const struct rt_waker *waker, const struct rt_site *await);
    /* Gives the reference back. */
    void (*drop)(struct rt_waker waker, const struct rt_site *await);
};

#define RT_WAKER_NULL ((struct rt_waker){0, 0})

/* A waker that does nothing, ever. Static; clones and drops cost nothing (S1). */
struct rt_waker rt_waker_noop(void);

static inline bool
rt_waker_is_null(const struct rt_waker *waker)
{
    return waker->vt == 0;
}

/* True when waking one is waking the other. False proves nothing (W2). */
static inline bool
rt_waker_will_wake(const struct rt_waker *a, const struct rt_waker *b)
{
    return a->vt == b->vt && a->data == b->data;
}

/* A second waker for the same target. The caller owns it. The clone of null is null. */
#define rt_waker_clone(waker) rt_waker_clone_at((waker), RT_HERE)
struct rt_waker rt_waker_clone_at(const struct rt_waker *waker, const struct rt_site *await);

/* Wakes, and takes the caller's reference: `*waker` is null before any other code runs. */
#define rt_waker_wake(waker) rt_waker_wake_at((waker), RT_HERE)
void rt_waker_wake_at(struct rt_waker *waker, const struct rt_site *await);

/* Wakes; the caller keeps its reference. */
#define rt_waker_wake_by_ref(waker) rt_waker_wake_by_ref_at((waker), RT_HERE)
void rt_waker_wake_by_ref_at(const struct rt_waker *waker, const struct rt_site *await);

/* Takes the caller's reference without a wake: `*waker` is null afterwards. */
#define rt_waker_drop(waker) rt_waker_drop_at((waker), RT_HERE)
void rt_waker_drop_at(struct rt_waker *waker, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
