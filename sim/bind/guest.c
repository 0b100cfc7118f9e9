/*
 * guest.c -- guests of the runtime in the simulated world.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/bind/guest.h"

#include "sim/core/process/stack.h"
#include "sim/core/world.h"

static void
on_charge(void *argument, uint64_t units)
{
    sim_work(argument, units);
}

struct rt_engine *
sim_engine_new(struct sim_world *world, const struct rt_stack_config *stack)
{
    struct rt_engine *engine = sim_new(world, struct rt_engine);
    struct rt_engine_config config = {
            .stacks = sim_stacks(world),
            .on_charge = on_charge,
            .charge_argument = world,
    };
    if (stack != NULL) {
        config.stack = *stack;
    }
    rt_engine_init(engine, &config);
    return engine;
}
