/*
 * tokio-1875.c -- a blocking job that arrives after the shutdown is dropped without completing its
 * handle.
 *
 * tokio-rs/tokio#1875 (issue #1853).
 *
 * The bug. A pool for blocking jobs takes no more of them after its shutdown. A job that is spawned
 * later is dropped, but its state is never completed: the owner of the handle waits forever.
 *
 * The fix. A refused job is cancelled, which completes its handle: pool_spawn below.
 *
 * Here. A client sends two jobs to the pool, the second when the first is done. An operator shuts
 * the pool down at some time; jobs that have been taken are finished.
 *
 * Cause: never-fired in pool_spawn or client_poll
 * Must end in: deadlock of the client. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define JOBS 2

struct handle {
    bool complete; /* Done, or cancelled. */
    bool cancelled;
    struct rt_slot waiter;
};

struct state {
    /* The pool. */
    bool broken;
    bool shut_down;
    struct handle *taken;
    struct rt_slot worker_waits;
    struct rt_sleep work;
    bool working;
    struct rt_task worker;
    /* Its user. */
    struct handle handles[JOBS];
    uint32_t job;
    bool sent;
    struct rt_task client;
    /* Shuts the pool down. */
    struct rt_sleep patience;
    struct rt_task operator;
};

static void
handle_complete(struct handle *handle, bool cancelled)
{
    handle->complete = true;
    handle->cancelled = cancelled;
    rt_slot_wake(&handle->waiter);
}

static void
pool_spawn(struct state *pool, struct handle *handle)
{
    if (pool->shut_down) {
        if (!pool->broken) {
            handle_complete(handle, true);
        }
        return;
    }
    pool->taken = handle;
    rt_slot_wake(&pool->worker_waits);
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, worker);
    while (state->taken != NULL) {
        if (!state->working) {
            state->working = true;
            rt_sleep_init(&state->work, RT_MS);
        }
        RT_AWAIT(rt_sleep_poll(&state->work, cx));
        struct handle *handle = state->taken;
        state->working = false;
        state->taken = NULL;
        handle_complete(handle, false);
    }
    if (state->shut_down) {
        return RT_READY;
    }
    rt_slot_replace(&state->worker_waits, cx, "a job");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, client);
    while (state->job < JOBS) {
        struct handle *handle = &state->handles[state->job];
        if (!state->sent) {
            state->sent = true;
            pool_spawn(state, handle);
        }
        if (!handle->complete) {
            rt_slot_replace(&handle->waiter, cx, "the end of a blocking job");
            return RT_PENDING;
        }
        state->sent = false;
        state->job++;
    }
    return RT_READY;
}

static rt_poll
operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, operator);
    RT_AWAIT(rt_sleep_poll(&state->patience, cx));
    state->shut_down = true;
    rt_slot_wake(&state->worker_waits);
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    bool hasty = sim_pick(world, 2) != 0;
    state->broken = broken;
    for (uint32_t i = 0; i < JOBS; i++) {
        rt_slot_init(&state->handles[i].waiter);
    }
    rt_slot_init(&state->worker_waits);
    rt_sleep_init(&state->patience, hasty ? sim_range(world, 0, 3 * RT_MS) : 10 * RT_MS);
    rt_task_init(&state->client, client_poll, NULL, "client");
    rt_task_init(&state->worker, worker_poll, NULL, "worker");
    rt_task_init(&state->operator, operator_poll, NULL, "operator");
    sim_spawn(rt, &state->client);
    sim_spawn(rt, &state->worker);
    sim_spawn(rt, &state->operator);
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

SIM_SCENARIO(zoo_tokio_1875_broken, .name = "zoo/tokio-1875/broken", .bug = "H06",
        .reference = "tokio-rs/tokio#1875",
        .about = "A job that a closed pool drops leaves its handle pending.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_tokio_1875_fixed, .name = "zoo/tokio-1875/fixed",
        .about = "A job that a closed pool refuses is cancelled, and its handle complete.",
        .setup = setup_fixed);
