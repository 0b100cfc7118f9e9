/*
 * stack.h -- stacks for the loops and guests of a run.
 *
 * Mapped once with a guard page each, kept by the process, and free again when the
 * run is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "runtime/fiber/context.h"
#include "runtime/fiber/stack.h"

struct sim_world;

/* The provider of the run in progress, for an engine (fiber/store.h). More than 1,024 stacks at a
 * time: RT_E_FULL. */
struct rt_stack_provider *sim_stacks(struct sim_world *world);

/* `context`, prepared on one of them, is left while its stack is in use down to `here`. */
static inline void
sim_stack_left(struct rt_context *context, void *here)
{
#ifndef RT_CONTEXT_UCONTEXT
    if ((char *)here < *context->deepest) {
        *context->deepest = (char *)here;
    }
#else
    (void)context;
    (void)here;
#endif
}

/* True when `address` is in the guard page of a stack: an overflow. For signal handlers. */
bool sim_stack_guard(const void *address);

/* Frees all stacks: the run is over. */
void sim__stacks_drop(void);

/*
 * Copy the stacks in use, and restore them, for checkpoints (memory/checkpoint.h). Of each stack
 * the used end is copied, from its context's stack pointer on; none of them may be running.
 *
 * The size is SIZE_MAX where the used end is not known (contexts of ucontext). Restoring frees the
 * stacks that were taken since.
 */
size_t sim__stacks_size(void);
char *sim__stacks_copy_out(char *to);
const char *sim__stacks_copy_back(const char *from);
