/*
 * stack.c -- the calls of a provider, and a pool that is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/stack.h"

#include "runtime/base/assert.h"
#include "runtime/base/list.h"

#include "runtime/base/banned.h"

#define ALIGNMENT ((uintptr_t)16)

rt_err
rt_stack_alloc(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack)
{
    rt_assert(provider != NULL);
    rt_assert(provider->alloc != NULL);
    struct rt_stack stack = {NULL, 0};
    rt_err err = provider->alloc(provider, size, &stack);
    if (err != RT_OK) {
        return err;
    }
    rt_assert(stack.base != NULL);
    rt_assert(stack.size >= size);
    rt_assert(((uintptr_t)stack.base + stack.size) % ALIGNMENT == 0);
    *ret_stack = stack;
    return RT_OK;
}

void
rt_stack_free(struct rt_stack_provider *provider, struct rt_stack *stack)
{
    rt_assert(stack != NULL);
    if (stack->base == NULL) {
        return;
    }
    struct rt_stack given = *stack;
    *stack = (struct rt_stack){NULL, 0};
    provider->release(provider, given);
}

/* ---- The pool. ------------------------------------------------------------------------------- */

static struct rt_stack_pool *
pool_of(struct rt_stack_provider *provider)
{
    struct rt_stack_pool *pool = rt_container_of(provider, struct rt_stack_pool, provider);
    rt_assert(pool->idle_count <= pool->made);
    rt_assert(pool->made <= pool->capacity);
    return pool;
}

static rt_err
pool_make(struct rt_stack_pool *pool, struct rt_stack *ret_stack)
{
    if (pool->made == pool->capacity) {
        return RT_E_FULL;
    }
    rt_err err = rt_stack_alloc(pool->from, pool->size, ret_stack);
    if (err == RT_OK) {
        pool->made++;
    }
    return err;
}

static rt_err
pool_alloc(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack)
{
    struct rt_stack_pool *pool = pool_of(provider);
    if (size != pool->size) {
        rt_fault(RT_E_INVALID, "a pool of stacks", "it was asked for a stack of another size");
    }
    if (pool->idle_count == 0) {
        return pool_make(pool, ret_stack);
    }
    *ret_stack = pool->idle[--pool->idle_count];
    return RT_OK;
}

static void
pool_free(struct rt_stack_provider *provider, struct rt_stack stack)
{
    struct rt_stack_pool *pool = pool_of(provider);
    rt_assert(pool->idle_count < pool->made);
    pool->idle[pool->idle_count++] = stack;
}

void
rt_stack_pool_init(struct rt_stack_pool *pool, struct rt_stack_provider *from,
        struct rt_stack *idle, uint32_t capacity, size_t size)
{
    rt_assert(pool != NULL);
    rt_assert(from != NULL);
    rt_assert(idle != NULL || capacity == 0);
    *pool = (struct rt_stack_pool){
            .provider = {pool_alloc, pool_free},
            .from = from,
            .idle = idle,
            .capacity = capacity,
            .size = size,
    };
}

rt_err
rt_stack_pool_fill(struct rt_stack_pool *pool, uint32_t count)
{
    rt_assert(count <= pool->capacity);
    while (pool->made < count) {
        struct rt_stack stack;
        rt_err err = pool_make(pool, &stack);
        if (err != RT_OK) {
            return err;
        }
        pool->idle[pool->idle_count++] = stack;
    }
    return RT_OK;
}

void
rt_stack_pool_fini(struct rt_stack_pool *pool)
{
    if (pool->idle_count < pool->made) {
        rt_fault(RT_E_IN_USE, "a pool of stacks", "it is ended while a stack is out");
    }
    while (pool->idle_count > 0) {
        rt_stack_free(pool->from, &pool->idle[--pool->idle_count]);
        pool->made--;
    }
}
