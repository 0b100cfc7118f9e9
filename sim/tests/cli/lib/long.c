/*
 * long.c -- a task that draws a number in each of its polls, and has no end. The token of such a
 * run is long: it has all the numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
    uint64_t sum;
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    job->sum += sim_pick(job->world, 64);
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}
SIM_SCENARIO(
        numbers, .name = "long/numbers", .about = "Draws numbers, without an end.", .setup = setup);
