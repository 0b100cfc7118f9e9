/*
 * rare.c -- a bug that one run in some dozens has; with -DFIXED it is gone, with -DELSEWHERE the
 * same runs fail at another line, with -DFIRST the default schedule fails. Beside it a scenario
 * without a bug.
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
    uint32_t number = sim_pick(world, 32);
    (void)cx;
#if defined(ELSEWHERE)
    SIM_ALWAYS(number < 32);
    SIM_ALWAYS(number != 31);
#elif defined(FIRST)
    SIM_ALWAYS(number != 0);
#elif !defined(FIXED)
    SIM_ALWAYS(number != 31);
#endif
    return number < 32 ? RT_READY : RT_PENDING;
}

static rt_poll
good_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    (void)sim_pick(rt_container_of(task, struct job, task)->world, 32);
    return RT_READY;
}

static void
start(struct sim_world *world, rt_poll (*poll)(struct rt_task *task, struct rt_cx *cx))
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    rt_task_init(&job->task, poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

static void
bug_setup(struct sim_world *world)
{
    start(world, job_poll);
}
SIM_SCENARIO(bug, .name = "rare/bug", .about = "31 is one number too many.", .setup = bug_setup);

static void
good_setup(struct sim_world *world)
{
    start(world, good_poll);
}
SIM_SCENARIO(good, .name = "rare/good", .about = "All numbers are welcome.", .setup = good_setup);
