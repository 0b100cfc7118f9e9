/*
 * tokio-timer-14.c -- a timer fires before the sleep that it was set for is over.
 *
 * tokio-rs/tokio-timer#14.
 *
 * The bug. A timer's thread wakes at whole ticks, and a sleep compares its deadline with the clock.
 * The two rounded differently: the thread took a sleep for expired up to a tick before the sleep
 * did. It woke the task, the sleep returned PENDING, and the thread had already removed the timer.
 *
 * The fix. Both round up. tokio-timer-14.patch makes the wheel of runtime/time/timers.c round down,
 * and removes from runtime/time/sleep.c that a sleep which was woken too early starts its timer
 * again, as tokio-timer had no such retry. With the right rounding it is never needed.
 *
 * Here. A lamp blinks on a wheel with ticks of a millisecond: it sleeps some whole milliseconds
 * between its blinks. Switching takes some time, so that a sleep begins between two ticks. An
 * observer waits for the lamp's end, for half a second at most.
 *
 * Cause: fired-early in fire or round_up or never-stored in wait
 * Must end in: lost-wakeup of the lamp. Fails on the baseline run: no, there switching takes no
 * time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BLINKS 3u

struct lamp {
    struct rt_task task;
    struct rt_sleep pause;
    struct sim_world *world;
    bool pausing;
    uint32_t blinks;
    uint64_t takes_ns;
};

static rt_poll
lamp_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct lamp *lamp = rt_container_of(task, struct lamp, task);
    while (lamp->blinks < BLINKS) {
        if (!lamp->pausing) {
            sim_work(lamp->world, lamp->takes_ns);
            lamp->pausing = true;
            rt_sleep_init(&lamp->pause, 2 * RT_MS);
        }
        RT_AWAIT(rt_sleep_poll(&lamp->pause, cx));
        lamp->pausing = false;
        lamp->blinks++;
        SIM_PROGRESS();
    }
    return RT_READY;
}

static void
lamp_cleanup(struct rt_task *task)
{
    struct lamp *lamp = rt_container_of(task, struct lamp, task);
    if (lamp->pausing) {
        rt_sleep_cancel(&lamp->pause);
    }
}

static void
watcher_main(struct sim_world *world, void *argument)
{
    const struct lamp *lamp = argument;
    for (uint32_t i = 0; i < 25 && lamp->blinks < BLINKS; i++) {
        sim_sleep(world, 20 * RT_MS);
    }
}

static void
setup(struct sim_world *world)
{
    static const struct sim_rt_options options = {.tick_ns = RT_MS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct lamp *lamp = sim_new(world, struct lamp);
    lamp->world = world;
    lamp->takes_ns = sim_pick(world, 4) * 300 * RT_US;
    rt_task_init(&lamp->task, lamp_poll, lamp_cleanup, "lamp");
    sim_spawn(rt, &lamp->task);
    (void)sim_loop_new(world, "watcher", watcher_main, lamp);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_timer_14_broken, .name = "zoo/tokio-timer-14/broken", .bug = "E27",
        .reference = "tokio-rs/tokio-timer#14",
        .about = "A sleep's timer fires before the sleep is over, and only once.", .setup = setup,
        .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_tokio_timer_14_fixed, .name = "zoo/tokio-timer-14/fixed",
        .about = "A sleep's timer fires when the sleep is over.", .setup = setup);
#endif
