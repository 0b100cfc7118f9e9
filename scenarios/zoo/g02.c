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
 * Here. A task asks a resolver, which has a waker of it. The answer comes, or the task's
 * patience ends first; then the resolver drops its waker later than the task is done. The task owns
 * a socket's pollable, and one that is never freed never gives it back.
 *
 * Must end in: leak. Fails on the dullest run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct task {
    uint32_t references;
    struct rt_pollable socket; /* Its own: given back when the task is freed. */
    bool broken;
};

struct story {
    struct task *task;
    struct sim_source *network;
    struct rt_task executor;
    struct rt_task resolver;
    struct rt_sleep patience;
    struct rt_sleep answer;
    bool begun;
};

static void
task_release(struct task *task)
{
    if (--task->references == 0) {
        rt_pollable_drop(&task->socket);
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

static rt_poll
executor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, executor);
    if (!story->begun) {
        story->begun = true;
        SIM_ALWAYS(sim_source_subscribe(story->network, &story->task->socket) == RT_OK);
    }
    RT_AWAIT(rt_sleep_poll(&story->patience, cx));
    task_complete(story->task);
    return RT_READY;
}

/* The foreign waker: woken and dropped when the answer is there. */
static rt_poll
resolver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, resolver);
    RT_AWAIT(rt_sleep_poll(&story->answer, cx));
    task_release(story->task);
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct story *story = sim_new(world, struct story);
    struct sim_rt *rt = sim_rt_new(world, NULL);
    story->network = sim_source_new(sim_rt_host(rt), "network");
    story->task = sim_new(world, struct task);
    *story->task = (struct task){.references = 2, .broken = broken};
    rt_sleep_init(&story->patience, 10 * RT_MS);
    rt_sleep_init(&story->answer, sim_range(world, 1 * RT_MS, 20 * RT_MS));
    rt_task_init(&story->executor, executor_poll, NULL, "executor");
    rt_task_init(&story->resolver, resolver_poll, NULL, "resolver");
    sim_spawn(rt, &story->executor);
    sim_spawn(rt, &story->resolver);
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
