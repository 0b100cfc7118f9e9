/*
 * glommio-379.c -- a task in the run queue holds no reference count.
 *
 * DataDog/glommio#379 (pull request #384).
 *
 * The bug. A task is counted by its handle and by its wakers. A wake through a borrowed waker
 * marks it as scheduled and puts it into the run queue without taking a count. If the waker is
 * dropped then, and was the last reference, the task is freed while it is in the queue.
 *
 * The fix. The queue owns a count, from the wake to the end of the run: task_wake_by_ref and
 * executor_turn below.
 *
 * Here. A task is spawned and detached; its one reference is the waker of a connection. Another
 * thread wakes through it and then closes the connection, which drops it. If the executor has run
 * the task in between, all is well; otherwise it takes freed memory out of its queue. Freed memory
 * is overwritten here, as by a poisoning allocator.
 *
 * Cause: not-a-wake in executor_turn or task_wake_by_ref
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define FREED 0x5a
#define WAKES 3u

struct state;

struct task {
    void (*run)(struct state *state);
    uint32_t references;
    bool scheduled;
};

struct state {
    struct sim_world *world;
    struct sim_loop *executor;
    struct task *task;
    struct task *queued; /* The run queue, with space for one task. */
    uint32_t runs;
    bool closed;
    bool broken;
};

static void
task_drop(struct task *task)
{
    if (--task->references == 0) {
        memset(task, FREED, sizeof(*task));
    }
}

static void
task_wake_by_ref(struct state *state, struct task *task)
{
    if (!task->scheduled) {
        task->scheduled = true;
        task->references += state->broken ? 0 : 1;
        state->queued = task;
        sim_loop_wake(state->executor);
    }
}

static bool
executor_turn(struct state *state)
{
    struct task *task = state->queued;
    if (task == NULL) {
        return false;
    }
    state->queued = NULL;
    task->scheduled = false;
    task->run(state);
    if (!state->broken) {
        task_drop(task);
    }
    return true;
}

static void
count_run(struct state *state)
{
    state->runs++;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    while (executor_turn(state) || !state->closed) {
        if (state->queued == NULL && !state->closed) {
            sim_loop_block(world, 0, "a task to run", RT_HERE);
        }
    }
}

/* The connection's thread: its waker is the one reference to the task. */
static void
connection_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < WAKES; i++) {
        task_wake_by_ref(state, state->task);
        if (i + 1 < WAKES || sim_pick(world, 2) == 0) {
            sim_sleep(world, RT_MS); /* Until data arrives on the connection. */
        }
    }
    sim_loop_pause(world);
    task_drop(state->task);
    state->closed = true;
    sim_loop_wake(state->executor);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->world = world;
    state->broken = broken;
    state->task = sim_new(world, struct task);
    *state->task = (struct task){.run = count_run, .references = 1};
    state->executor = sim_loop_new(world, "executor", executor_main, state);
    (void)sim_loop_new(world, "connection", connection_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_glommio_379_broken, .name = "zoo/glommio-379/broken", .bug = "G01",
        .reference = "DataDog/glommio#379",
        .about = "A task in the run queue is freed with its last waker.", .setup = setup_broken,
        .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_glommio_379_fixed, .name = "zoo/glommio-379/fixed",
        .about = "The run queue owns a count of the task.", .setup = setup_fixed);
