/*
 * context.c -- the only file that switches stacks.
 *
 * Three parts: what the sanitizers are told, how a switch is made (two ways, one of them
 * compiled), and the pair of resume and suspend over both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/context.h"

#include <stdint.h>

#include "runtime/base/assert.h"
#include "runtime/base/probe.h"

#ifdef RT_CONTEXT_UCONTEXT
#include <ucontext.h>
#endif

#include "runtime/base/banned.h"

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#elif __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif

/* A function of its own would begin on one stack and return on the other. */
#define IN_LINE __attribute__((always_inline)) static inline

/* ---- What the sanitizers are told, declared as their own headers do. ------------------------- */

#if defined(ASAN)

void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(
        void *fake_stack_save, const void **bottom_old, size_t *size_old);
void __asan_unpoison_memory_region(void const volatile *address, size_t size);

IN_LINE void
prepared(struct rt_context *context)
{
    /* Frames that an abandoned context left there are poisoned still. */
    __asan_unpoison_memory_region(context->stack, context->size);
}
IN_LINE void
leaving_for(struct rt_context *context)
{
    __sanitizer_start_switch_fiber(&context->back_fake_stack, context->stack, context->size);
}
IN_LINE void
arrived_on(struct rt_context *context)
{
    __sanitizer_finish_switch_fiber(
            context->fake_stack, &context->back_bottom, &context->back_size);
}
IN_LINE void
leaving_from(struct rt_context *context)
{
    /* NULL: nobody comes back, what the sanitizer keeps for this stack can go. */
    __sanitizer_start_switch_fiber(context->finished ? NULL : &context->fake_stack,
            context->back_bottom, context->back_size);
}
IN_LINE void
back_from(struct rt_context *context)
{
    __sanitizer_finish_switch_fiber(context->back_fake_stack, NULL, NULL);
}
IN_LINE void
ended(struct rt_context *context)
{
    __asan_unpoison_memory_region(context->stack, context->size);
}

#elif defined(TSAN)

void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);

IN_LINE void
prepared(struct rt_context *context)
{
    context->thread = NULL;
}
IN_LINE void
leaving_for(struct rt_context *context)
{
    if (context->thread == NULL) {
        context->thread = __tsan_create_fiber(0);
    }
    context->back_thread = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(context->thread, 0);
}
#define arrived_on(context) ((void)(context))
IN_LINE void
leaving_from(struct rt_context *context)
{
    __tsan_switch_to_fiber(context->back_thread, 0);
}
#define back_from(context) ((void)(context))
IN_LINE void
ended(struct rt_context *context)
{
    if (context->thread != NULL) {
        __tsan_destroy_fiber(context->thread);
        context->thread = NULL;
    }
}

#else
#define prepared(context) ((void)(context))
#define leaving_for(context) ((void)(context))
#define arrived_on(context) ((void)(context))
#define leaving_from(context) ((void)(context))
#define back_from(context) ((void)(context))
#define ended(context) ((void)(context))
#endif

/* ---- The switch. ----------------------------------------------------------------------------- */

static void run(struct rt_context *context) __attribute__((noreturn));

#ifndef RT_CONTEXT_UCONTEXT

/* Boost.Context's assembly, declared as its C++ header does. */
struct transfer {
    void *from;
    void *data;
};
extern struct transfer jump_fcontext(void *to, void *data);
extern void *make_fcontext(void *top, size_t size, void (*fn)(struct transfer));

static void
first(struct transfer transfer)
{
    struct rt_context *context = transfer.data;
    context->back = transfer.from;
    run(context);
}

IN_LINE void
prepare(struct rt_context *context)
{
    context->there = make_fcontext(context->stack + context->size, context->size, first);
}

IN_LINE void
switch_in(struct rt_context *context)
{
    context->there = jump_fcontext(context->there, context).from;
}

IN_LINE void
switch_out(struct rt_context *context)
{
    context->back = jump_fcontext(context->back, NULL).from;
}

#else

/* makecontext passes integers only. */
static void
first(unsigned high, unsigned low)
{
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

static void
switch_in(struct rt_context *context)
{
    ucontext_t here = {0};
    context->back = &here;
    rt_assert(swapcontext(&here, context->there) == 0);
}

static void
switch_out(struct rt_context *context)
{
    ucontext_t here = {0};
    context->there = &here;
    rt_assert(swapcontext(&here, context->back) == 0);
}

#endif

/* ---- Resume and suspend. --------------------------------------------------------------------- */

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
}

bool
rt_context_resume(struct rt_context *context)
{
    rt_assert(!context->running);
    rt_assert(!context->finished);
    context->running = true;
    RT_PROBE_CONTEXT(context, true);
    leaving_for(context);
    switch_in(context);
    back_from(context);
    RT_PROBE_CONTEXT(context, false);
    context->running = false;
    if (!context->finished) {
        return true;
    }
    ended(context);
    if (context->last_words != NULL) {
        context->last_words(context->last_argument);
        rt_unreached("last words do not return");
    }
    return false;
}

void
rt_context_suspend(struct rt_context *context)
{
    rt_assert(context->running);
    rt_assert(rt_context_here(context));
    leaving_from(context);
    switch_out(context);
    arrived_on(context);
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
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    return frame - (uintptr_t)context->stack < context->size;
}
