/*
 * mock.c -- the clock that a test moves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/mock.h"

#include "sim/core/loop.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

void
sim_mock_time(struct sim_world *world)
{
    /* The options are this run's own. */
    world->mock_time = true;
    world->options.step_ns = 0;
    world->options.slow_one_in = 0;
}

static void
check_may(struct sim_world *world)
{
    if (!world->mock_time || sim_loop_current(world) == NULL) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, world->current, 0,
                "the clock was advanced %s",
                world->mock_time ? "outside of a loop" : "without sim_mock_time");
    }
}

/* Moved by the test, so no wake is late by it: this is not a jump of rule 2. */
static void
move_to(struct sim_world *world, uint64_t to_ns)
{
    if (to_ns > world->now_ns) {
        world->now_ns = to_ns;
        sim_world_event(world, SIM_EVENT_CLOCK, 0, 0, 0, to_ns);
    }
    sim_loop_pause(world);
}

void
sim_advance(struct sim_world *world, uint64_t ns)
{
    check_may(world);
    uint64_t to_ns = world->now_ns + ns;
    move_to(world, to_ns < ns ? SIM_NEVER : to_ns);
}

static uint64_t
next_ns(const struct sim_world *world)
{
    uint64_t next = SIM_NEVER;
    for (uint32_t i = 0; i < world->timed_count; i++) {
        uint64_t due_ns = world->actors[world->timed[i]]->due_ns;
        next = due_ns < next ? due_ns : next;
    }
    sim_bindings_each(clocked, world, next_ns)
    {
        uint64_t deadline_ns = clocked->ops->next_ns(clocked->argument);
        next = deadline_ns < next ? deadline_ns : next;
    }
    return next;
}

bool
sim_advance_to_next(struct sim_world *world)
{
    check_may(world);
    uint64_t to_ns = next_ns(world);
    if (to_ns == SIM_NEVER) {
        return false;
    }
    move_to(world, to_ns);
    return true;
}
