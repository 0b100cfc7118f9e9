/*
 * displaced_waker_foreign.c -- displaced_waker.c in an executor other than rewake's.
 *
 * Two readers store themselves in the event of the arrival and each in its own event. The arrival
 * wakes the reader that was polled last, and that one wakes the other. A spurious poll of the
 * displaced reader stores it in the shared event again: a changed wait, and no progress. Correct.
 *
 * Guards: a changed wait alone is no progress, also where wakers are reported by
 * sim/bind/foreign.h.
 * Must end in: pass, for each audit rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/oracle/executor.h"

struct program;

struct reader {
    struct task task;
    struct program *program;
    struct reader *other;
    struct event own;
};

struct program {
    struct executor executor;
    struct reader readers[2];
    struct event arrival;
    bool arrived;
};

static bool
reader_poll(struct task *task)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    if (reader->program->arrived) {
        event_fire(&reader->other->own);
        return true;
    }
    event_wait(&reader->program->arrival, task, "the message");
    event_wait(&reader->own, task, "the other reader");
    return false;
}

/* A separate thread. */
static void
source_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    sim_sleep(world, sim_range(world, RT_MS, 2 * RT_MS));
    program->arrived = true;
    event_fire(&program->arrival);
}

static void
setup(struct sim_world *world)
{
    struct program *program = sim_new(world, struct program);
    executor_init(&program->executor, world);
    for (uint32_t i = 0; i < 2; i++) {
        struct reader *reader = &program->readers[i];
        reader->program = program;
        reader->other = &program->readers[1 - i];
        executor_spawn(&program->executor, &reader->task, i == 0 ? "first" : "second", reader_poll);
    }
    (void)sim_loop_new(world, "source", source_main, program);
}

SIM_SCENARIO(oracle_displaced_waker_foreign, .name = "oracle/displaced-waker-foreign",
        .about = "Two readers of a foreign executor share an event; each is woken in time.",
        .setup = setup);
