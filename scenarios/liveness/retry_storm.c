/*
 * retry_storm.c -- a server that answers only requests whose clients have timed out.
 *
 * The mechanism is that of many large outages, "metastable failures": an event slows a server down
 * for a short time, its clients time out and retry, and the retries keep it slow after the cause
 * has gone.
 *
 * The bug. A client that times out sends its request again; the server does not know that the first
 * one is obsolete, and processes it too. Eight clients retry every 200 us, a request takes 60 us:
 * more is requested than can be done, the queue stays full, and each request is answered long after
 * its time-out. Every client takes steps, requests are answered all the time, and no client ever
 * gets an answer.
 *
 * The fix. The server first checks whether a client still waits for the answer: server_poll below.
 *
 * Here. Clients start one after the other and think for 2 ms between two requests; a quarter of the
 * server's time is used. Now and then, until the run is fault-free, a request takes 2 ms: one such
 * delay is enough to synchronize all clients.
 *
 * Must end in: livelock, by `liveness`. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define WANTED 10u
#define QUEUE 32u
#define WORK_NS (60 * RT_US)
#define HITCH_NS (2 * RT_MS)
#define HITCH_ONE_IN 32u
#define PATIENCE_NS (200 * RT_US)
#define THINK_NS (2 * RT_MS)
#define APART_NS (250 * RT_US)

enum { CLIENTS = 8 };

struct client;

struct request {
    struct client *client;
    uint32_t ticket;
};

struct server {
    struct rt_task task;
    struct sim_world *world;
    struct rt_slot filled;
    struct request queue[QUEUE];
    uint32_t head;
    uint32_t count;
    bool broken;
};

struct client {
    struct rt_task task;
    uint32_t at;
    struct server *server;
    uint32_t ticket; /* Of the request that it waits for. */
    uint32_t answers;
    bool answered;
    struct rt_slot answer;
    struct rt_sleep pause;
    struct rt_sleep patience;
};

/* ---- The server. ----------------------------------------------------------------------------- */

static bool
is_wanted(const struct request *request)
{
    return request->client->ticket == request->ticket && !request->client->answered;
}

static void
serve(const struct server *server, const struct request *request)
{
    sim_work(server->world, sim_inject(server->world, HITCH_ONE_IN) ? HITCH_NS : WORK_NS);
    SIM_PROGRESS();
    if (is_wanted(request)) {
        request->client->answered = true;
        rt_slot_wake(&request->client->answer);
    }
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    if (server->count == 0) {
        rt_slot_replace(&server->filled, cx, "a request");
        return RT_PENDING;
    }
    struct request request = server->queue[server->head];
    server->head = (server->head + 1) % QUEUE;
    server->count--;
    if (server->broken || is_wanted(&request)) {
        serve(server, &request);
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* A full queue drops the request: its sender notices by its time-out. */
static void
server_ask(struct server *server, struct client *client)
{
    client->ticket++;
    client->answered = false;
    if (server->count == QUEUE) {
        return;
    }
    uint32_t tail = (server->head + server->count++) % QUEUE;
    server->queue[tail] = (struct request){client, client->ticket};
    rt_slot_wake(&server->filled);
}

/* ---- Its clients. ---------------------------------------------------------------------------- */

/* READY when there is an answer, or the time limit has passed. */
static rt_poll
answer_poll(struct client *client, struct rt_cx *cx)
{
    if (client->answered) {
        rt_sleep_cancel(&client->patience);
        return RT_READY;
    }
    rt_slot_replace(&client->answer, cx, "an answer");
    return rt_sleep_poll(&client->patience, cx);
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
    while (client->answers < WANTED) {
        server_ask(client->server, client);
        rt_sleep_init(&client->patience, PATIENCE_NS);
        RT_AWAIT_HERE(client->at, answer_poll(client, cx));
        if (client->answered) {
            client->answers++;
            rt_sleep_init(&client->pause, THINK_NS);
            RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
        }
    }
    RT_END(client->at);
}

static void
begin(struct sim_world *world, bool broken)
{
    static const char *const names[CLIENTS] = {
            "ann", "bob", "cem", "dan", "eve", "fay", "gus", "hal"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct server *server = sim_new(world, struct server);
    server->world = world;
    server->broken = broken;
    rt_slot_init(&server->filled);
    rt_task_init(&server->task, server_poll, NULL, "server");
    sim_spawn_background(rt, &server->task);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->server = server;
        rt_slot_init(&client->answer);
        rt_sleep_init(&client->pause, i * APART_NS);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(liveness_retry_storm_broken, .name = "liveness/retry-storm/broken",
        .about = "Requests that timed out keep a server from all others.", .setup = setup_broken,
        .expect = SIM_VERDICT_LIVELOCK, .fault_free_after = 500, .converge_steps = 5000);
SIM_SCENARIO(liveness_retry_storm_fixed, .name = "liveness/retry-storm/fixed",
        .about = "A server processes only requests that are still waited for.",
        .setup = setup_fixed, .fault_free_after = 500, .converge_steps = 5000);
