/*
 * fixed.c -- a bug; fixed with -DFIXED; with -DELSEWHERE a program that fails elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sim_world *world = rt_container_of(task, struct job, task)->world;
    uint32_t sum = 0;
    (void)cx;
    for (uint32_t i = 0; i < 6; i++) {
        sum += sim_pick(world, 3);
    }
#if defined(ELSEWHERE)
    SIM_ALWAYS(sum < 99);
    SIM_ALWAYS(sum < 3);
#elif !defined(FIXED)
    SIM_ALWAYS(sum < 3);
#endif
    return sum < 99 ? RT_READY : RT_PENDING;
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

SIM_SCENARIO(fixed, .name = "mine/fixed", .about = "Six digits.", .setup = setup);
