/*
 * fault_free.c -- the fault-free phase: no fault is injected any more, and the run must end.
 *
 * Repeated faults hide that a program does not recover from one: the next one breaks the cycle in
 * which it is caught. So they stop, and with them all that is late, spurious or slow. What remains
 * are legal freedoms: who runs, how long an answer takes, how many bytes are moved at once.
 *
 * This file detects that the run exceeds its limits then; the judge decides whether the program is
 * responsible (judge/liveness.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* A run that is stopped is a replay of one that reached the stop: its limits do not apply. */
void
sim__fault_free_begin(struct sim_world *world)
{
    const struct sim_options *options = &world->options;
    const struct sim_scenario *scenario = world->scenario;
    bool must_end = world->stop.step == UINT64_MAX;
    world->time_limit_ns = options->time_ns_max;
    world->fault_free_after = sim__in_force(
            options->fault_free_after, scenario->fault_free_after, SIM_FAULT_FREE_AFTER);
    world->converge_steps = UINT64_MAX;
    world->converge_ns = UINT64_MAX;
    if (must_end) {
        world->converge_steps = sim__in_force(
                options->converge_steps, scenario->converge_steps, SIM_CONVERGE_STEPS);
        world->converge_ns = sim__in_force(options->converge_ns, scenario->converge_ns, UINT64_MAX);
    }
}

static void
end_faults(struct sim_world *world)
{
    rt_assert(!world->fault_free);
    rt_assert(world->now_ns <= world->options.time_ns_max);
    world->fault_free = true;
    world->fault_free_step = world->step;
    world->fault_free_ns = world->now_ns;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        world->actors[i]->polls_fault_free = world->actors[i]->polls;
    }
    if (world->converge_ns < world->options.time_ns_max - world->now_ns) {
        world->time_limit_ns = world->now_ns + world->converge_ns;
    }
    sim_world_event(world, SIM_EVENT_FAULT_FREE, 0, 0, 0, world->injections);
}

void
sim__not_converged(struct sim_world *world)
{
    rt_assert(world->fault_free);
    /* Without a fault before, nothing has changed; and a replay after a spurious poll is not the
     * run itself. */
    if (world->injections == 0 || world->decider.muted) {
        return;
    }
    sim_fail(world, SIM_VERDICT_LIVELOCK, SIM_ORACLE_LIVENESS, NULL, 0,
            "no fault was injected after step %llu, and %llu steps later the run is not over",
            (unsigned long long)world->fault_free_step,
            (unsigned long long)(world->step - world->fault_free_step));
}

bool
sim_fault_free(const struct sim_world *world)
{
    return world->fault_free;
}

uint64_t
sim__fault_free_check(struct sim_world *world)
{
    if (!world->fault_free) {
        if (world->step < world->fault_free_after) {
            return world->fault_free_after;
        }
        end_faults(world);
    }
    uint64_t taken = world->step - world->fault_free_step;
    if (taken >= world->converge_steps) {
        sim__not_converged(world);
        return UINT64_MAX;
    }
    return world->converge_steps == UINT64_MAX ? UINT64_MAX
                                               : world->fault_free_step + world->converge_steps;
}
