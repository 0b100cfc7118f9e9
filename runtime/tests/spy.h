/*
 * spy.h -- a waker from outside: it counts what is done to it, and may do something itself.
 *
 * `hook` is called at a clone, a wake or a drop, before the count; that is where a
 * test re-enters the runtime, as a foreign waker may (W7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_SPY_H
#define RT_TESTS_SPY_H

#include "runtime/task/waker.h"
#include "runtime/tests/test.h"

struct spy {
    unsigned clones;
    unsigned wakes;
    unsigned by_ref; /* Wakes by reference. */
    unsigned drops;
    const struct rt_site *await;              /* Of the last call. */
    void (*hook)(struct spy *spy, char what); /* 'c', 'w', 'l' or 'd'; NULL: none. */
    void *argument;
};

static inline struct spy *
spy_note(uintptr_t data, const struct rt_site *await, char what)
{
    struct spy *spy = (struct spy *)data;
    spy->await = await;
    if (spy->hook != NULL) {
        spy->hook(spy, what);
    }
    return spy;
}

static inline struct rt_waker
spy_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    spy_note(waker->data, await, 'c')->clones++;
    return *waker;
}

static inline void
spy_wake(struct rt_waker waker, const struct rt_site *await)
{
    spy_note(waker.data, await, 'w')->wakes++;
}

static inline void
spy_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    spy_note(waker->data, await, 'l')->by_ref++;
}

static inline void
spy_drop(struct rt_waker waker, const struct rt_site *await)
{
    spy_note(waker.data, await, 'd')->drops++;
}

static const struct rt_waker_vt spy_vt = {spy_clone, spy_wake, spy_wake_by_ref, spy_drop};

/* A waker of `spy`; the reference is the caller's, and not counted. */
static inline struct rt_waker
spy_waker(struct spy *spy)
{
    struct rt_waker waker = {&spy_vt, (uintptr_t)spy};
    return waker;
}

/* Every clone was woken or dropped. */
static inline bool
spy_balanced(const struct spy *spy)
{
    return spy->clones == spy->wakes + spy->drops;
}

#endif
