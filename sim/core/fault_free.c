/*
 * fault_free.c -- the fault-free phase: nothing disturbs the run any more, and it must come to its
 * end.
 *
 * Faults that come again and again hide that a program does not recover from them: sooner or later
 * one of them breaks the circle in which it is caught. So they stop, and with them all that is
 * late, spurious or slow. What remains are freedoms of a world in order: who runs, how long an
 * answer takes, how many bytes come at once.
 *
 * That the run takes too long then is said here; whether that is its own fault, the judge finds
 * (judge/liveness.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

static uint64_t
in_force(uint64_t option, uint64_t declared, uint64_t usual)
{
    return option != 0 ? option : declared != 0 ? declared : usual;
}

/* A run that is stopped on its way is a replay of one that came so far: nobody asks it to end. */
void
sim__health_begin(struct sim_world *world)
{
    const struct sim_options *options = &world->options;
    const struct sim_scenario *scenario = world->scenario;
    bool must_end = world->stop.step == UINT64_MAX;
    world->disturbances = 0;
    world->fault_free = false;
    world->fault_free_step = 0;
    world->fault_free_ns = 0;
    world->time_limit_ns = options->time_ns_max;
    world->fault_free_after =
            in_force(options->fault_free_after, scenario->fault_free_after, SIM_FAULT_FREE_AFTER);
    world->converge_steps = UINT64_MAX;
    world->converge_ns = UINT64_MAX;
    if (must_end) {
        world->converge_steps =
                in_force(options->converge_steps, scenario->converge_steps, SIM_CONVERGE_STEPS);
        world->converge_ns = in_force(options->converge_ns, scenario->converge_ns, UINT64_MAX);
    }
}

static void
end_faults(struct sim_world *world)
{
    world->fault_free = true;
    world->fault_free_step = world->step;
    world->fault_free_ns = world->now_ns;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        world->actors[i]->polls_fault_free = world->actors[i]->polls;
    }
    if (world->converge_ns < world->options.time_ns_max - world->now_ns) {
        world->time_limit_ns = world->now_ns + world->converge_ns;
    }
    sim_world_event(world, SIM_EVENT_FAULT_FREE, 0, 0, 0, world->disturbances);
}

void
sim__unsettled(struct sim_world *world)
{
    /* What was never disturbed is no worse off than before, and what a question to a blocked task
     * has set going is not the run itself. */
    if (world->disturbances == 0 || world->decider.muted) {
        return;
    }
    sim_fail(world, SIM_VERDICT_LIVELOCK, SIM_ORACLE_LIVENESS, NULL, 0,
            "nothing disturbed it any more after step %llu, and %llu steps later it is not over",
            (unsigned long long)world->fault_free_step,
            (unsigned long long)(world->step - world->fault_free_step));
}

bool
sim_fault_free(const struct sim_world *world)
{
    return world->fault_free;
}

uint64_t
sim__look_after_health(struct sim_world *world)
{
    if (!world->fault_free) {
        if (world->step < world->fault_free_after) {
            return world->fault_free_after;
        }
        end_faults(world);
    }
    uint64_t taken = world->step - world->fault_free_step;
    if (taken >= world->converge_steps) {
        sim__unsettled(world);
        return UINT64_MAX;
    }
    return world->converge_steps == UINT64_MAX ? UINT64_MAX
                                               : world->fault_free_step + world->converge_steps;
}
