/*
 * atomic_waker.h -- one slot that may be woken from another thread.
 *
 * One side registers the waker to be called, any other side wakes; neither ever
 * blocks or spins. Two bits record which side is at work:
 *
 *      WAITING (0) ──register──▶ REGISTERING ──────done──────▶ WAITING
 *         │                          │ wake
 *         │ wake                     ▼
 *         ▼                  REGISTERING|WAKING   the registering side wakes, then WAITING
 *      WAKING ──waker taken out──▶ WAITING
 *
 * register while WAKING   the waker being called is the one before: the new one is woken at once.
 * wake while REGISTERING  the waker is not readable yet: the registering side wakes it.
 * wake before register    no waker is stored: a no-op.
 *
 * So neither side can miss the other, on one condition (W10): the waiting side
 * registers *before* it checks its condition for the last time, and the waking
 * side publishes *before* it wakes.
 *
 * Only wakers whose vtable may be called from any thread belong here; an
 * executor's own may not (W4). One thread at a time registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_ATOMIC_WAKER_H
#define RT_TASK_ATOMIC_WAKER_H

#include "runtime/base/atomic.h"
#include "runtime/task/waker.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of `state`. */
#define RT_ATOMIC_WAKER_WAITING 0u
#define RT_ATOMIC_WAKER_REGISTERING 1u
#define RT_ATOMIC_WAKER_WAKING 2u

struct rt_atomic_waker {
    uint32_t magic;
    RT_ATOMIC(unsigned) state;
    struct rt_waker waker; /* Of the side that set one of the bits in WAITING; null while empty. */
};

/* Makes an empty one. No other thread may know it yet. */
void rt_atomic_waker_init(struct rt_atomic_waker *atomic);

/* Drops what is stored. No other thread may use it any more. */
#define rt_atomic_waker_fini(atomic) rt_atomic_waker_fini_at((atomic), RT_HERE)
void rt_atomic_waker_fini_at(struct rt_atomic_waker *atomic, const struct rt_site *await);

/*
 * Stores a clone of `waker`, which must not be null; the previous one is dropped without a wake
 * (W11). When a wake comes while this runs, the clone is woken before it returns. A second thread
 * that registers meanwhile is a fault, RT_E_BUSY.
 */
#define rt_atomic_waker_register(atomic, waker) \
    rt_atomic_waker_register_at((atomic), (waker), RT_HERE)
void rt_atomic_waker_register_at(
        struct rt_atomic_waker *atomic, const struct rt_waker *waker, const struct rt_site *await);

/* Takes the stored waker out and wakes it. False when there was none to wake here: none is
 * registered, or another thread is at work and will wake. */
#define rt_atomic_waker_wake(atomic) rt_atomic_waker_wake_at((atomic), RT_HERE)
bool rt_atomic_waker_wake_at(struct rt_atomic_waker *atomic, const struct rt_site *await);

/* As rt_atomic_waker_wake, but the caller gets the waker, and owns it; null where that is false. */
struct rt_waker rt_atomic_waker_take(struct rt_atomic_waker *atomic);

#ifdef __cplusplus
}
#endif
#endif
