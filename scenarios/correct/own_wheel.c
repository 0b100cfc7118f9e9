/*
 * own_wheel.c -- many alarms, one timer.
 *
 * The alarms of four clients are kept in an array; a driver task sleeps until the earliest. A
 * client that sets an earlier alarm wakes the driver. The driver
 * fires all that are due, then finds the earliest again and arms its one sleep again. It ends when
 * the last client has gone, and the last client wakes it for that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CLIENTS 4u
#define ALARMS 3u

struct alarm {
    uint64_t due_ns; /* RT_NEVER: not set. */
    struct rt_slot slot;
};

struct wheel {
    struct rt_task task;
    struct rt_sleep sleep;
    uint64_t sleeps_until_ns;
    struct rt_slot changed;
    struct alarm alarms[CLIENTS];
    uint32_t clients;
};

struct client {
    struct rt_task task;
    struct sim_world *world;
    struct wheel *wheel;
    struct alarm *alarm;
    uint32_t signalled;
    uint32_t at;
};

static uint64_t
wheel_fire_due(struct wheel *wheel, uint64_t now_ns)
{
    uint64_t earliest_ns = RT_NEVER;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct alarm *alarm = &wheel->alarms[i];
        if (alarm->due_ns <= now_ns) {
            alarm->due_ns = RT_NEVER;
            rt_slot_wake(&alarm->slot);
        }
        earliest_ns = alarm->due_ns < earliest_ns ? alarm->due_ns : earliest_ns;
    }
    return earliest_ns;
}

static rt_poll
wheel_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct wheel *wheel = rt_container_of(task, struct wheel, task);
    rt_sleep_cancel(&wheel->sleep);
    do {
        wheel->sleeps_until_ns = wheel_fire_due(wheel, rt_cx_now(cx));
        if (wheel->clients == 0) {
            return RT_READY;
        }
        rt_slot_replace(&wheel->changed, cx, "an earlier alarm");
        rt_sleep_until(&wheel->sleep, wheel->sleeps_until_ns);
    } while (rt_sleep_poll(&wheel->sleep, cx) == RT_READY);
    return RT_PENDING;
}

static void
wheel_set(struct wheel *wheel, struct alarm *alarm, uint64_t due_ns)
{
    alarm->due_ns = due_ns;
    if (due_ns < wheel->sleeps_until_ns) {
        rt_slot_wake(&wheel->changed);
    }
}

static rt_poll
alarm_wait(struct alarm *alarm, struct rt_cx *cx)
{
    if (alarm->due_ns == RT_NEVER) {
        return RT_READY;
    }
    rt_slot_replace(&alarm->slot, cx, "its alarm");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    for (client->signalled = 0; client->signalled < ALARMS; client->signalled++) {
        wheel_set(client->wheel, client->alarm,
                rt_cx_now(cx) + sim_range(client->world, RT_MS, 6 * RT_MS));
        RT_AWAIT_HERE(client->at, alarm_wait(client->alarm, cx));
    }
    if (--client->wheel->clients == 0) {
        rt_slot_wake(&client->wheel->changed);
    }
    RT_END(client->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CLIENTS] = {"anna", "bert", "carl", "dora"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct wheel *wheel = sim_new(world, struct wheel);
    wheel->clients = CLIENTS;
    wheel->sleeps_until_ns = RT_NEVER;
    rt_slot_init(&wheel->changed);
    rt_sleep_init(&wheel->sleep, 0);
    rt_task_init(&wheel->task, wheel_poll, NULL, "wheel");
    sim_spawn(rt, &wheel->task);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        wheel->alarms[i].due_ns = RT_NEVER;
        rt_slot_init(&wheel->alarms[i].slot);
        client->world = world;
        client->wheel = wheel;
        client->alarm = &wheel->alarms[i];
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

SIM_SCENARIO(correct_own_wheel, .name = "correct/own-wheel",
        .about = "Many alarms that one sleep drives.", .setup = setup);
