/*
 * fiber.c -- loops on separate stacks, and the return to the world from any stack.
 *
 * A run may end on any stack: in a loop, in a guest, in a guest that another guest's
 * host function has called. Each context has a pointer to the one that entered it;
 * sim__escape leaves one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/process/fiber.h"

#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "sim/core/process/stack.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

#define STACK_SIZE ((size_t)256 << 10)

void
sim_fiber_init(struct sim_fiber *fiber, struct sim_world *world, void (*fn)(void *argument),
        void *argument)
{
    sim_fiber_init_sized(fiber, world, STACK_SIZE, fn, argument);
}

void
sim_fiber_init_sized(struct sim_fiber *fiber, struct sim_world *world, size_t size,
        void (*fn)(void *argument), void *argument)
{
    struct rt_stack stack;
    if (rt_stack_alloc(sim_stacks(world), size, &stack) != RT_OK) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_LIMIT, world->current, 0,
                "no stack is left for another loop or thread");
    }
    rt_context_init(&fiber->context, stack.base, stack.size, fn, argument);
    fiber->next = world->fibers;
    world->fibers = fiber;
}

bool
sim_fiber_resume(struct sim_world *world, struct sim_fiber *fiber)
{
    rt_assert(world->fiber == NULL);
    world->fiber = fiber;
    bool suspended = rt_context_resume(&fiber->context);
    world->fiber = NULL;
    return suspended;
}

void
sim_fiber_suspend(struct sim_world *world)
{
    struct sim_fiber *fiber = world->fiber;
    rt_assert(fiber != NULL);
    if (world->inner != &fiber->context) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, world->current, 0,
                "a guest's host function has blocked: it is polled, and must suspend instead");
    }
    struct sim_actor *current = world->current;
    rt_context_suspend(&fiber->context);
    world->current = current;
}

void
rt_probe_context(struct rt_context *context, bool entered)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    if (entered) {
        context->outer = world->inner;
        world->inner = context;
    } else {
        rt_assert(world->inner == context);
        world->inner = context->outer;
        sim_stack_left(context, context->there);
    }
}

static void
escape_further(void *argument)
{
    sim__escape(argument);
}

void
sim__escape(struct sim_world *world)
{
    if (world->inner != NULL) {
        /* The frames on this stack are never returned to. */
        rt_context_abandon(world->inner, escape_further, world);
    }
    _longjmp(world->escape, 1);
}

void
sim__fibers_drop(struct sim_world *world)
{
    for (struct sim_fiber *fiber = world->fibers; fiber != NULL; fiber = fiber->next) {
        rt_context_forget(&fiber->context);
    }
    world->fibers = NULL;
    world->fiber = NULL;
    rt_assert(world->inner == NULL);
    sim__stacks_drop();
}
