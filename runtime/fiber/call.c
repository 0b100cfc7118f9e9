/*
 * call.c -- the host's side of a call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/call.h"

#include "runtime/fiber/internal.h"

#include "runtime/base/banned.h"

static struct rt_call *
call_of(struct rt_future *future)
{
    return rt_container_of(future, struct rt_call, future);
}

/* ---- Polling. -------------------------------------------------------------------------------- */

/* F1: only now. The stack can be in use again already while results are read. */
static void
complete(struct rt_call *call)
{
    struct rt_store *store = call->guest.store;
    call->future.finished = true;
    store->slow = store->engine->config.on_charge != NULL;
    rt_stack_free(store->engine->config.stacks, &call->stack);
    if (call->guest.trap == RT_TRAP_NONE) {
        for (uint32_t i = 0; i < call->result_count; i++) {
            call->results[i] = call->kept[i];
        }
    }
    if (call->trap != NULL) {
        *call->trap = call->guest.trap;
    }
}

static void
check_pollable(const struct rt_call *call)
{
    rt_assert(call != NULL);
    if (call->guest.store == NULL || call->guest.store->call != call) {
        rt_fault(RT_E_STALE, "a call", "it was used although it was deleted, or never made");
    }
    if (rt_call_complete(call)) {
        rt_fault(RT_E_FINISHED, call->future.name, "a call was polled that is complete");
    }
    if (call->guest.fiber.state == RT_FIBER_RUNNING) {
        rt_fault(RT_E_REENTERED, call->future.name, "a call was polled from inside of it");
    }
}

bool
rt_call_poll(struct rt_call *call)
{
    check_pollable(call);
    if (!rt__guest_ready(&call->guest)) {
        return false;
    }
    if (!rt_fiber_resume_at(&call->guest.fiber, call->await)) {
        return false;
    }
    complete(call);
    return true;
}

/* ---- Driving. -------------------------------------------------------------------------------- */

/* What the guest waits for, if anything: READY when it may be polled. */
static rt_poll
await_pending(struct rt_call *call, struct rt_cx *cx)
{
    if (call->awaited == NULL) {
        return RT_READY;
    }
    rt_poll answer = rt_future_poll(call->awaited, cx);
    if (answer == RT_READY) {
        call->awaited = NULL;
    }
    return answer;
}

/* Whether a guest that has yielded may continue. Only one that computes has used up time, and only
 * a runtime knows how much. */
static rt_poll
give_way(struct rt_call *call, struct rt_cx *cx)
{
    if (!call->gives_way) {
        return RT_READY;
    }
    bool has_quota = call->guest.waiting == NULL && cx->runtime != NULL;
    rt_poll answer = has_quota ? rt_maybe_yield_at(&call->yield, cx, call->await)
                               : rt_yield_now_at(&call->yield, cx, call->await);
    call->gives_way = answer == RT_PENDING;
    return answer;
}

static rt_poll
drive(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_call *call = call_of(future);
    for (;;) {
        RT_AWAIT(await_pending(call, cx));
        RT_AWAIT(give_way(call, cx));
        if (rt_call_poll(call)) {
            return RT_READY;
        }
        call->awaited = rt_store_take_pending(call->guest.store);
        call->gives_way = call->awaited == NULL;
    }
}

/* ---- Its beginning and its end. -------------------------------------------------------------- */

static void
drop(struct rt_future *future)
{
    struct rt_call *call = call_of(future);
    rt_call_delete_at(call, call->await);
}

static void
guest_init(struct rt_guest *guest, struct rt_store *store, const struct rt_call_config *config,
        const struct rt_stack *stack)
{
    guest->store = store;
    guest->stack_limit =
            (uintptr_t)stack->base + stack->size - store->engine->config.stack.guest_max;
    guest->fn = config->guest;
    guest->arguments = config->arguments;
    guest->trap = RT_TRAP_NONE;
    guest->waiting = NULL;
    rt_fiber_init(&guest->fiber, stack, rt__guest_main, guest);
}

rt_err
rt_call_init_at(struct rt_call *call, struct rt_store *store, const struct rt_call_config *config,
        const struct rt_site *await)
{
    rt_assert(call != NULL);
    rt_assert(store != NULL);
    rt_assert(store->object.magic == RT__STORE_MAGIC);
    rt_assert(config->guest != NULL);
    rt_assert(config->results != NULL || config->result_count == 0);
    if (config->result_count > RT_CALL_RESULTS_MAX) {
        return RT_E_INVALID;
    }
    if (store->call != NULL) {
        return RT_E_BUSY;
    }
    const struct rt_engine_config *engine = &store->engine->config;
    rt_err err = rt_stack_alloc(engine->stacks, engine->stack.size, &call->stack);
    if (err != RT_OK) {
        return err;
    }
    rt_future_init(&call->future, drive, drop, config->name != NULL ? config->name : "a call");
    guest_init(&call->guest, store, config, &call->stack);
    call->guest.results = call->kept;
    for (uint32_t i = 0; i < RT_CALL_RESULTS_MAX; i++) {
        call->kept[i] = 0;
    }
    call->result_count = config->result_count;
    call->results = config->results;
    call->trap = config->trap;
    call->awaited = NULL;
    call->gives_way = false;
    call->yield = (struct rt_yield){0};
    call->await = await;
    store->call = call;
    return RT_OK;
}

/* F11: nothing is written any more, and no task is woken any more. */
static void
detach(struct rt_call *call)
{
    struct rt_future *pending = rt_store_take_pending(call->guest.store);
    if (pending != NULL) {
        rt_future_drop(pending);
    }
    if (call->awaited != NULL) {
        rt_future_drop(call->awaited);
        call->awaited = NULL;
    }
    rt__guest_detach(&call->guest);
}

void
rt_call_delete_at(struct rt_call *call, const struct rt_site *await)
{
    rt_assert(call != NULL);
    struct rt_store *store = call->guest.store;
    if (store == NULL || store->call != call) {
        rt_fault(RT_E_STALE, "a call", "it was deleted before, or never made");
    }
    if (call->guest.fiber.state == RT_FIBER_RUNNING) {
        rt_fault(RT_E_REENTERED, call->future.name, "a call was deleted from inside of it");
    }
    call->future.finished = true;
    if (!rt_call_complete(call)) {
        detach(call);
        rt_fiber_drop_at(&call->guest.fiber, await);
        store->slow = store->engine->config.on_charge != NULL;
        rt_stack_free(store->engine->config.stacks, &call->stack);
    }
    store->call = NULL;
    call->guest.store = NULL; /* Marks a deleted call. */
}
