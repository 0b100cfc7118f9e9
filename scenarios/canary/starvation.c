/*
 * starvation.c -- a canary: a loop of the reader's own that polls tasks and forgets the clock.
 *
 * It is what the first draft of a loop looks like: run the tasks until all of them sleep, then
 * wait for what comes. A task that yields after each piece of its work never sleeps, so the
 * second half is never reached, and the alarm that would stop the work is due and never looked
 * at.
 *
 * Must end in: starvation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct story {
    struct sim_rt *rt;
    struct rt_task worker;
    struct rt_task alarm;
    struct rt_sleep sleep;
    bool stop;
};

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    const struct story *story = rt_container_of(task, struct story, worker);
    if (story->stop) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
alarm_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, alarm);
    RT_AWAIT(rt_sleep_poll(&story->sleep, cx));
    story->stop = true;
    return RT_READY;
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct rt_runtime *runtime = sim_rt_runtime(story->rt);
    struct rt_run_result result = {0, 1, RT_STALL_SLEEPING};
    (void)world;
    while (result.remaining > 0) {
        SIM_ALWAYS(rt_run_until_stalled(&runtime->executor, UINT64_MAX, &result) == RT_OK);
        if (result.remaining > 0) {
            SIM_ALWAYS(rt_runtime_turn(runtime, RT_TURN_BLOCK, NULL) == RT_OK);
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct story *story = sim_new(world, struct story);
    story->rt = sim_rt_new(world, &options);
    rt_sleep_init(&story->sleep, 10 * RT_US);
    rt_task_init(&story->worker, worker_poll, NULL, "worker");
    rt_task_init(&story->alarm, alarm_poll, NULL, "alarm");
    sim_spawn(story->rt, &story->worker);
    sim_spawn(story->rt, &story->alarm);
    (void)sim_loop_new(world, "main", main_loop, story);
}

SIM_SCENARIO(canary_starvation, .name = "canary/starvation",
        .about = "A loop looks at its timers only when no task is woken, and one always is.",
        .setup = setup, .expect = SIM_VERDICT_STARVATION);
