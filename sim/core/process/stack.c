/*
 * stack.c -- stacks for the loops and guests of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/process/stack.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "runtime/base/probe.h"
#include "runtime/fiber/context.h"
#include "runtime/host/stack_mmap.h"
#include "sim/core/memory/shadow.h"

#define STACKS_MAX 1024

/* Of the process. The first that fits is taken, so the same run gets the same ones again. */
static struct {
    struct {
        struct rt_stack stack;
        const struct rt_context *context; /* The last one prepared on it. */
        char *deepest;                    /* Of where one was left on it since it was cleared. */
        bool out;
    } all[STACKS_MAX];
    size_t count;
} pool;

/* Stacks are at the same addresses in every process, for programs that hash them. */
#define STACKS_AT ((uintptr_t)0x240000000000)

static rt_err
map_another(size_t size, struct rt_stack *ret_stack)
{
    static uintptr_t hint = STACKS_AT;
    size_t whole = RT_STACK_GUARD + size;
    char *memory = mmap((void *)hint, whole, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, RT_STACK_GUARD, PROT_NONE) != 0) {
        return RT_E_FULL;
    }
    hint += whole;
    *ret_stack = (struct rt_stack){memory + RT_STACK_GUARD, size};
    return RT_OK;
}

/* As many bytes in a row that are zero were not in use, below where a stack was left. */
#define HOLE ((size_t)2048)
#define PIECE ((size_t)512)

static bool
is_zero(const char *piece)
{
    uint64_t any = 0;
    for (size_t i = 0; i < PIECE; i += sizeof(any)) {
        uint64_t word;
        memcpy(&word, piece + i, sizeof(word));
        any |= word;
    }
    return any == 0;
}

/* Zeros what runs before this one have left: a variable that is not initialized has a value that
 * does not depend on them. */
static void
clear(size_t number)
{
    char *bottom = pool.all[number].stack.base;
    char *top = bottom + pool.all[number].stack.size;
    char *at = top - (size_t)(top - pool.all[number].deepest) / PIECE * PIECE;
    sim_shadow_unpoison(bottom, (size_t)(top - bottom));
    memset(at, 0, (size_t)(top - at));
    for (size_t hole = 0; hole < HOLE && (size_t)(at - bottom) >= PIECE; hole += PIECE) {
        at -= PIECE;
        if (!is_zero(at)) {
            memset(at, 0, PIECE);
            hole = 0;
        }
    }
    pool.all[number].deepest = top;
}

static rt_err
stack_alloc(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack)
{
    (void)provider;
    size_t i = 0;
    size = (size + RT_STACK_GUARD - 1) & ~(RT_STACK_GUARD - 1);
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
        pool.all[i].deepest = (char *)pool.all[i].stack.base + size;
        pool.count++;
    }
    clear(i);
    pool.all[i].out = true;
    pool.all[i].context = NULL;
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
    rt_unreached("a stack is freed that was not taken");
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

/* ---- Checkpoints. ---------------------------------------------------------------------------- */

/* Before the bytes of each stack in use. */
struct copied {
    const struct rt_context *context;
    size_t number;
    size_t size; /* Of its used end. */
};

void
rt_probe_prepared(struct rt_context *context)
{
    static char *nowhere;
    context->deepest = &nowhere;
    for (size_t i = 0; i < pool.count; i++) {
        if (pool.all[i].stack.base == context->stack) {
            pool.all[i].context = context;
            context->deepest = &pool.all[i].deepest;
            return;
        }
    }
}

/* 0: no context has been prepared on it, or it has finished. */
static size_t
used_of(size_t number)
{
    const struct rt_context *context = pool.all[number].context;
    if (context == NULL || context->finished) {
        return 0;
    }
    const char *top = context->stack + context->size;
    rt_assert((const char *)context->there >= context->stack);
    rt_assert((const char *)context->there <= top);
    return (size_t)(top - (const char *)context->there);
}

#ifdef RT_CONTEXT_UCONTEXT

size_t
sim__stacks_size(void)
{
    for (size_t i = 0; i < pool.count; i++) {
        if (pool.all[i].out) {
            return SIZE_MAX;
        }
    }
    return sizeof(size_t);
}

#else

size_t
sim__stacks_size(void)
{
    size_t size = sizeof(size_t);
    for (size_t i = 0; i < pool.count; i++) {
        size += pool.all[i].out ? sizeof(struct copied) + sim_shadow_copy_size(used_of(i)) : 0;
    }
    return size;
}

#endif

char *
sim__stacks_copy_out(char *to)
{
    size_t count = 0;
    char *at = to + sizeof(count);
    for (size_t i = 0; i < pool.count; i++) {
        if (!pool.all[i].out) {
            continue;
        }
        const struct copied copied = {pool.all[i].context, i, used_of(i)};
        memcpy(at, &copied, sizeof(copied));
        at += sizeof(copied);
        if (copied.size > 0) {
            at = sim_shadow_copy_out(at, copied.context->there, copied.size);
        }
        count++;
    }
    memcpy(to, &count, sizeof(count));
    return at;
}

const char *
sim__stacks_copy_back(const char *from)
{
    size_t count;
    memcpy(&count, from, sizeof(count));
    from += sizeof(count);
    sim__stacks_drop();
    for (size_t i = 0; i < count; i++) {
        struct copied copied;
        memcpy(&copied, from, sizeof(copied));
        from += sizeof(copied);
        pool.all[copied.number].out = true;
        pool.all[copied.number].context = copied.context;
        clear(copied.number); /* Frames that have ended have left red zones, too. */
        const struct rt_stack *stack = &pool.all[copied.number].stack;
        char *used = (char *)stack->base + stack->size - copied.size;
        from = sim_shadow_copy_back(from, used, copied.size);
        pool.all[copied.number].deepest = used;
    }
    return from;
}
