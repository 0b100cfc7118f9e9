/*
 * renewed_foreign.c -- renewed_on_another_line.c in an executor other than rewake's.
 *
 * The task registers for an event on one line, and renews its wait on another. A spurious poll
 * changes the line and the reason, and brings nothing forward. Correct.
 *
 * Guards: a changed wait alone is no progress, also where wakers are reported by
 * sim/bind/foreign.h.
 * Must end in: pass, for each audit rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/oracle/executor.h"

struct program {
    struct executor executor;
    struct task waiter;
    struct event event;
    bool happened;
    bool registered;
};

static bool
waiter_poll(struct task *task)
{
    struct program *program = rt_container_of(task, struct program, waiter);
    if (program->happened) {
        return true;
    }
    if (!program->registered) {
        program->registered = true;
        event_wait(&program->event, task, "the event");
        return false;
    }
    event_wait(&program->event, task, "the event, still");
    return false;
}

/* A separate thread. */
static void
source_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    sim_sleep(world, sim_range(world, RT_MS, 2 * RT_MS));
    program->happened = true;
    event_fire(&program->event);
}

static void
setup(struct sim_world *world)
{
    struct program *program = sim_new(world, struct program);
    executor_init(&program->executor, world);
    executor_spawn(&program->executor, &program->waiter, "waiter", waiter_poll);
    (void)sim_loop_new(world, "source", source_main, program);
}

SIM_SCENARIO(oracle_renewed_foreign, .name = "oracle/renewed-foreign",
        .about = "A task of a foreign executor renews its wait on another line.", .setup = setup);
