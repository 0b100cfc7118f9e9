/*
 * call.h -- a guest's function as something that can be polled.
 *
 *      the driver                               the guest, on its own stack
 *      rt_call_drive ── rt_call_poll ─────────▶ computes
 *                            false ◀──── yield: fuel, epoch
 *      yields, polls ─────────────────────────▶ computes
 *                                               calls a host function: not ready;
 *                            false ◀──────────  the side channel says what it waits for
 *      takes it, awaits it … is woken, polls ─▶ the continuation says yes: continues
 *                             true ◀──────────  has returned: results and trap are written
 *
 * A poll that answers false does not say when to poll again. The driver of a
 * call reads the store's side channel: a pending future, so wait for that;
 * none, so the guest has yielded: yield and continue (F8). rt_call_drive is
 * that loop. A guest that waits is not polled meanwhile (F7).
 *
 * Ownership. Caller's memory, pinned from init to delete; arguments and results
 * are borrowed for as long (F4). The stack goes back when the guest has returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_CALL_H
#define RT_FIBER_CALL_H

#include "runtime/fiber/guest.h"
#include "runtime/task/yield.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_CALL_RESULTS_MAX 4u

struct rt_call {
    struct rt_future
            future; /* For a join, a timeout: polled as rt_call_drive, dropped as delete. */
    struct rt_guest guest;
    struct rt_stack stack;
    uint32_t result_count;
    uint64_t *results;
    enum rt_trap *trap;
    uint64_t kept[RT_CALL_RESULTS_MAX]; /* Results on their way. */
    struct rt_future *awaited;          /* Taken from the side channel. */
    bool gives_way;                     /* It has yielded, and has not been resumed since. */
    struct rt_yield yield;
    const struct rt_site *await; /* For traces: the line that made it. */
};

/* What a call is given: all borrowed until rt_call_delete (F4). */
struct rt_call_config {
    rt_guest_fn guest;
    const uint64_t *arguments; /* May be NULL for a guest without any. */
    uint64_t *results;         /* May be NULL with result_count 0. */
    uint32_t result_count;     /* At most RT_CALL_RESULTS_MAX. */
    enum rt_trap *trap;        /* NULL: not wanted. */
    const char *name;          /* For people; NULL: "a call". */
};

/*
 * Makes a call; the guest runs at the first poll. `config` is copied. RT_E_BUSY: a call of `store`
 * was not deleted yet (F4); RT_E_FULL: no stack is left; RT_E_INVALID: too many results.
 */
#define rt_call_init(call, store, ...) rt_call_init_at((call), (store), (__VA_ARGS__), RT_HERE)
RT_MUST_CHECK rt_err rt_call_init_at(struct rt_call *call, struct rt_store *store,
        const struct rt_call_config *config, const struct rt_site *await);

/*
 * Lets the guest run until it returns (true) or yields (false; F1, F2). In a host function: only
 * after its continuation has said yes (F3). Results, if it was not trapped, and the trap are
 * written just before true. Polling it again then: fault RT_E_FINISHED; from inside the call:
 * RT_E_REENTERED.
 */
bool rt_call_poll(struct rt_call *call);

/*
 * Polls it until it has to wait, for the future in the side channel, or should yield: the task is
 * woken then (F7). READY as rt_call_poll's true. A guest that yields continues at once for as long
 * as the task quota lasts (rt_maybe_yield); on a bare executor, which has no clock, the call always
 * yields. So it does in a host function that names no future, and is polled again and again.
 */
#define rt_call_drive(call, cx) rt_future_poll(&(call)->future, (cx))

/*
 * Ends it, at any point but from inside. What it waits for is dropped first, and the finalizer of
 * its host function called, so nothing is written late (F11). Then a guest that is suspended is
 * resumed with RT_E_CANCELLED until it has returned (F12). Results and trap stay as they are.
 *
 * Once for each call made; a second time is fault RT_E_STALE. A future that drops `call->future`
 * before the guest has returned has deleted it: an rt_timeout that has expired or was dropped, a
 * race that another child has won. Where the guest has returned, the call is still to be deleted.
 */
#define rt_call_delete(call) rt_call_delete_at((call), RT_HERE)
void rt_call_delete_at(struct rt_call *call, const struct rt_site *await);

/* True once the guest has returned. */
static inline bool
rt_call_complete(const struct rt_call *call)
{
    return call->guest.fiber.state == RT_FIBER_FINISHED;
}

#ifdef __cplusplus
}
#endif
#endif
