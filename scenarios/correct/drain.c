/*
 * drain.c -- a graceful shutdown: no new jobs, and the end comes when the last one has finished.
 *
 * The server spawns a task for each request while it has a free place, else it waits for one. The
 * cleanup of a job gives its place back and wakes the server, whether it waits for a place or for
 * the end: that is one slot, as the server waits for one of both at a time and checks everything
 * after each wake. The stop is a flag and the same wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PLACES 2u
#define REQUESTS 5u

struct server;

struct job {
    struct rt_task task;
    struct server *server;
    struct rt_sleep work;
    bool used;
};

struct server {
    struct rt_task task;
    struct sim_world *world;
    struct rt_executor *executor;
    struct rt_slot changed; /* A place is free, a request has come, or the stop. */
    struct job jobs[PLACES];
    uint32_t in_flight;
    uint32_t requests; /* Waiting. */
    uint32_t started;
    uint32_t finished;
    bool stopped;
};

struct client {
    struct rt_task task;
    struct server *server;
    struct rt_sleep sleep;
    uint32_t sent;
    uint32_t at;
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_sleep_poll(&rt_container_of(task, struct job, task)->work, cx);
}

static void
job_cleanup(struct rt_task *task)
{
    struct job *job = rt_container_of(task, struct job, task);
    rt_sleep_cancel(&job->work);
    job->used = false;
    job->server->in_flight--;
    job->server->finished++;
    rt_slot_wake(&job->server->changed);
}

static void
server_start_job(struct server *server)
{
    struct job *job = server->jobs[0].used ? &server->jobs[1] : &server->jobs[0];
    job->used = true;
    job->server = server;
    rt_sleep_init(&job->work, sim_range(server->world, 0, 3 * RT_MS));
    rt_task_init(&job->task, job_poll, job_cleanup, "job");
    server->requests--;
    server->in_flight++;
    server->started++;
    SIM_ALWAYS(rt_post(server->executor, &job->task) == RT_OK);
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    while (!server->stopped && server->requests > 0 && server->in_flight < PLACES) {
        server_start_job(server);
    }
    if (server->stopped && server->in_flight == 0) {
        SIM_ALWAYS(server->finished == server->started);
        return RT_READY;
    }
    rt_slot_replace(&server->changed, cx, server->stopped ? "the last jobs" : "something to do");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    struct server *server = client->server;
    RT_BEGIN(client->at);
    for (client->sent = 0; client->sent < REQUESTS; client->sent++) {
        rt_sleep_init(&client->sleep, sim_range(server->world, 0, RT_MS));
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->sleep, cx));
        server->requests++;
        rt_slot_wake(&server->changed);
    }
    rt_sleep_init(&client->sleep, sim_range(server->world, 0, 5 * RT_MS));
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->sleep, cx));
    server->stopped = true;
    rt_slot_wake(&server->changed);
    RT_END(client->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct server *server = sim_new(world, struct server);
    struct client *client = sim_new(world, struct client);
    server->world = world;
    server->executor = sim_rt_executor(rt);
    rt_slot_init(&server->changed);
    client->server = server;
    rt_task_init(&server->task, server_poll, NULL, "server");
    rt_task_init(&client->task, client_poll, NULL, "client");
    sim_spawn(rt, &server->task);
    sim_spawn(rt, &client->task);
}

SIM_SCENARIO(correct_drain, .name = "correct/drain",
        .about = "A server that stops when its last job has finished.", .setup = setup);
