/*
 * wide_tick.c -- two tasks sleep on a timer wheel whose ticks are as wide as a millisecond.
 *
 * Each task works up to 0.9 ms, then sleeps 2 ms; four times. A timer may fire up to a tick later
 * than its deadline, and one tick may fire the timers of both tasks: while the first task is
 * polled the other one is in the run queue. A task in the run queue is not late, in whatever order
 * the executor takes them, and whether rewake or the program's own loop drives the executor.
 * Correct.
 *
 * Guards: with a declared slack (here the tick) the control's clock runs for the slack, and what
 * the control gains until then is not late.
 * Must end in: pass, for each order and audit rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define NAPS 4

struct worker {
    struct rt_task task;
    struct sim_world *world;
    struct rt_sleep nap;
    bool asleep;
    uint32_t naps;
};

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    while (worker->naps < NAPS) {
        if (!worker->asleep) {
            worker->asleep = true;
            sim_work(worker->world, sim_pick(worker->world, 4) * 300 * RT_US);
            rt_sleep_init(&worker->nap, 2 * RT_MS);
        }
        RT_AWAIT(rt_sleep_poll(&worker->nap, cx));
        worker->asleep = false;
        worker->naps++;
        SIM_PROGRESS();
    }
    return RT_READY;
}

static struct sim_rt *
begin(struct sim_world *world, bool by_loop)
{
    const struct sim_rt_options options = {.tick_ns = RT_MS, .by_loop = by_loop};
    struct sim_rt *rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < 2; i++) {
        struct worker *worker = sim_new(world, struct worker);
        worker->world = world;
        rt_task_init(&worker->task, worker_poll, NULL, i == 0 ? "first" : "second");
        sim_spawn(rt, &worker->task);
    }
    return rt;
}

static void
loop_main(struct sim_world *world, void *rt)
{
    (void)world;
    SIM_ALWAYS(rt_run_to_completion(sim_rt_runtime(rt)) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    (void)begin(world, false);
}

static void
setup_by_loop(struct sim_world *world)
{
    (void)sim_loop_new(world, "main", loop_main, begin(world, true));
}

SIM_SCENARIO(oracle_wide_tick_any, .name = "oracle/wide-tick/any",
        .about = "Two tasks sleep on a wheel with ticks of a millisecond.", .setup = setup);
SIM_SCENARIO(oracle_wide_tick_fifo, .name = "oracle/wide-tick/fifo",
        .about = "Two tasks sleep on a wheel with wide ticks, polled in fifo order.",
        .setup = setup, .order = SIM_ORDER_FIFO);
SIM_SCENARIO(oracle_wide_tick_fair, .name = "oracle/wide-tick/fair",
        .about = "Two tasks sleep on a wheel with wide ticks, polled in fair order.",
        .setup = setup, .order = SIM_ORDER_FAIR);
SIM_SCENARIO(oracle_wide_tick_by_loop, .name = "oracle/wide-tick/by-loop",
        .about = "Two tasks sleep on a wheel with wide ticks that a loop of the program drives.",
        .setup = setup_by_loop);
