/*
 * fiber.c -- the states of a fiber, over a context that knows none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/fiber.h"

#include "runtime/fiber/switch.h"

#include "runtime/base/banned.h"

#define RT_FIBER_MAGIC 0x52464942u

static inline void
check_fiber(const struct rt_fiber *fiber)
{
    rt_assert(fiber != NULL);
    if (__builtin_expect(fiber->object.magic != RT_FIBER_MAGIC, 0)) {
        rt_fault(RT_E_INVALID, NULL, "a fiber was used that rt_fiber_init never made");
    }
}

void
rt_fiber_init(struct rt_fiber *fiber, const struct rt_stack *stack, void (*fn)(void *argument),
        void *argument)
{
    rt_assert(fiber != NULL);
    rt_assert(stack != NULL);
    fiber->object.magic = RT_FIBER_MAGIC;
    fiber->object.id = RT_PROBE_OBJECT(FIBER);
    fiber->state = RT_FIBER_NEW;
    fiber->cancelled = false;
    rt_context_init(&fiber->context, stack->base, stack->size, fn, argument);
}

/* True when it has finished. */
static inline bool
go(struct rt_fiber *fiber, const struct rt_site *await)
{
    RT_PROBE(RESUME, fiber->object.id, RT_HERE, await, (uint64_t)fiber->cancelled);
    fiber->state = RT_FIBER_RUNNING;
    bool suspended = rt__context_resume(&fiber->context);
    rt_assert(fiber->state == (suspended ? RT_FIBER_SUSPENDED : RT_FIBER_RUNNING));
    if (!suspended) {
        fiber->state = RT_FIBER_FINISHED;
    }
    return !suspended;
}

bool
rt_fiber_resume_at(struct rt_fiber *fiber, const struct rt_site *await)
{
    check_fiber(fiber);
    if (fiber->state == RT_FIBER_FINISHED) {
        rt_fault(RT_E_FINISHED, "a fiber", "it was resumed although it has finished");
    }
    if (fiber->state == RT_FIBER_RUNNING) {
        rt_fault(RT_E_REENTERED, "a fiber", "it was resumed although it runs");
    }
    return go(fiber, await);
}

rt_err
rt_fiber_suspend_at(struct rt_fiber *fiber, enum rt_suspend why, const struct rt_site *await)
{
    check_fiber(fiber);
    if (fiber->state != RT_FIBER_RUNNING || !rt__context_here(&fiber->context)) {
        rt_fault(RT_E_INVALID, "a fiber", "it was suspended from another stack");
    }
    if (fiber->cancelled) {
        rt_fault(RT_E_CANCELLED, "a fiber", "it is being dropped, and has suspended once more");
    }
    RT_PROBE(SUSPEND, fiber->object.id, RT_HERE, await, (uint64_t)why);
    fiber->state = RT_FIBER_SUSPENDED;
    rt__context_suspend(&fiber->context);
    return fiber->cancelled ? RT_E_CANCELLED : RT_OK;
}

void
rt_fiber_drop_at(struct rt_fiber *fiber, const struct rt_site *await)
{
    check_fiber(fiber);
    switch (fiber->state) {
    case RT_FIBER_NEW:
        rt_context_forget(&fiber->context);
        fiber->state = RT_FIBER_FINISHED;
        return;
    case RT_FIBER_SUSPENDED:
        fiber->cancelled = true;
        rt_assert(go(fiber, await));
        return;
    case RT_FIBER_RUNNING:
        rt_fault(RT_E_REENTERED, "a fiber", "it was dropped although it runs");
    case RT_FIBER_FINISHED:
        return;
    }
}
