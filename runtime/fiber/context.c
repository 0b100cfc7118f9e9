/*
 * context.c -- the beginning and the end of a context; what is between is in switch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/context.h"

#include <stdint.h>

#include "runtime/fiber/switch.h"

#include "runtime/base/banned.h"

/* For unwinders: there is no frame around the one in which this stands. */
#if defined(__x86_64__)
#define OUTERMOST() __asm__(".cfi_undefined rip")
#else
#define OUTERMOST() ((void)0)
#endif

static void
run(struct rt_context *context)
{
    arrived_on(context);
    context->enter(context->argument);
    context->finished = true;
    leaving_from(context);
    switch_out(context);
    rt_unreached("a finished context is not resumed");
}

#ifndef RT_CONTEXT_UCONTEXT

static void
first(struct transfer transfer)
{
    OUTERMOST();
    struct rt_context *context = transfer.data;
    *context->save = transfer.from;
    run(context);
}

static void
prepare(struct rt_context *context)
{
    lower_flags();
    context->there = make_fcontext(context->stack + context->size, context->size, first);
}

#else

/* makecontext passes integers only. */
static void
first(unsigned high, unsigned low)
{
    OUTERMOST();
    run((struct rt_context *)((uintptr_t)high << 16 << 16 | low));
}

/* The first ucontext_t lies at the top of the stack, each later one in the frame that waits. */
static void
prepare(struct rt_context *context)
{
    uintptr_t top = (uintptr_t)context->stack + context->size - sizeof(ucontext_t);
    ucontext_t *there = (ucontext_t *)(top & ~(uintptr_t)63);
    *there = (ucontext_t){0};
    rt_assert(getcontext(there) == 0);
    there->uc_stack.ss_sp = context->stack;
    there->uc_stack.ss_size = (size_t)((char *)there - context->stack);
    there->uc_link = NULL;
    uintptr_t word = (uintptr_t)context;
    makecontext(there, (void (*)(void))first, 2, (unsigned)(word >> 16 >> 16), (unsigned)word);
    context->there = there;
}

#endif

void
rt_context_init(struct rt_context *context, void *stack, size_t size, void (*enter)(void *argument),
        void *argument)
{
    rt_assert(context != NULL);
    rt_assert(stack != NULL);
    rt_assert(size >= RT_CONTEXT_STACK_MIN);
    rt_assert(enter != NULL);
    context->enter = enter;
    context->argument = argument;
    context->stack = stack;
    context->size = size;
    context->running = false;
    context->finished = false;
    context->last_words = NULL;
    context->fake_stack = NULL;
    prepared(context);
    prepare(context);
    RT_PROBE_PREPARED(context);
}

bool
rt_context_resume(struct rt_context *context)
{
    return rt__context_resume(context);
}

void
rt_context_suspend(struct rt_context *context)
{
    rt__context_suspend(context);
}

void
rt_context_abandon(struct rt_context *context, void (*last_words)(void *argument), void *argument)
{
    rt_assert(context->running);
    rt_assert(last_words != NULL);
    context->last_words = last_words;
    context->last_argument = argument;
    context->finished = true;
    leaving_from(context);
    switch_out(context);
    rt_unreached("an abandoned context is not resumed");
}

void
rt_context_forget(struct rt_context *context)
{
    rt_assert(!context->running);
    if (!context->finished) {
        context->finished = true;
        ended(context);
    }
}

bool
rt_context_here(const struct rt_context *context)
{
    return rt__context_here(context);
}
