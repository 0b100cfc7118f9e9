/*
 * close.c -- leaks of a runtime's users, when the run is over.
 *
 * Wakers. Every clone is woken or dropped, once (W1). The counts show how many clones
 * are missing, but a clone that is still in some queue of the scenario is not a leak:
 * the run ended before it could be dropped. So the arena is searched: a clone that is
 * not found has been overwritten or forgotten.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"

/* A word of memory of any type. */
typedef uintptr_t __attribute__((may_alias)) word;

static bool
is_clone(const struct sim_rt *rt, uintptr_t vt, uintptr_t at)
{
    uintptr_t own = (uintptr_t)&rt->runtime.executor;
    if (vt != (uintptr_t)&rt->runtime.executor.vt) {
        return false;
    }
    /* Words of the executor are not clones; nor is a slot's waker, which is not counted. */
    return at < own || at >= own + sizeof(rt->runtime.executor);
}

/* Under the address sanitizer the gaps between blocks are poisoned. The search reads them, so it is
 * not checked, and avoids memcpy, which is. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
__attribute__((no_sanitize("address")))
#endif
static uint64_t
clones_in(const void *argument, const char *memory, size_t size)
{
    const struct sim_rt *rt = argument;
    uint64_t found = 0;
    /* Memory of a library may begin in the middle of a word. */
    for (size_t i = -(uintptr_t)memory % sizeof(word); i + 2 * sizeof(word) <= size;
            i += sizeof(word)) {
        const word *first = (const void *)(memory + i);
        found += is_clone(rt, *first, (uintptr_t)first);
    }
    return found;
}

uint64_t
sim__lost(void *argument)
{
    const struct sim_rt *rt = argument;
    const struct rt_executor_counters *counters = &rt->runtime.executor.counters;
    uint64_t out =
            counters->clones > counters->returned ? counters->clones - counters->returned : 0;
    uint64_t found = out > 0 ? sim_world_search(rt->world, clones_in, rt) : 0;
    return out > found ? out - found : 0;
}

void
sim__close(void *argument)
{
    struct sim_rt *rt = argument;
    const struct rt_executor_counters *counters = &rt->runtime.executor.counters;
    struct sim_world *world = rt->world;
    if (counters->returned > counters->clones) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_BALANCE, NULL, 0,
                "wakers were woken or dropped more often than they were cloned (%llu, %llu)",
                (unsigned long long)counters->returned, (unsigned long long)counters->clones);
    }
    uint64_t lost = sim__lost(rt);
    if (lost > 0) {
        world->outcome.lost_wakers = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX;
        sim_fail(world, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE, NULL, 0,
                "%llu waker clone%s neither woken nor dropped, and no memory holds %s any more",
                (unsigned long long)lost, lost == 1 ? " was" : "s were", lost == 1 ? "it" : "them");
    }
}
