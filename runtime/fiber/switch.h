/*
 * switch.h -- the switch itself: the only file that changes stacks.
 *
 * Three parts: the calls of the sanitizers, the switch (two implementations, one of them
 * compiled), and resume, suspend and pass over both. For the files of this folder and of
 * sim/thread alone: the functions are inline, since each return after a switch goes where the
 * processor does not predict it, and costs more than the switch.
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
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(context->fake_stack, &bottom, &size);
    if (context->save == &context->back) { /* From its resumer, not passed on by another one. */
        context->back_bottom = bottom;
        context->back_size = size;
    }
}
IN_LINE void
passing(struct rt_context *from, struct rt_context *to)
{
    to->back_fake_stack = from->back_fake_stack;
    to->back_bottom = from->back_bottom;
    to->back_size = from->back_size;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->size);
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
passing(struct rt_context *from, struct rt_context *to)
{
    if (to->thread == NULL) {
        to->thread = __tsan_create_fiber(0);
    }
    to->back_thread = from->back_thread;
    __tsan_switch_to_fiber(to->thread, 0);
}
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
#define passing(from, to) ((void)(from), (void)(to))
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

/*
 * Each jump hands over the context that it is about: the target, which then writes where its origin
 * stands to `save`, or, on the way out to a resumer, the origin itself.
 */
IN_LINE struct rt_context *
switch_in(struct rt_context *context)
{
    lower_flags();
    context->save = &context->back;
    struct transfer transfer = jump_fcontext(context->there, context);
    struct rt_context *out = (struct rt_context *)transfer.data; /* C++ needs the cast. */
    out->there = transfer.from;
    return out;
}

IN_LINE void
switch_out(struct rt_context *context)
{
    lower_flags();
    void *from = jump_fcontext(context->back, context).from;
    *context->save = from;
}

IN_LINE void
switch_over(struct rt_context *from, struct rt_context *to)
{
    lower_flags();
    to->save = &from->there;
    void *origin = jump_fcontext(to->there, to).from;
    *from->save = origin;
}

#else

/* Where a resumer stands, and which context came out to it. */
struct resumer {
    ucontext_t here;
    struct rt_context *out;
};

IN_LINE struct rt_context *
switch_in(struct rt_context *context)
{
    struct resumer resumer = {0};
    context->back = &resumer;
    context->save = &context->back;
    rt_assert(swapcontext(&resumer.here, context->there) == 0);
    return resumer.out;
}

IN_LINE void
switch_over(struct rt_context *from, struct rt_context *to)
{
    ucontext_t here = {0};
    from->there = &here;
    to->save = &from->there;
    rt_assert(swapcontext(&here, to->there) == 0);
}

IN_LINE void
switch_out(struct rt_context *context)
{
    ucontext_t here = {0};
    struct resumer *resumer = context->back;
    context->there = &here;
    resumer->out = context;
    rt_assert(swapcontext(&here, &resumer->here) == 0);
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
    struct rt_context *out = switch_in(context); /* Another one, after rt__context_pass. */
    back_from(context);
    RT_PROBE_CONTEXT(out, false);
    out->running = false;
    if (!out->finished) {
        return true;
    }
    ended(out);
    if (out->last_words != NULL) {
        out->last_words(out->last_argument);
        rt_unreached("the exit function does not return");
    }
    return false;
}

/* From the stack of `from` to that of `to`, which is suspended, or new: what `from` was resumed
 * for, `to` does now, and it returns to the same resumer. Returns when `from` is next resumed or
 * passed to. */
IN_LINE void
rt__context_pass(struct rt_context *from, struct rt_context *to)
{
    rt_assert(from->running && !to->running && !to->finished);
    to->back = from->back;
    to->outer = from->outer;
    to->running = true;
    from->running = false;
    passing(from, to);
    switch_over(from, to);
    arrived_on(from);
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
