/*
 * guest.c -- the guest's side of a call: everything here runs on its stack but the check
 * whether it may be resumed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/guest.h"

#include "runtime/fiber/internal.h"

#include "runtime/base/banned.h"

const char *
rt_trap_name(enum rt_trap trap)
{
    static const char *const names[] = {
#define NAME(name, text) "RT_TRAP_" #name,
            RT_TRAP_LIST(NAME)
#undef NAME
    };
    return trap < RT_TRAPS ? names[trap] : "RT_TRAP_?";
}

const char *
rt_trap_text(enum rt_trap trap)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
            RT_TRAP_LIST(TEXT)
#undef TEXT
    };
    return trap < RT_TRAPS ? texts[trap] : "there is no such trap";
}

static void
end(struct rt_guest *guest, enum rt_trap trap)
{
    if (guest->trap == RT_TRAP_NONE) {
        guest->trap = trap;
        guest->store->slow = true;
    }
}

void
rt_guest_trap(struct rt_guest *guest, enum rt_trap trap)
{
    rt_assert(guest != NULL);
    if (trap == RT_TRAP_NONE || trap >= RT_TRAPS) {
        rt_fault(RT_E_INVALID, "a guest", "it was trapped, but for no reason that there is");
    }
    end(guest, trap);
}

/* False: it was dropped meanwhile. */
static bool
suspend(struct rt_guest *guest, enum rt_suspend why, const struct rt_site *await)
{
    if (rt_fiber_suspend_at(&guest->fiber, why, await) == RT_OK) {
        return true;
    }
    end(guest, RT_TRAP_CANCELLED);
    return false;
}

/* ---- Paying. --------------------------------------------------------------------------------- */

static bool
pay(struct rt_guest *guest, uint64_t units, const struct rt_site *await)
{
    const struct rt_engine_config *config = &guest->store->engine->config;
    if (config->on_charge != NULL) {
        config->on_charge(config->charge_argument, units);
    }
    switch (rt__fuel_debit(guest->store, units)) {
    case RT__FUEL_LEFT:
        return true;
    case RT__FUEL_YIELD:
        RT_PROBE(CONSUME, guest->fiber.object.id, RT_HERE, await, guest->store->interval);
        return suspend(guest, RT_SUSPEND_FUEL, await);
    case RT__FUEL_OUT:
        break;
    }
    end(guest, RT_TRAP_OUT_OF_FUEL);
    return false;
}

static bool
check_epoch(struct rt_guest *guest, const struct rt_site *await)
{
    switch (rt__epoch_look(guest->store)) {
    case RT__EPOCH_BEFORE:
        return true;
    case RT__EPOCH_YIELD:
        if (!suspend(guest, RT_SUSPEND_EPOCH, await)) {
            return false;
        }
        rt__epoch_renew(guest->store);
        return true;
    case RT__EPOCH_TRAP:
        break;
    }
    end(guest, RT_TRAP_EPOCH);
    return false;
}

bool
rt__guest_check_slow(struct rt_guest *guest, uint64_t units, const struct rt_site *await)
{
    if (guest->trap != RT_TRAP_NONE) {
        return false;
    }
    if ((uintptr_t)__builtin_frame_address(0) <= guest->stack_limit) {
        end(guest, RT_TRAP_STACK_OVERFLOW);
        return false;
    }
    return pay(guest, units, await) && check_epoch(guest, await);
}

/* ---- Asking the host. ------------------------------------------------------------------------ */

bool
rt_answered(void *env)
{
    (void)env;
    return true;
}

static void
finalize(struct rt_host_call *host)
{
    if (host->continuation.finalizer != NULL) {
        host->continuation.finalizer(host->continuation.env);
    }
}

static bool
asked(struct rt_host_call *host)
{
    if (!host->continuation.callback(host->continuation.env)) {
        return false;
    }
    finalize(host);
    return true;
}

bool
rt__guest_ready(struct rt_guest *guest)
{
    if (guest->waiting != NULL && !asked(guest->waiting)) {
        return false;
    }
    guest->waiting = NULL;
    return true;
}

void
rt__guest_detach(struct rt_guest *guest)
{
    if (guest->waiting != NULL) {
        finalize(guest->waiting);
        guest->waiting = NULL;
    }
}

/* The answer is not there: suspends until the driver of the call has found that it is. */
static bool
await_host(struct rt_guest *guest, struct rt_host_call *host, const struct rt_site *await)
{
    guest->waiting = host;
    bool resumed = suspend(guest, RT_SUSPEND_HOST, await);
    rt_assert(guest->waiting == NULL);
    return resumed;
}

static void
check_answer(const struct rt_guest *guest)
{
    if (guest->store->pending != NULL) {
        rt_fault(RT_E_INVALID, guest->store->pending->name,
                "a host function has its answer, and has left something to wait for");
    }
}

bool
rt_guest_host_at(struct rt_guest *guest, rt_host_fn fn, const uint64_t *arguments,
        uint64_t *results, const struct rt_site *await)
{
    rt_assert(guest != NULL);
    rt_assert(fn != NULL);
    if (guest->trap != RT_TRAP_NONE) {
        return false;
    }
    struct rt_host_call host = {.guest = guest, .arguments = arguments, .results = results};
    fn(&host);
    if (host.continuation.callback == NULL) {
        rt_fault(RT_E_INVALID, "a host function", "it has returned without a continuation");
    }
    if (asked(&host)) {
        check_answer(guest);
    } else if (!await_host(guest, &host, await)) {
        return false;
    }
    if (host.trap != RT_TRAP_NONE) {
        end(guest, host.trap);
    }
    return guest->trap == RT_TRAP_NONE;
}

/* ---- The guest's main function. -------------------------------------------------------------- */

void
rt__guest_main(void *argument)
{
    struct rt_guest *guest = argument;
    guest->fn(guest, guest->arguments, guest->results);
}
