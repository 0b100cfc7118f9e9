/*
 * three_tasks.c -- the test of the thread-per-core article (S3), with exactly its output.
 *
 *      [task 1] starting
 *      [task 2] starting
 *      [task 3] I complete immediately
 *      [task 2] woke up after 50ms
 *      [task 1] woke up after 100ms
 *      [task 2] woke up after another 100ms
 *      All tasks completed
 *
 * The article's runtime has one order, so does this scenario: fifo. The main function runs the
 * runtime's own loop (rt_run_to_completion) and prints the last line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/rewake.h"

struct waiter {
    struct rt_task task;
    struct rt_sleep sleep;
    uint32_t stage;
};

struct state {
    struct sim_rt *rt;
    struct waiter one;
    struct waiter two;
    struct rt_task three;
    bool completed;
};

static rt_poll
one_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *one = rt_container_of(task, struct waiter, task);
    if (one->stage == 0) {
        (void)printf("[task 1] starting\n");
        rt_sleep_init(&one->sleep, 100 * RT_MS);
        one->stage = 1;
    }
    RT_AWAIT(rt_sleep_poll(&one->sleep, cx));
    (void)printf("[task 1] woke up after 100ms\n");
    return RT_READY;
}

static rt_poll
two_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *two = rt_container_of(task, struct waiter, task);
    if (two->stage == 0) {
        (void)printf("[task 2] starting\n");
        rt_sleep_init(&two->sleep, 50 * RT_MS);
        two->stage = 1;
    }
    if (two->stage == 1) {
        RT_AWAIT(rt_sleep_poll(&two->sleep, cx));
        (void)printf("[task 2] woke up after 50ms\n");
        rt_sleep_init(&two->sleep, 100 * RT_MS);
        two->stage = 2;
    }
    RT_AWAIT(rt_sleep_poll(&two->sleep, cx));
    (void)printf("[task 2] woke up after another 100ms\n");
    return RT_READY;
}

static rt_poll
three_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    (void)printf("[task 3] I complete immediately\n");
    return RT_READY;
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    rt_err err = rt_run_to_completion(sim_rt_runtime(state->rt));
    SIM_ALWAYS(err == RT_OK);
    (void)printf("All tasks completed\n");
    state->completed = true;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true, .order = SIM_ORDER_FIFO};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    rt_task_init(&state->one.task, one_poll, NULL, "task 1");
    rt_task_init(&state->two.task, two_poll, NULL, "task 2");
    rt_task_init(&state->three, three_poll, NULL, "task 3");
    sim_spawn(state->rt, &state->one.task);
    sim_spawn(state->rt, &state->two.task);
    sim_spawn(state->rt, &state->three);
    (void)sim_loop_new(world, "main", main_loop, state);
    sim_set_state(world, state);
}

/* The article prints what it expects; a user would assert as much. But not a lower bound: where
 * a fault sets the clock back, 150 ms of sleep end before 150 ms, and a timer that is early by
 * its own clock is found without an assertion. */
static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->completed);
}

/* All three must end. */
SIM_SCENARIO(seed3_three_tasks, .name = "articles/s3/three-tasks",
        .about = "Three tasks of a thread-per-core runtime: sleep 100, sleep 50 and 100, none.",
        .setup = setup, .check = check, .order = SIM_ORDER_FIFO,
        .survives = SIM_FAULT_ALL & ~SIM_FAULT_CANCEL);
