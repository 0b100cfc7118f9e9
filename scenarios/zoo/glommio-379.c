/*
 * glommio-379.c -- a woken task is in the queue, and nobody counts that.
 *
 * DataDog/glommio#379 (pull request #384).
 *
 * The bug. A task is counted by its handle and by its wakers. A wake through a borrowed waker
 * marked it as scheduled and put it into the run queue without a count of its own. When the waker
 * was dropped then, and was the last, the task was freed in the queue.
 *
 * The fix. The queue owns a count, from the wake to the end of the run: task_wake_by_ref and
 * executor_turn below.
 *
 * Here. A task is spawned and let go; all that holds it is the waker of a connection. Another
 * thread wakes through it and then closes the connection, which drops it. When the executor has run
 * the task in between, all is well; otherwise it takes freed memory out of its queue. What is freed
 * is overwritten here, as by an allocator that marks what is free.
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

struct story;

struct task {
    void (*run)(struct story *story);
    uint32_t references;
    bool scheduled;
};

struct story {
    struct sim_world *world;
    struct sim_loop *executor;
    struct task *task;
    struct task *queued; /* The run queue: it has one task. */
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
task_wake_by_ref(struct story *story, struct task *task)
{
    if (!task->scheduled) {
        task->scheduled = true;
        task->references += story->broken ? 0 : 1;
        story->queued = task;
        sim_loop_wake(story->executor);
    }
}

static bool
executor_turn(struct story *story)
{
    struct task *task = story->queued;
    if (task == NULL) {
        return false;
    }
    story->queued = NULL;
    task->scheduled = false;
    task->run(story);
    if (!story->broken) {
        task_drop(task);
    }
    return true;
}

static void
count_run(struct story *story)
{
    story->runs++;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    while (executor_turn(story) || !story->closed) {
        if (story->queued == NULL && !story->closed) {
            sim_loop_block(world, 0, "a task to run", RT_HERE);
        }
    }
}

/* The connection's thread: its waker is the one reference to the task. */
static void
connection_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    for (uint32_t i = 0; i < WAKES; i++) {
        task_wake_by_ref(story, story->task);
        if (i + 1 < WAKES || sim_pick(world, 2) == 0) {
            sim_sleep(world, RT_MS); /* Until something comes on the connection. */
        }
    }
    sim_loop_pause(world);
    task_drop(story->task);
    story->closed = true;
    sim_loop_wake(story->executor);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct story *story = sim_new(world, struct story);
    story->world = world;
    story->broken = broken;
    story->task = sim_new(world, struct task);
    *story->task = (struct task){.run = count_run, .references = 1};
    story->executor = sim_loop_new(world, "executor", executor_main, story);
    (void)sim_loop_new(world, "connection", connection_main, story);
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
