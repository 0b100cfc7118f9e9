/*
 * trap_accept_loop.c -- a trap, no canary: a task that sleeps forever, as it should.
 *
 * A server accepts connections as long as it runs. When the last client has ended it sleeps in
 * accept, and no event will wake it: a simple judge that checks every blocked task would report a
 * lost wake-up, or a deadlock. It is a background task: the run does not wait for it.
 *
 * Must end in: pass, for every seed and every audit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CLIENTS 2

struct server {
    struct rt_task task;
    struct sim_source *listener;
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct rt_slot *waiting[CLIENTS]; /* Clients whose connection is not accepted yet. */
    bool *accepted[CLIENTS];
    uint32_t first;
    uint32_t count;
};

struct client {
    struct rt_task task;
    struct server *server;
    struct rt_sleep pause;
    struct rt_slot answer;
    bool connected;
    bool accepted;
};

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    for (;;) {
        if (sim_source_take(server->listener) == RT_E_AGAIN) {
            RT_AWAIT(rt_wait_for(&server->wait, &server->pollable, cx));
            continue;
        }
        *server->accepted[server->first] = true;
        rt_slot_wake(server->waiting[server->first]);
        server->first++;
    }
}

static void
server_cleanup(struct rt_task *task)
{
    struct server *server = rt_container_of(task, struct server, task);
    rt_wait_cancel(&server->wait);
    rt_pollable_drop(&server->pollable);
}

static void
client_connect(struct client *client)
{
    struct server *server = client->server;
    server->waiting[server->count] = &client->answer;
    server->accepted[server->count] = &client->accepted;
    server->count++;
    client->connected = true;
    sim_source_event(server->listener);
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    if (!client->connected) {
        RT_AWAIT(rt_sleep_poll(&client->pause, cx));
        client_connect(client);
    }
    if (client->accepted) {
        return RT_READY;
    }
    rt_slot_replace(&client->answer, cx, "the server's answer");
    return RT_PENDING;
}

static struct server *
server_new(struct sim_world *world, struct sim_rt *rt)
{
    struct server *server = sim_new(world, struct server);
    server->listener = sim_source_new(sim_rt_host(rt), "listener");
    SIM_ALWAYS(sim_source_subscribe(server->listener, &server->pollable) == RT_OK);
    rt_wait_init(&server->wait);
    rt_task_init(&server->task, server_poll, server_cleanup, "server");
    sim_spawn_background(rt, &server->task);
    return server;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CLIENTS] = {"client 1", "client 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct server *server = server_new(world, rt);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->server = server;
        rt_slot_init(&client->answer);
        rt_sleep_init(&client->pause, sim_range(world, 1 * RT_MS, 5 * RT_MS));
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

SIM_SCENARIO(canary_trap_accept_loop, .name = "canary/trap-accept-loop",
        .about = "A background task sleeps forever in accept, and that is in order.",
        .setup = setup);
