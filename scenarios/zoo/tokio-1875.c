/*
 * tokio-1875.c -- a blocking job that comes after the shutdown is dropped, and its handle told
 * nothing.
 *
 * tokio-rs/tokio#1875 (issue #1853).
 *
 * The bug. A pool for blocking jobs that has been shut down takes no more of them. A job that was
 * handed in after that was dropped, but its state was never completed: whoever held the handle
 * awaited it forever.
 *
 * The fix. A refused job is cancelled, which completes its handle: pool_spawn below.
 *
 * Here. A client sends two jobs to the pool, the second when the first is done. An operator shuts
 * the pool down at some moment; jobs that have been taken are finished.
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

struct story {
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
    /* Who shuts it down. */
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
pool_spawn(struct story *pool, struct handle *handle)
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
    struct story *story = rt_container_of(task, struct story, worker);
    while (story->taken != NULL) {
        if (!story->working) {
            story->working = true;
            rt_sleep_init(&story->work, RT_MS);
        }
        RT_AWAIT(rt_sleep_poll(&story->work, cx));
        struct handle *handle = story->taken;
        story->working = false;
        story->taken = NULL;
        handle_complete(handle, false);
    }
    if (story->shut_down) {
        return RT_READY;
    }
    rt_slot_replace(&story->worker_waits, cx, "a job");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, client);
    while (story->job < JOBS) {
        struct handle *handle = &story->handles[story->job];
        if (!story->sent) {
            story->sent = true;
            pool_spawn(story, handle);
        }
        if (!handle->complete) {
            rt_slot_replace(&handle->waiter, cx, "the end of a blocking job");
            return RT_PENDING;
        }
        story->sent = false;
        story->job++;
    }
    return RT_READY;
}

static rt_poll
operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, operator);
    RT_AWAIT(rt_sleep_poll(&story->patience, cx));
    story->shut_down = true;
    rt_slot_wake(&story->worker_waits);
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct story *story = sim_new(world, struct story);
    bool hasty = sim_pick(world, 2) != 0;
    story->broken = broken;
    for (uint32_t i = 0; i < JOBS; i++) {
        rt_slot_init(&story->handles[i].waiter);
    }
    rt_slot_init(&story->worker_waits);
    rt_sleep_init(&story->patience, hasty ? sim_range(world, 0, 3 * RT_MS) : 10 * RT_MS);
    rt_task_init(&story->client, client_poll, NULL, "client");
    rt_task_init(&story->worker, worker_poll, NULL, "worker");
    rt_task_init(&story->operator, operator_poll, NULL, "operator");
    sim_spawn(rt, &story->client);
    sim_spawn(rt, &story->worker);
    sim_spawn(rt, &story->operator);
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
