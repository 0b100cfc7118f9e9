/*
 * time_limit.c -- a canary: a client that tries again every minute, forever.
 *
 * The server answers one try in a hundred, if at all. Between two tries all tasks sleep, as they
 * should; few steps are taken, and no other limit is near when an hour of virtual time has passed.
 *
 * Must end in: time-limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define MINUTE (60 * RT_SECOND)

struct client {
    struct rt_task task;
    struct rt_sleep pause;
    uint64_t tries;
    uint64_t needed;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    while (client->tries < client->needed) {
        RT_AWAIT(rt_sleep_poll(&client->pause, cx));
        rt_sleep_init(&client->pause, MINUTE);
        client->tries++;
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct client *client = sim_new(world, struct client);
    client->needed = sim_range(world, 1, 200);
    rt_sleep_init(&client->pause, MINUTE);
    rt_task_init(&client->task, client_poll, NULL, "client");
    sim_spawn(rt, &client->task);
}

SIM_SCENARIO(canary_time_limit, .name = "canary/time-limit",
        .about = "A task sleeps and tries again, until the hour is over.", .setup = setup,
        .expect = SIM_VERDICT_TIME_LIMIT);
