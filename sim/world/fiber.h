/*
 * fiber.h -- a second stack that the world can switch to and from.
 *
 * Boost.Context's C entry points are behind this file alone. Stacks have a guard
 * page, are pooled for the process, and are given back when the run is over:
 * whatever stood on them is forgotten, as all memory of a run is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_WORLD_FIBER_H
#define SIM_WORLD_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct sim_world;

struct sim_fiber {
    struct sim_fiber *next; /* In world->fibers. */
    void *context;          /* Where it stands while it does not run. */
    void *back;             /* Where it was switched to from. */
    char *stack;
    void (*fn)(void *argument);
    void *argument;
    bool finished;
    void *fake_stack; /* The address sanitizer's, of either side. */
    void *back_fake_stack;
    const void *back_bottom;
    size_t back_size;
};

/* Prepares `fiber` to run fn(argument) at the first switch. No stack can be had: the run ends. */
void sim_fiber_init(struct sim_fiber *fiber, struct sim_world *world, void (*fn)(void *argument),
        void *argument);

/* Runs it until it switches back or its function returns (`finished`). From the world's own

 * stack. */
void sim_fiber_resume(struct sim_world *world, struct sim_fiber *fiber);

/* Back to whoever resumed the fiber that runs now. */
void sim_fiber_suspend(struct sim_world *world);

/* True when `address` lies in the guard page of a stack: an overflow. */
bool sim_fiber_guard(const void *address);

#endif
