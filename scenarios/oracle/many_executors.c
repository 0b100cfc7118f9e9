/*
 * many_executors.c -- tasks that are polled often in their own executor, and seldom in the world.
 *
 * The rule it guards: a task is passed over when others of its executor are polled instead of it.
 * The steps of other executors do not count, as the strategy decides which executor runs first.
 *
 * Here. Four executors with eight tasks each, which wake themselves 60 times. If the strategy
 * delays an executor, its tasks wait for more steps of the world than may be passed over.
 *
 * broken-never-looks: a loop checks its timers only when no task is woken, and one always is.
 * Another loop checks again and again, which is no excuse.
 *
 * Must end in: pass; broken-never-looks: starvation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define EXECUTORS 4
#define TASKS 8
#define TURNS 60

struct spinner {
    struct rt_task task;
    uint32_t turns;
};

static rt_poll
spinner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct spinner *spinner = rt_container_of(task, struct spinner, task);
    if (spinner->turns == TURNS) {
        return RT_READY;
    }
    spinner->turns++;
    SIM_PROGRESS();
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static struct sim_rt *
executor_new(struct sim_world *world, bool by_loop)
{
    struct sim_rt_options options = {.capacity = TASKS, .by_loop = by_loop};
    struct sim_rt *rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct spinner *spinner = sim_new(world, struct spinner);
        rt_task_init(&spinner->task, spinner_poll, NULL, "spinner");
        sim_spawn(rt, &spinner->task);
    }
    return rt;
}

static void
setup_by_world(struct sim_world *world)
{
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        (void)executor_new(world, false);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct rt_executor *executor = &sim_rt_runtime(argument)->executor;
    struct rt_run_result result;
    (void)world;
    SIM_ALWAYS(rt_run_until_stalled(executor, RT_COUNT_MAX, &result) == RT_OK);
}

static void
setup_by_loops(struct sim_world *world)
{
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        (void)sim_loop_new(world, "loop", loop_main, executor_new(world, true));
    }
}

/* ---- A loop that never checks its timers. ---------------------------------------------------- */

struct pair {
    struct rt_task busy;
    struct rt_task alarm;
    struct rt_task regular;
    struct rt_sleep alarm_sleep;
    struct rt_sleep regular_sleep;
    bool signalled;
};

static rt_poll
busy_poll(struct rt_task *task, struct rt_cx *cx)
{
    const struct pair *pair = rt_container_of(task, struct pair, busy);
    if (pair->signalled) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
alarm_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct pair *pair = rt_container_of(task, struct pair, alarm);
    RT_AWAIT(rt_sleep_poll(&pair->alarm_sleep, cx));
    pair->signalled = true;
    return RT_READY;
}

static rt_poll
regular_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct pair *pair = rt_container_of(task, struct pair, regular);
    while (!pair->signalled) {
        RT_AWAIT(rt_sleep_poll(&pair->regular_sleep, cx));
        rt_sleep_init(&pair->regular_sleep, RT_US);
    }
    return RT_READY;
}

/* Turns only when its executor has stalled. */
static void
pair_main(struct sim_world *world, void *argument)
{
    struct rt_runtime *runtime = sim_rt_runtime(argument);
    struct rt_run_result result = {0, 1, RT_STALL_SLEEPING};
    (void)world;
    while (result.remaining > 0) {
        SIM_ALWAYS(rt_run_until_stalled(&runtime->executor, RT_COUNT_MAX, &result) == RT_OK);
        if (result.remaining > 0) {
            SIM_ALWAYS(rt_runtime_turn(runtime, RT_TURN_BLOCK, NULL) == RT_OK);
        }
    }
}

static void
setup_one_never_looks(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct sim_rt *never = sim_rt_new(world, &options);
    struct sim_rt *often = sim_rt_new(world, &options);
    struct pair *pair = sim_new(world, struct pair);
    rt_sleep_init(&pair->alarm_sleep, 10 * RT_US);
    rt_sleep_init(&pair->regular_sleep, RT_US);
    rt_task_init(&pair->busy, busy_poll, NULL, "busy");
    rt_task_init(&pair->alarm, alarm_poll, NULL, "alarm");
    rt_task_init(&pair->regular, regular_poll, NULL, "regular");
    sim_spawn(never, &pair->busy);
    sim_spawn(never, &pair->alarm);
    sim_spawn(often, &pair->regular);
    (void)sim_loop_new(world, "never looks", pair_main, never);
    (void)sim_loop_new(world, "looks often", pair_main, often);
}

SIM_SCENARIO(oracle_many_executors, .name = "oracle/many-executors",
        .about = "Tasks of four executors wake themselves again and again.",
        .setup = setup_by_world);
SIM_SCENARIO(oracle_many_executors_loops, .name = "oracle/many-executors/loops",
        .about = "Tasks of four loops wake themselves again and again.", .setup = setup_by_loops);
SIM_SCENARIO(oracle_many_executors_one_never_looks,
        .name = "oracle/many-executors/broken-never-looks",
        .about = "One of two loops never checks its timers while a task is woken.",
        .setup = setup_one_never_looks, .expect = SIM_VERDICT_STARVATION);
