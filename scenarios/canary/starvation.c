/*
 * starvation.c -- a canary: a hand-written loop that polls tasks and forgets the clock.
 *
 * A typical first draft of a loop: run the tasks until all of them are blocked, then wait for
 * events. A task that yields after each piece of its work is never blocked, so the second half is
 * never reached, and the alarm that would stop the work is due and never checked.
 *
 * Must end in: starvation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct state {
    struct sim_rt *rt;
    struct rt_task worker;
    struct rt_task alarm;
    struct rt_sleep sleep;
    bool stop;
};

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    const struct state *state = rt_container_of(task, struct state, worker);
    if (state->stop) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
alarm_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, alarm);
    RT_AWAIT(rt_sleep_poll(&state->sleep, cx));
    state->stop = true;
    return RT_READY;
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct rt_runtime *runtime = sim_rt_runtime(state->rt);
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
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    rt_sleep_init(&state->sleep, 10 * RT_US);
    rt_task_init(&state->worker, worker_poll, NULL, "worker");
    rt_task_init(&state->alarm, alarm_poll, NULL, "alarm");
    sim_spawn(state->rt, &state->worker);
    sim_spawn(state->rt, &state->alarm);
    (void)sim_loop_new(world, "main", main_loop, state);
}

SIM_SCENARIO(canary_starvation, .name = "canary/starvation",
        .about = "A loop checks its timers only when no task is woken, and one always is.",
        .setup = setup, .expect = SIM_VERDICT_STARVATION);
