/*
 * store.h -- what a guest runs in: an engine for all of them, a store for each.
 *
 * An engine has the stacks and the epoch; a store has one guest's fuel, its
 * deadline, and at most one live call (F4). Two ways to make a guest yield
 * that never call the host:
 *
 *   fuel    each check of the guest costs units. What is left is kept in two parts,
 *           a chunk that checks count down and the rest. When the chunk is used up
 *           the next one, min(interval, total), is cut from the rest, and the call
 *           yields in between. What a check takes beyond the chunk is subtracted
 *           from the rest, so the sum is exact at any time (F5).
 *
 *              chunk         rest
 *           [■■■■■□□□□□][□□□□□□□□□□□□□□□□□□□]      total = chunk + rest
 *
 *   epoch   a timer or another thread ticks the engine's epoch. At a check at or past
 *           the store's deadline the guest yields, and on resume its deadline is the
 *           current epoch + delta; or it is trapped (F6).
 *
 * Ownership. Caller's memory, pinned from init to fini. An engine outlives its
 * stores, a store its call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_STORE_H
#define RT_FIBER_STORE_H

#include "runtime/compose/future.h"
#include "runtime/fiber/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_call;

#define RT_FUEL_MAX UINT64_MAX    /* As much as there can be; a new store has it. */
#define RT_EPOCH_NEVER UINT64_MAX /* No deadline. */

struct rt_engine_config {
    struct rt_stack_provider *stacks; /* Borrowed. */
    struct rt_stack_config stack;
    /* Called at each check with its cost, before that is taken: in a simulated world a unit of fuel
     * is a nanosecond. NULL: no call, and checks are faster. */
    void (*on_charge)(void *argument, uint64_t units);
    void *charge_argument;
};

struct rt_engine {
    uint32_t magic;
    uint32_t stores; /* That were not ended. */
    struct rt_engine_config config;
    uint64_t epoch; /* Atomic. */
};

struct rt_store {
    struct rt_object object;
    struct rt_engine *engine;
    void *data;    /* The embedder's own (its instance, its engine). */
    int64_t chunk; /* At 0 or below it is used up. */
    uint64_t rest;
    uint64_t interval;       /* 0: never yields. */
    uint64_t epoch_deadline; /* RT_EPOCH_NEVER: none. */
    uint64_t epoch_delta;    /* 0: trap. */
    bool slow;               /* Checks take the slow path: on_charge, or the guest has ended. */
    struct rt_call *call;    /* The live one; NULL: none. */
    struct rt_future *pending;
};

/* `config` is copied. guest_max + RT_CONTEXT_STACK_MIN above the size: fault RT_E_INVALID (F14). */
void rt_engine_init(struct rt_engine *engine, const struct rt_engine_config *config);

/* A store that was not ended: fault RT_E_IN_USE. */
void rt_engine_fini(struct rt_engine *engine);

/* One epoch more. From any thread, also from a signal's handler. */
void rt_epoch_tick(struct rt_engine *engine);

/* A store with RT_FUEL_MAX of fuel, no interval, no deadline. `data` is the caller's. */
void rt_store_init(struct rt_store *store, struct rt_engine *engine, void *data);

/* Ends it. A call that was not deleted, or a pending host function that was not taken: fault
 * RT_E_IN_USE (F10). */
void rt_store_fini(struct rt_store *store);

/* ---- Fuel (F5). ------------------------------------------------------------------------------ */

/* The total is `units` from now on. 0: the next check traps. */
void rt_fuel_set(struct rt_store *store, uint64_t units);

/* What is left, exact also between yields; 0 when a check took more than there was. */
uint64_t rt_fuel_get(const struct rt_store *store);

/* Yields each time that so many units are used up; 0: never. The total stays. */
void rt_fuel_yield_interval(struct rt_store *store, uint64_t units);

/* ---- Epochs (F6). ---------------------------------------------------------------------------- */

/* The deadline is `delta` epochs from now; RT_EPOCH_NEVER: there is none. */
void rt_epoch_deadline(struct rt_store *store, uint64_t delta);

/* At the deadline the guest yields, and its next one is `delta` (at least 1) epochs after it is
 * resumed. 0: it is trapped, as in a new store. */
void rt_epoch_yield_every(struct rt_store *store, uint64_t delta);

/* ---- The side channel (F8). ------------------------------------------------------------------ */

/*
 * Called by a host function that is not ready: `future` (borrowed, pinned until it is ready or
 * dropped) is what its answer waits for. The driver of the call takes it after the guest has
 * suspended. One that was not taken: fault RT_E_BUSY. It cannot fail (F10): errors are the host
 * function's trap.
 */
void rt_store_set_pending(struct rt_store *store, struct rt_future *future);

/* Takes it out: NULL when there is none, so once (F8). */
struct rt_future *rt_store_take_pending(struct rt_store *store);

#ifdef __cplusplus
}
#endif
#endif
