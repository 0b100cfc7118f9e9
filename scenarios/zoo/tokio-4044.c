/*
 * tokio-4044.c -- a clock that goes backwards.
 *
 * tokio-rs/tokio#4044 (commit 5ac3293), reported in tokio-rs/tokio#3619; redis b7b2a1c (#633) is
 * the same with another outcome.
 *
 * The bug. The wheel asserts that time never goes back: elapsed <= now. A clock that is promised to
 * be monotonic usually is; with some virtual machines, some processors, and after a suspend it is
 * not, and then a difference of a few milliseconds ends the whole process.
 *
 * The fix. A time before the latest one seen counts as that one. tokio-4044.patch reverts this one
 * line in runtime/time/timers.c.
 *
 * Here. A thermometer is read eight times, some milliseconds apart. Readings of the clock go back
 * by fault `clock`; one of them between two others is enough if the loop reads the clock then.
 *
 * Cause: not-a-wake in rt_timers_process_at or rt__wheel_advance
 * Must end in: contract, by the wheel's own assertion, as in tokio. Fails on the baseline run: no,
 * its clock is monotonic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READINGS 8u

struct thermometer {
    struct rt_task task;
    struct rt_sleep pause;
    bool pausing;
    uint32_t readings;
    uint64_t pauses_ns[READINGS];
};

static rt_poll
thermometer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thermometer *thermometer = rt_container_of(task, struct thermometer, task);
    while (thermometer->readings < READINGS) {
        if (!thermometer->pausing) {
            rt_sleep_init(&thermometer->pause, thermometer->pauses_ns[thermometer->readings]);
            thermometer->pausing = true;
        }
        RT_AWAIT(rt_sleep_poll(&thermometer->pause, cx));
        thermometer->pausing = false;
        thermometer->readings++;
    }
    return RT_READY;
}

static void
thermometer_cleanup(struct rt_task *task)
{
    struct thermometer *thermometer = rt_container_of(task, struct thermometer, task);
    if (thermometer->pausing) {
        rt_sleep_cancel(&thermometer->pause);
    }
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct thermometer *thermometer = sim_new(world, struct thermometer);
    for (uint32_t i = 0; i < READINGS; i++) {
        thermometer->pauses_ns[i] = sim_range(world, 1 * RT_MS, 20 * RT_MS);
    }
    rt_task_init(&thermometer->task, thermometer_poll, thermometer_cleanup, "thermometer");
    sim_spawn(rt, &thermometer->task);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_4044_broken, .name = "zoo/tokio-4044/broken", .bug = "E06",
        .reference = "tokio-rs/tokio#4044",
        .about = "Timers that assert that no clock goes backwards.", .setup = setup,
        .survives = SIM_FAULT_CLOCK, .expect = SIM_VERDICT_CONTRACT);
#else
SIM_SCENARIO(zoo_tokio_4044_fixed, .name = "zoo/tokio-4044/fixed",
        .about = "Timers for which a clock that goes backwards stands still.", .setup = setup,
        .survives = SIM_FAULT_CLOCK);
#endif
