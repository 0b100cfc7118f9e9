/*
 * calls.c -- stacks of calls, from a replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/calls.h"

#include "runtime/base/assert.h"
#include "sim/thread/thread.h"

/* The unwinder's own locks are not the program's. */
static void
take(struct sim_stack *ret)
{
    struct sim_thread *now = sim_thread_now;
    sim_thread_now = NULL;
    sim_stack_take(ret);
    sim_thread_now = now;
}

void
sim_call_stacks_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_call_stacks *stacks = argument;
    struct sim_experiment experiment;
    uint64_t last = 0;
    rt_assert(stacks->count <= SIM_CALL_STACKS);
    for (uint32_t i = 0; i < stacks->count; i++) {
        stacks->all[i].take = take;
        last = stacks->all[i].step > last ? stacks->all[i].step : last;
    }
    sim_experiment_begin(&experiment, world, what, outcome);
    sim_world_watch_calls(stacks->all, stacks->count);
    (void)sim_experiment_at(&experiment, last);
    sim_world_watch_calls(NULL, 0);
    sim_world_drop(world);
    sim_experiment_end(&experiment);
}
