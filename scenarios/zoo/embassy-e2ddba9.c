/*
 * embassy-e2ddba9.c -- clearing a channel wakes no sender.
 *
 * embassy-rs/embassy commit e2ddba9 (Channel::clear).
 *
 * The bug. Receiving an item wakes a sender that waits for space. Clearing the channel frees space
 * as well, all of it, and wakes no sender.
 *
 * The fix. `clear` wakes the senders, if the channel was full. embassy-e2ddba9.patch makes
 * rt_channel_clear in runtime/sync/channel.c free the slots without serving the waiting senders.
 *
 * Here. A sensor sends readings to a display, which takes some time to draw each. The user presses
 * reset at some time, which drops what is not drawn yet.
 *
 * Cause: never-fired in rt_channel_clear_at or user_poll
 * Must end in: lost-wakeup of the sensor. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/channel.h"
#include "sim/rewake.h"

#define READINGS 5

struct panel {
    struct rt_channel readings;
    uint64_t ring[2];
    struct rt_task sensor;
    struct rt_send send;
    uint64_t reading;
    bool sending;
    struct rt_task display;
    struct rt_recv recv;
    struct rt_sleep drawing;
    uint64_t drawn;
    bool draws;
    struct rt_task user;
    struct rt_sleep thinking;
};

static rt_poll
sensor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct panel *panel = rt_container_of(task, struct panel, sensor);
    while (panel->reading < READINGS) {
        if (!panel->sending) {
            rt_send_init(&panel->send, &panel->readings, &panel->reading);
            panel->sending = true;
        }
        RT_AWAIT(rt_send_poll(&panel->send, cx));
        panel->sending = false;
        panel->reading++;
    }
    rt_channel_close(&panel->readings);
    return RT_READY;
}

static rt_poll
display_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct panel *panel = rt_container_of(task, struct panel, display);
    for (;;) {
        if (panel->draws) {
            RT_AWAIT(rt_sleep_poll(&panel->drawing, cx));
            panel->draws = false;
            rt_recv_init(&panel->recv, &panel->readings, &panel->drawn);
        }
        RT_AWAIT(rt_recv_poll(&panel->recv, cx));
        if (panel->recv.err == RT_E_CLOSED) {
            return RT_READY;
        }
        rt_sleep_init(&panel->drawing, RT_MS);
        panel->draws = true;
    }
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct panel *panel = rt_container_of(task, struct panel, user);
    RT_AWAIT(rt_sleep_poll(&panel->thinking, cx));
    (void)rt_channel_clear(&panel->readings);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct panel *panel = sim_new(world, struct panel);
    rt_channel_init(&panel->readings,
            &(struct rt_channel_config){
                    .ring = panel->ring, .item_size = sizeof(uint64_t), .capacity = 2});
    rt_recv_init(&panel->recv, &panel->readings, &panel->drawn);
    rt_sleep_init(&panel->thinking, 8 * RT_MS - sim_range(world, 0, 8 * RT_MS));
    rt_task_init(&panel->sensor, sensor_poll, NULL, "sensor");
    rt_task_init(&panel->display, display_poll, NULL, "display");
    rt_task_init(&panel->user, user_poll, NULL, "user");
    sim_spawn(rt, &panel->sensor);
    sim_spawn(rt, &panel->display);
    sim_spawn(rt, &panel->user);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_embassy_e2ddba9_broken, .name = "zoo/embassy-e2ddba9/broken", .bug = "A20",
        .reference = "embassy-rs/embassy e2ddba9",
        .about = "A channel that is cleared wakes no sender.", .setup = setup,
        .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_embassy_e2ddba9_fixed, .name = "zoo/embassy-e2ddba9/fixed",
        .about = "A channel that is cleared wakes the senders for the space.", .setup = setup);
#endif
