/*
 * stack.h -- where stacks come from, how large they are, and how they are reused.
 *
 *      base                                                    base + size
 *       │ 64 KiB: host functions               │ 64 KiB: the guest │
 *  guard│◀─────────────────────────────────────┼───────────────────│ a stack grows this way ◀──
 *
 * A stack comes from a provider: two functions that the embedder supplies.
 * The runtime itself maps no memory: `runtime/host/stack_mmap.h` is a
 * provider over mmap with a guard page below each stack, the simulator has its
 * own, a microcontroller would have a static array.
 *
 * A guest may use `guest_max` bytes and checks that at each of its checks (guest.h);
 * the rest is for the host functions that it calls. So a guest that recurses too
 * deep is trapped while there is still space, and only host code can run into the
 * guard page: that is a crash, not a trap (F14).
 *
 * A pool keeps stacks that were given back, the last one first, since it lies in
 * the cache. Filled ahead, it makes a call without any allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_STACK_H
#define RT_FIBER_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_STACK_SIZE ((size_t)128 << 10)
#define RT_STACK_GUEST_MAX ((size_t)64 << 10)

struct rt_stack {
    char *base; /* The lowest byte; NULL: none. */
    size_t size;
};

/* How large stacks are. Zeros mean RT_STACK_SIZE and RT_STACK_GUEST_MAX. */
struct rt_stack_config {
    size_t size;
    size_t guest_max; /* Below `size` by what host functions need (F14). */
};

/* Embedded first in a provider's own struct. */
struct rt_stack_provider {
    /* Gives a stack of `size` bytes, aligned to 16, with undefined contents. RT_E_FULL: none is
     * left. *ret_stack is untouched then. */
    rt_err (*alloc)(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack);
    /* Takes it back; no frame is on it any more. */
    void (*release)(struct rt_stack_provider *provider, struct rt_stack stack);
};

/* Calls the provider and checks both sides: less than `size`, or not aligned, is a panic. */
RT_MUST_CHECK rt_err rt_stack_alloc(
        struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack);

/* Gives *stack back and empties it. An empty one: no-op. */
void rt_stack_free(struct rt_stack_provider *provider, struct rt_stack *stack);

/* A provider that keeps the stacks that it gets back. */
struct rt_stack_pool {
    struct rt_stack_provider provider; /* To be handed on: &pool->provider. */
    struct rt_stack_provider *from;
    struct rt_stack *idle; /* Borrowed; the last one was given back last. */
    uint32_t capacity;
    uint32_t idle_count;
    uint32_t made; /* Taken from `from`: idle or out. */
    size_t size;
};

/*
 * A pool of at most `capacity` stacks of `size` bytes that come from `from` (borrowed). `idle`
 * (borrowed) has `capacity` elements. Asked for a stack when all are in use it answers RT_E_FULL;
 * for one of another size, fault RT_E_INVALID.
 */
void rt_stack_pool_init(struct rt_stack_pool *pool, struct rt_stack_provider *from,
        struct rt_stack *idle, uint32_t capacity, size_t size);

/* Takes stacks ahead until the pool has made `count` (at most its capacity). An error of `from`:
 * those allocated before stay. */
RT_MUST_CHECK rt_err rt_stack_pool_fill(struct rt_stack_pool *pool, uint32_t count);

/* Gives all idle ones back. One that is still in use: fault RT_E_IN_USE. */
void rt_stack_pool_fini(struct rt_stack_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
