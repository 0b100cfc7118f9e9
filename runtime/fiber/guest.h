/*
 * guest.h -- what code on a guest's stack may do: pay, trap, ask the host.
 *
 * A guest is a C function written as compiled code of a virtual machine would
 * behave: it pays at the head of each loop and function, works on 64-bit words,
 * and calls the outside through host functions only.
 *
 *      static void
 *      sum(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
 *      {
 *          for (uint64_t i = 0; i < arguments[0]; i++) {
 *              if (!rt_guest_check(guest, 1)) {
 *                  return;
 *              }
 *              results[0] += i;
 *          }
 *      }
 *
 * A trap does not jump: it answers no, here and at every further call, until
 * the guest has returned. So do CANCELLED and the end of the fuel. Host frames
 * between guest frames are thereby unwound in order.
 *
 * A host function answers at once, or names a continuation that is polled until
 * it says yes (F3). The guest sees neither.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_GUEST_H
#define RT_FIBER_GUEST_H

#include "runtime/fiber/fiber.h"
#include "runtime/fiber/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a guest has not returned normally. */
#define RT_TRAP_LIST(X) \
    X(NONE, "it returned normally") \
    X(UNREACHABLE, "unreachable code was reached") \
    X(OUT_OF_FUEL, "its fuel is used up") \
    X(STACK_OVERFLOW, "its calls are too deep for its part of the stack") \
    X(EPOCH, "its time is over") \
    X(HOST, "a host function has failed") \
    X(CANCELLED, "it was deleted before its end")

enum rt_trap {
#define RT_TRAP_ENUM(name, text) RT_TRAP_##name,
    RT_TRAP_LIST(RT_TRAP_ENUM)
#undef RT_TRAP_ENUM
            RT_TRAPS
};

/* "RT_TRAP_EPOCH", and what it means. Static; a value that is none: "RT_TRAP_?". */
const char *rt_trap_name(enum rt_trap trap);
const char *rt_trap_text(enum rt_trap trap);

struct rt_guest;

/* A guest's code. `arguments` are the caller's; `results`, zeros at first, reach the caller when
 * this returns without a trap. */
typedef void (*rt_guest_fn)(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results);

/* Polled for the answer of a host function. */
struct rt_continuation {
    bool (*callback)(void *env); /* True: the results are there. NULL: a fault (F3). */
    /* Called once, after a yes or when the call is deleted. NULL: nothing is called, so nothing may
     * write the results after that: for an answer that no operation is under way for. */
    void (*finalizer)(void *env);
    void *env;
};

/* One call of a host function; on the guest's stack until the finalizer was called. */
struct rt_host_call {
    struct rt_guest *guest;
    const uint64_t *arguments; /* The guest's. */
    uint64_t *results;         /* Not to be written after the finalizer. */
    enum rt_trap trap;         /* Set before the callback says yes: it has failed. */
    struct rt_continuation continuation;
};

/* Fills in `host->continuation`, with rt_answered for an answer that is there (F9). */
typedef void (*rt_host_fn)(struct rt_host_call *host);

struct rt_guest {
    struct rt_store *store;
    uintptr_t stack_limit; /* Guest frames are above. */
    struct rt_fiber fiber;
    rt_guest_fn fn;
    const uint64_t *arguments;
    uint64_t *results;
    enum rt_trap trap;            /* Anything but NONE: it has ended, and every call answers no. */
    struct rt_host_call *waiting; /* The host function in which it is suspended; NULL: none. */
};

/*
 * Pays `units` and checks whether the guest may continue: for the head of each loop and function.
 * May suspend. False: it has ended, return. Holds F5, F6, and the guest's part of F14.
 */
#define rt_guest_check(guest, units) rt_guest_check_at((guest), (units), RT_HERE)
bool rt__guest_check_slow(struct rt_guest *guest, uint64_t units, const struct rt_site *await);
static inline bool
rt_guest_check_at(struct rt_guest *guest, uint64_t units, const struct rt_site *await)
{
    struct rt_store *store = guest->store;
    bool ok = !store->slow && store->chunk > 0 && units < (uint64_t)store->chunk &&
              (uintptr_t)__builtin_frame_address(0) > guest->stack_limit &&
              __atomic_load_n(&store->engine->epoch, __ATOMIC_RELAXED) < store->epoch_deadline;
    if (__builtin_expect(ok, 1)) {
        store->chunk -= (int64_t)units;
        return true;
    }
    return rt__guest_check_slow(guest, units, await);
}

/* Ends the guest, for this reason. The first one counts. NONE: fault RT_E_INVALID. */
void rt_guest_trap(struct rt_guest *guest, enum rt_trap trap);

/*
 * Calls a host function. Returns when its continuation has said yes: at once (F9), or after the
 * guest was suspended. False: the guest has ended, return; `results` are not to be used.
 */
#define rt_guest_host(guest, fn, arguments, results) \
    rt_guest_host_at((guest), (fn), (arguments), (results), RT_HERE)
RT_MUST_CHECK bool rt_guest_host_at(struct rt_guest *guest, rt_host_fn fn,
        const uint64_t *arguments, uint64_t *results, const struct rt_site *await);

/* The continuation of an answer that is there. */
bool rt_answered(void *env);

#ifdef __cplusplus
}
#endif
#endif
