/*
 * counts.c -- a library whose lines are counted by gcov, with runs that end in every way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
    void (*act)(struct sim_world *world);
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    (void)cx;
    job->act(job->world);
    return RT_READY;
}

static void
start(struct sim_world *world, void (*act)(struct sim_world *world))
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    job->act = act;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

#define SCENARIO(id, title, sentence) \
    static void id##_setup(struct sim_world *world) \
    { \
        start(world, id); \
    } \
    SIM_SCENARIO(id##_scenario, .name = title, .about = sentence, .setup = id##_setup)

static void
passes(struct sim_world *world)
{
    (void)sim_pick(world, 2);
}
SCENARIO(passes, "counts/passes", "Nothing wrong.");

static void
fails(struct sim_world *world)
{
    SIM_ALWAYS(sim_pick(world, 1) == 1);
}
SCENARIO(fails, "counts/fails", "Its invariant is broken.");

/* A function that is never left has no count of its own: gcov counts arcs. */
static void
before_crash(struct sim_world *world)
{
    (void)sim_pick(world, 2);
}

static void
crashes(struct sim_world *world)
{
    before_crash(world);
    abort();
}
SCENARIO(crashes, "counts/crashes", "Dies of a signal.");

static void
before_hang(struct sim_world *world)
{
    (void)sim_pick(world, 2);
}

static void
hangs(struct sim_world *world)
{
    before_hang(world);
    for (volatile int i = 0;;) {
        i = 0;
    }
}
SCENARIO(hangs, "counts/hangs", "A step that never returns.");
