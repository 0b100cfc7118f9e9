/*
 * stack.c -- stacks for the loops and guests of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/world/stack/stack.h"

#include "runtime/base/assert.h"
#include "runtime/host/stack_mmap.h"

#define STACKS_MAX 1024

/* Of the process, not of a run. The first that fits is given out, so the same run gets the same
 * ones again. */
static struct {
    struct {
        struct rt_stack stack;
        bool out;
    } all[STACKS_MAX];
    size_t count;
} pool;

static rt_err
map_another(size_t size, struct rt_stack *ret_stack)
{
    struct rt_stack_provider system;
    rt_stack_mmap_init(&system);
    return rt_stack_alloc(&system, size, ret_stack);
}

static rt_err
stack_alloc(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack)
{
    (void)provider;
    size_t i = 0;
    while (i < pool.count && (pool.all[i].out || pool.all[i].stack.size != size)) {
        i++;
    }
    if (i == STACKS_MAX) {
        return RT_E_FULL;
    }
    if (i == pool.count) {
        rt_err err = map_another(size, &pool.all[i].stack);
        if (err != RT_OK) {
            return err;
        }
        pool.count++;
    }
    pool.all[i].out = true;
    *ret_stack = pool.all[i].stack;
    return RT_OK;
}

static void
stack_free(struct rt_stack_provider *provider, struct rt_stack stack)
{
    (void)provider;
    for (size_t i = 0; i < pool.count; i++) {
        if (pool.all[i].stack.base == stack.base) {
            rt_assert(pool.all[i].out);
            pool.all[i].out = false;
            return;
        }
    }
    rt_unreached("a stack is given back that nobody was given");
}

struct rt_stack_provider *
sim_stacks(struct sim_world *world)
{
    static struct rt_stack_provider provider = {stack_alloc, stack_free};
    rt_assert(world != NULL);
    return &provider;
}

bool
sim_stack_guard(const void *address)
{
    const char *at = address;
    for (size_t i = 0; i < pool.count; i++) {
        const char *base = pool.all[i].stack.base;
        if (at >= base - RT_STACK_GUARD && at < base) {
            return true;
        }
    }
    return false;
}

void
sim__stacks_drop(void)
{
    for (size_t i = 0; i < pool.count; i++) {
        pool.all[i].out = false;
    }
}

bool
sim__stacks_out(void)
{
    for (size_t i = 0; i < pool.count; i++) {
        if (pool.all[i].out) {
            return true;
        }
    }
    return false;
}
