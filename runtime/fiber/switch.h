/*
 * switch.h -- the switch itself: the only file that changes stacks.
 *
 * Three parts: the calls of the sanitizers, the switch (two implementations, one of them
 * compiled), and resume and suspend over both. For the files of this folder alone: the functions
 * are inline, since each return after a switch goes where the processor does not predict it,
 * and costs more than the switch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_SWITCH_H
#define RT_FIBER_SWITCH_H

#include <stdint.h>

#include "runtime/base/assert.h"
#include "runtime/base/probe.h"
#include "runtime/fiber/context.h"

#ifdef RT_CONTEXT_UCONTEXT
#include <ucontext.h>
#endif

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

/* A separate function would begin on one stack and return on the other. */
#define IN_LINE __attribute__((always_inline)) static inline

/* ---- The calls of the sanitizers, declared as their own headers do. -------------------------- */

#if defined(ASAN)

void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(
        void *fake_stack_save, const void **bottom_old, size_t *size_old);
void __asan_unpoison_memory_region(void const volatile *address, size_t size);

IN_LINE void
prepared(struct rt_context *context)
{
    /* Frames that an abandoned context left there are still poisoned. */
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
    /* NULL: the stack is not resumed any more, and the sanitizer can drop its state. */
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

#ifndef RT_CONTEXT_UCONTEXT

/* Boost.Context's assembly, declared as its C++ header does. */
struct transfer {
    void *from;
    void *data;
};
extern struct transfer jump_fcontext(void *to, void *data);
extern void *make_fcontext(void *top, size_t size, void (*fn)(struct transfer));

/*
 * With the control bits of floating point Boost.Context saves and loads its sticky flags, and a
 * load that changes one takes 55 ns where all the rest takes 4 (measured on a Xeon). The flags mean
 * nothing across a call, so they are cleared on the side that is left: then none changes.
 */
IN_LINE void
lower_flags(void)
{
#ifdef __SSE__
    unsigned word = __builtin_ia32_stmxcsr();
    if ((word & 0x3f) != 0) {
        __builtin_ia32_ldmxcsr(word & ~0x3fu);
    }
#endif
}

IN_LINE void
switch_in(struct rt_context *context)
{
    lower_flags();
    context->there = jump_fcontext(context->there, context).from;
}

IN_LINE void
switch_out(struct rt_context *context)
{
    lower_flags();
    context->back = jump_fcontext(context->back, NULL).from;
}

#else

IN_LINE void
switch_in(struct rt_context *context)
{
    ucontext_t here = {0};
    context->back = &here;
    rt_assert(swapcontext(&here, context->there) == 0);
}

IN_LINE void
switch_out(struct rt_context *context)
{
    ucontext_t here = {0};
    context->there = &here;
    rt_assert(swapcontext(&here, context->back) == 0);
}

#endif

/* ---- Resume and suspend. --------------------------------------------------------------------- */

IN_LINE bool
rt__context_here(const struct rt_context *context)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    return frame - (uintptr_t)context->stack < context->size;
}

IN_LINE bool
rt__context_resume(struct rt_context *context)
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
        rt_unreached("the exit function does not return");
    }
    return false;
}

IN_LINE void
rt__context_suspend(struct rt_context *context)
{
    rt_assert(context->running);
    rt_assert(rt__context_here(context));
    leaving_from(context);
    switch_out(context);
    arrived_on(context);
}

#endif
