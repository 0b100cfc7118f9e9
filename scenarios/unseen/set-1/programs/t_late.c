/*
 * t_late.c -- A telemetry task sends readings of a sensor; several readings may be sent at once.
 * The sensor's last reading is followed by an end mark.
 *
 * Cause: The sensor skips the wake when the telemetry task is busy sending, but the task does
 * not look for further readings when the send is over, so they wait for the next reading's wake.
 * Where: telemetry_poll
 * Kind: late wake
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READINGS 4

static bool fixed;

struct telemetry {
    struct rt_task task;
    struct rt_slot readings;
    struct rt_sleep send;
    uint32_t queued;
    uint32_t sent;
    bool sending;
    bool ended;
};

struct sensor {
    struct rt_task task;
    struct telemetry *to;
    struct rt_sleep pause;
    uint64_t gaps[READINGS + 1];
    uint32_t i;
    uint32_t at;
};

static rt_poll
telemetry_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct telemetry *self = rt_container_of(task, struct telemetry, task);
    for (;;) {
        if (self->sending) {
            RT_AWAIT(rt_sleep_poll(&self->send, cx));
            self->sending = false;
            if (!fixed) {
                rt_slot_replace(&self->readings, cx, "a reading");
                return RT_PENDING; /* Where. */
            }
        }
        if (self->queued > 0) {
            self->sent += self->queued;
            self->queued = 0;
            SIM_PROGRESS();
            rt_sleep_init(&self->send, RT_MS);
            self->sending = true;
            continue;
        }
        if (self->ended) {
            return RT_READY;
        }
        rt_slot_replace(&self->readings, cx, "a reading");
        return RT_PENDING;
    }
}

static rt_poll
sensor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sensor *sensor = rt_container_of(task, struct sensor, task);
    RT_BEGIN(sensor->at);
    for (sensor->i = 0; sensor->i <= READINGS; sensor->i++) {
        rt_sleep_init(&sensor->pause, sensor->gaps[sensor->i]);
        RT_AWAIT_HERE(sensor->at, rt_sleep_poll(&sensor->pause, cx));
        if (sensor->i < READINGS) {
            sensor->to->queued++;
        } else {
            sensor->to->ended = true;
        }
        rt_slot_wake(&sensor->to->readings); /* Empty while it sends. */
    }
    RT_END(sensor->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct telemetry *telemetry = sim_new(world, struct telemetry);
    struct sensor *sensor = sim_new(world, struct sensor);
    rt_slot_init(&telemetry->readings);
    sensor->to = telemetry;
    for (int i = 0; i < READINGS; i++) {
        sensor->gaps[i] = 5 * RT_MS - sim_range(world, 0, 9) * 500 * RT_US;
    }
    sensor->gaps[READINGS] = 10 * RT_MS; /* The end mark never comes while it sends. */
    rt_task_init(&telemetry->task, telemetry_poll, NULL, "telemetry");
    rt_task_init(&sensor->task, sensor_poll, NULL, "sensor");
    sim_spawn(rt, &telemetry->task);
    sim_spawn(rt, &sensor->task);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/t-late/broken",
        .about = "Telemetry that sends several readings at once.", .setup = setup_broken,
        .expect = SIM_VERDICT_LATE_WAKEUP, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/t-late/fixed",
        .about = "Telemetry that sends several readings at once.", .setup = setup_fixed);
