/*
 * fiber.h -- a second stack that the world can switch to and from.
 *
 * A context of the runtime (runtime/fiber/context.h) on a stack of the run, which is
 * abandoned when the run is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "runtime/fiber/context.h"

struct sim_world;

struct sim_fiber {
    struct sim_fiber *next; /* In world->fibers. */
    struct rt_context context;
};

/* Prepares `fiber` to run fn(argument) at the first switch. Without a free stack the run ends. */
void sim_fiber_init(struct sim_fiber *fiber, struct sim_world *world, void (*fn)(void *argument),
        void *argument);

/* The same with a stack of `size` bytes. */
void sim_fiber_init_sized(struct sim_fiber *fiber, struct sim_world *world, size_t size,
        void (*fn)(void *argument), void *argument);

/* Runs it until it switches back; false when its function has returned. On the world's stack only.
 */
bool sim_fiber_resume(struct sim_world *world, struct sim_fiber *fiber);

/* Returns to the caller of sim_fiber_resume until the next one, which restores the current actor.
 * Called on a guest's stack, it ends the run. */
void sim_fiber_suspend(struct sim_world *world);
