/*
 * atomic_waker.c -- the protocol of atomic_waker.h, after futures-rs' AtomicWaker.
 *
 * Orders. Taking a bit is an acquire, giving it back a release, so the waker is
 * handed from side to side. The failing exchange at the end of a registration is
 * an acquire as well: it must see what the waking side published before it woke.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/atomic_waker.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define ATOMIC_WAKER_MAGIC 0x52415457u
#define WAITING RT_ATOMIC_WAKER_WAITING
#define REGISTERING RT_ATOMIC_WAKER_REGISTERING
#define WAKING RT_ATOMIC_WAKER_WAKING

/* Puts `waker` in, unless what is there wakes the same. Returns what is left, to be dropped. */
static struct rt_waker
swap_in(struct rt_atomic_waker *atomic, const struct rt_waker *waker, const struct rt_site *await)
{
    if (rt_waker_will_wake(&atomic->waker, waker)) {
        return RT_WAKER_NULL;
    }
    struct rt_waker clone = rt_waker_clone_at(waker, await);
    struct rt_waker old = atomic->waker;
    atomic->waker = clone;
    return old;
}

/* A wake arrived while we were registering, and left the waking to us. */
static void
wake_what_was_registered(struct rt_atomic_waker *atomic, const struct rt_site *await)
{
    struct rt_waker waker = atomic->waker;
    rt_assert(!rt_waker_is_null(&waker));
    atomic->waker = RT_WAKER_NULL;
    unsigned state = atomic_exchange_explicit(&atomic->state, WAITING, memory_order_acq_rel);
    rt_assert(state == (REGISTERING | WAKING));
    rt_waker_wake_at(&waker, await);
}

void
rt_atomic_waker_init(struct rt_atomic_waker *atomic)
{
    rt_assert(atomic != NULL);
    atomic->magic = ATOMIC_WAKER_MAGIC;
    atomic_init(&atomic->state, WAITING);
    atomic->waker = RT_WAKER_NULL;
}

void
rt_atomic_waker_fini_at(struct rt_atomic_waker *atomic, const struct rt_site *await)
{
    rt_check(atomic, ATOMIC_WAKER_MAGIC);
    rt_assert(atomic_load_explicit(&atomic->state, memory_order_acquire) == WAITING);
    rt_waker_drop_at(&atomic->waker, await);
    atomic->magic = 0;
}

void
rt_atomic_waker_register_at(
        struct rt_atomic_waker *atomic, const struct rt_waker *waker, const struct rt_site *await)
{
    rt_check(atomic, ATOMIC_WAKER_MAGIC);
    rt_assert(!rt_waker_is_null(waker));
    unsigned state = WAITING;
    if (!atomic_compare_exchange_strong_explicit(
                &atomic->state, &state, REGISTERING, memory_order_acquire, memory_order_acquire)) {
        if ((state & REGISTERING) != 0) {
            rt_fault(RT_E_BUSY, NULL, "two threads register at one atomic waker");
        }
        rt_assert(state == WAKING);
        rt_waker_wake_by_ref_at(waker, await);
        return;
    }
    struct rt_waker old = swap_in(atomic, waker, await);
    state = REGISTERING;
    if (!atomic_compare_exchange_strong_explicit(
                &atomic->state, &state, WAITING, memory_order_acq_rel, memory_order_acquire)) {
        wake_what_was_registered(atomic, await);
    }
    rt_waker_drop_at(&old, await);
}

struct rt_waker
rt_atomic_waker_take(struct rt_atomic_waker *atomic)
{
    rt_check(atomic, ATOMIC_WAKER_MAGIC);
    unsigned state = atomic_fetch_or_explicit(&atomic->state, WAKING, memory_order_acq_rel);
    if (state != WAITING) {
        return RT_WAKER_NULL;
    }
    struct rt_waker waker = atomic->waker;
    atomic->waker = RT_WAKER_NULL;
    (void)atomic_fetch_and_explicit(&atomic->state, ~WAKING, memory_order_release);
    return waker;
}

bool
rt_atomic_waker_wake_at(struct rt_atomic_waker *atomic, const struct rt_site *await)
{
    struct rt_waker waker = rt_atomic_waker_take(atomic);
    if (rt_waker_is_null(&waker)) {
        return false;
    }
    rt_waker_wake_at(&waker, await);
    return true;
}
