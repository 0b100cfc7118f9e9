/*
 * store.c -- fuel, epochs and the side channel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/store.h"

#include "runtime/fiber/internal.h"

#include "runtime/base/banned.h"

#define ENGINE_MAGIC 0x52454e47u

static void
check_store(const struct rt_store *store)
{
    rt_assert(store != NULL);
    if (__builtin_expect(store->object.magic != RT__STORE_MAGIC, 0)) {
        rt_fault(RT_E_INVALID, NULL, "a store was used that rt_store_init never made");
    }
}

/* ---- The engine. ----------------------------------------------------------------------------- */

void
rt_engine_init(struct rt_engine *engine, const struct rt_engine_config *config)
{
    rt_assert(engine != NULL);
    rt_assert(config->stacks != NULL);
    *engine = (struct rt_engine){.magic = ENGINE_MAGIC, .config = *config};
    struct rt_stack_config *stack = &engine->config.stack;
    stack->size = stack->size != 0 ? stack->size : RT_STACK_SIZE;
    stack->guest_max = stack->guest_max != 0 ? stack->guest_max : RT_STACK_GUEST_MAX;
    if (stack->size < RT_CONTEXT_STACK_MIN ||
            stack->guest_max > stack->size - RT_CONTEXT_STACK_MIN) {
        rt_fault(RT_E_INVALID, "an engine", "a guest may use so much stack that none is left");
    }
}

void
rt_engine_fini(struct rt_engine *engine)
{
    rt_check(engine, ENGINE_MAGIC);
    if (engine->stores != 0) {
        rt_fault(RT_E_IN_USE, "an engine", "it is ended while a store is in use");
    }
    engine->magic = 0;
}

void
rt_epoch_tick(struct rt_engine *engine)
{
    rt_check(engine, ENGINE_MAGIC);
    (void)__atomic_add_fetch(&engine->epoch, 1, __ATOMIC_RELAXED);
}

static uint64_t
epoch_now(const struct rt_store *store)
{
    return __atomic_load_n(&store->engine->epoch, __ATOMIC_RELAXED);
}

/* ---- The store. ------------------------------------------------------------------------------ */

static const char *
store_audit(const struct rt_object *object)
{
    const struct rt_store *store = rt_container_of(object, struct rt_store, object);
    if (store->pending != NULL && store->call == NULL) {
        return "a host function is pending, and no call is there that could wait for it";
    }
    if (store->chunk > 0 && store->interval != 0 && (uint64_t)store->chunk > store->interval) {
        return "the chunk of fuel is larger than the interval";
    }
    return NULL;
}

void
rt_store_init(struct rt_store *store, struct rt_engine *engine, void *data)
{
    rt_assert(store != NULL);
    rt_check(engine, ENGINE_MAGIC);
    *store = (struct rt_store){
            .object = {RT__STORE_MAGIC, RT_PROBE_OBJECT(USER)},
            .engine = engine,
            .data = data,
            .epoch_deadline = RT_EPOCH_NEVER,
            .slow = engine->config.on_charge != NULL,
    };
    engine->stores++;
    rt_fuel_set(store, RT_FUEL_MAX);
    RT_PROBE_AUDIT(&store->object, store_audit);
}

void
rt_store_fini(struct rt_store *store)
{
    check_store(store);
    if (store->pending != NULL) {
        rt_fault(RT_E_IN_USE, "a store", "it is ended while a host function is pending");
    }
    if (store->call != NULL) {
        rt_fault(RT_E_IN_USE, "a store", "it is ended while a call is live");
    }
    RT_PROBE_AUDIT(&store->object, NULL);
    store->object.magic = 0;
    store->engine->stores--;
}

/* ---- Fuel. ----------------------------------------------------------------------------------- */

void
rt_fuel_set(struct rt_store *store, uint64_t units)
{
    check_store(store);
    uint64_t chunk = store->interval != 0 ? store->interval : UINT64_MAX;
    chunk = chunk < units ? chunk : units;
    chunk = chunk < INT64_MAX ? chunk : INT64_MAX;
    store->chunk = (int64_t)chunk;
    store->rest = units - chunk;
}

uint64_t
rt_fuel_get(const struct rt_store *store)
{
    check_store(store);
    if (store->chunk >= 0) {
        return store->rest + (uint64_t)store->chunk;
    }
    uint64_t debt = -(uint64_t)store->chunk;
    return debt < store->rest ? store->rest - debt : 0;
}

void
rt_fuel_yield_interval(struct rt_store *store, uint64_t units)
{
    check_store(store);
    uint64_t total = rt_fuel_get(store);
    store->interval = units;
    rt_fuel_set(store, total);
}

enum rt__fuel
rt__fuel_debit(struct rt_store *store, uint64_t units)
{
    int64_t debit = units < INT64_MAX ? (int64_t)units : INT64_MAX;
    if (__builtin_sub_overflow(store->chunk, debit, &store->chunk)) {
        store->chunk = INT64_MIN + 1;
    }
    if (store->chunk > 0) {
        return RT__FUEL_LEFT;
    }
    uint64_t total = rt_fuel_get(store);
    rt_fuel_set(store, total);
    if (total == 0) {
        return RT__FUEL_OUT;
    }
    return store->interval != 0 ? RT__FUEL_YIELD : RT__FUEL_LEFT;
}

/* ---- Epochs. --------------------------------------------------------------------------------- */

/* Saturates short of RT_EPOCH_NEVER, which is no deadline. */
static uint64_t
deadline_in(const struct rt_store *store, uint64_t delta)
{
    uint64_t now = epoch_now(store);
    if (delta == RT_EPOCH_NEVER) {
        return RT_EPOCH_NEVER;
    }
    return delta < RT_EPOCH_NEVER - now ? now + delta : RT_EPOCH_NEVER - 1;
}

void
rt_epoch_deadline(struct rt_store *store, uint64_t delta)
{
    check_store(store);
    store->epoch_deadline = deadline_in(store, delta);
}

void
rt_epoch_yield_every(struct rt_store *store, uint64_t delta)
{
    check_store(store);
    store->epoch_delta = delta;
}

enum rt__epoch
rt__epoch_look(const struct rt_store *store)
{
    if (epoch_now(store) < store->epoch_deadline) {
        return RT__EPOCH_BEFORE;
    }
    return store->epoch_delta != 0 ? RT__EPOCH_YIELD : RT__EPOCH_TRAP;
}

void
rt__epoch_renew(struct rt_store *store)
{
    rt_epoch_deadline(store, store->epoch_delta);
}

/* ---- The side channel. ----------------------------------------------------------------------- */

void
rt_store_set_pending(struct rt_store *store, struct rt_future *future)
{
    check_store(store);
    rt_assert(future != NULL);
    if (store->pending != NULL) {
        rt_fault(RT_E_BUSY, future->name, "another host function is pending, and was not taken");
    }
    store->pending = future;
}

struct rt_future *
rt_store_take_pending(struct rt_store *store)
{
    check_store(store);
    struct rt_future *future = store->pending;
    store->pending = NULL;
    return future;
}
