/*
 * g02.c -- a waker that outlives its task takes the memory with it.
 *
 * DataDog/glommio#401 (pull request #404).
 *
 * The bug. The count of a task began at one too many, for the run queue and for the first
 * scheduling, and the two sides disagreed about who gives that back. Whoever completed the task
 * took it back when nobody else had a count; when a foreign waker was still out, it was left to
 * that one's drop, which gave back its own count only, and never saw zero.
 *
 * The fix. One count for each owner: the one for the first scheduling is given back at the
 * completion always, whoever else is there: task_complete below.
 *
 * Here. A task asks a resolver thread, which has a waker of it. The answer comes, or the task's
 * patience ends first; then the resolver drops its waker later than the task is done. Memory is
 * malloc's, and a task that is never freed is missed at the end.
 *
 * Must end in: leak. Fails on the dullest run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

struct task {
    uint32_t references;
    bool broken;
};

struct story {
    struct task *task;
    uint64_t patience_ns;
    uint64_t answer_ns;
};

static void
task_release(struct task *task)
{
    if (--task->references == 0) {
        free(task);
    }
}

/* By the executor, which has the count of the first scheduling. */
static void
task_complete(struct task *task)
{
    if (task->broken && task->references > 1) {
        return;
    }
    task_release(task);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    sim_sleep(world, story->patience_ns);
    task_complete(story->task);
}

/* The foreign waker: woken and dropped when the answer is there. */
static void
resolver_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    sim_sleep(world, story->answer_ns);
    task_release(story->task);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct story *story = sim_new(world, struct story);
    story->task = malloc(sizeof(*story->task));
    if (story->task == NULL) {
        return;
    }
    *story->task = (struct task){.references = 2, .broken = broken};
    story->patience_ns = 10 * RT_MS;
    story->answer_ns = sim_range(world, 1 * RT_MS, 20 * RT_MS);
    (void)sim_loop_new(world, "executor", executor_main, story);
    (void)sim_loop_new(world, "resolver", resolver_main, story);
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

SIM_SCENARIO(zoo_g02_broken, .name = "zoo/g02/broken", .bug = "G02",
        .reference = "DataDog/glommio#401",
        .about = "A task whose foreign waker is dropped after its end is never freed.",
        .setup = setup_broken, .expect = SIM_VERDICT_LEAK);
SIM_SCENARIO(zoo_g02_fixed, .name = "zoo/g02/fixed",
        .about = "Each owner of a task gives its own count back.", .setup = setup_fixed);
