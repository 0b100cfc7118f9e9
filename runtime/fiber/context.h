/*
 * context.h -- a second stack to run on, and the switch to it and back.
 *
 *      the resumer                                the context's own stack
 *      rt_context_resume ──────────switch───────▶ enter(argument) begins, or continues
 *          returns       ◀─────────switch──────── rt_context_suspend, or `enter` returns
 *
 * All switching of stacks in rewake is here, in switch.h: Boost.Context's C entry points, or
 * ucontext with -DRT_CONTEXT_UCONTEXT. The address and thread sanitizers are notified of
 * each switch, so that they attribute frames to the right stack.
 * Guests (fiber.h) and the simulator's loops are both built on it.
 *
 * A context only switches. Whether it may be resumed now is for its owner to check; a
 * wrong call panics.
 *
 * The watcher (probe.h) is called at each arrival: a run that ends on a context's stack
 * must first leave it.
 *
 * Ownership. Borrows the stack until it has finished, was abandoned or is forgotten; pinned from
 * the first resume on. Contexts nest: one may resume another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_CONTEXT_H
#define RT_FIBER_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_context {
    void (*enter)(void *argument);
    void *argument;
    char *stack; /* Its lowest byte. */
    size_t size;
    void *there; /* Its saved position while it does not run. */
    void *back;  /* The saved position of its resumer meanwhile. */
    void **save; /* Where the position is saved of whatever runs before it is entered next. */
    bool running;
    bool finished; /* `enter` has returned, or it was abandoned. */
    void (*last_words)(void *argument);
    void *last_argument;
    struct rt_context *outer; /* The watcher's: the context that resumed it. */
    char **deepest;           /* The watcher's: where it notes how far down the stack was in use. */
    /* The sanitizers'. */
    void *fake_stack;
    void *back_fake_stack;
    const void *back_bottom;
    size_t back_size;
    void *thread;
    void *back_thread;
};

/* The least that a stack must have for a context; `enter` needs more. */
#define RT_CONTEXT_STACK_MIN ((size_t)8 << 10)

/*
 * Prepares enter(argument) to run on the `size` bytes (RT_CONTEXT_STACK_MIN at least) at `stack`,
 * from the first resume on. Nothing runs yet.
 */
void rt_context_init(struct rt_context *context, void *stack, size_t size,
        void (*enter)(void *argument), void *argument);

/* Switches to it until it suspends or has finished. False: it has finished. */
bool rt_context_resume(struct rt_context *context);

/* Back to the resumer of `context`, from its own stack. Returns at the next resume. */
void rt_context_suspend(struct rt_context *context);

/*
 * Leaves the stack of `context`, from on it, for good: its resumer calls
 * last_words(argument), which must not return either. The frames on the stack stay there.
 */
__attribute__((noreturn)) void rt_context_abandon(
        struct rt_context *context, void (*last_words)(void *argument), void *argument);

/* Ends the use of a context that is suspended and will not be resumed. */
void rt_context_forget(struct rt_context *context);

/* True when the caller runs on the stack of `context`. */
bool rt_context_here(const struct rt_context *context);

#ifdef __cplusplus
}
#endif
#endif
