/*
 * maybe_yield.c -- the latency budget of the reactor in the article about fibers (S2).
 *
 * "We have a latency budget for each task that runs on the reactor (~500 us): if a task needs to
 * take longer than that it needs to yield control itself." So the loop that drives a guest awaits
 * maybe_yield after each piece of work. Here two transforms work through their records, 90 us each,
 * and call it before every record; a client, which needs one poll a millisecond, runs in between.
 * No poll takes much more than the quota, or the run is over-budget; and as the runtime may make a
 * task yield at any time, each run cuts the work elsewhere.
 *
 * The main function drives the reactor with the runtime's own loop, whose rounds end with the
 * quota.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define RECORDS 40u
#define POLLS 3u

struct transform {
    struct rt_task task;
    struct rt_yield yield;
    struct sim_world *world;
    uint32_t records; /* Done. */
};

struct client {
    struct rt_task task;
    struct rt_interval interval;
    uint32_t times;
};

struct state {
    struct sim_rt *rt;
    struct transform transforms[2];
    struct client client;
    bool completed;
};

/* while (!wasmtime_call_future_poll(fut)) { co_await seastar::coroutine::maybe_yield(); } */
static rt_poll
transform_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct transform *transform = rt_container_of(task, struct transform, task);
    while (transform->records < RECORDS) {
        RT_AWAIT(rt_maybe_yield(&transform->yield, cx));
        sim_work(transform->world, 90 * RT_US);
        SIM_PROGRESS();
        transform->records++;
    }
    return RT_READY;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    while (client->times < POLLS) {
        RT_AWAIT(rt_interval_poll(&client->interval, cx, NULL));
        client->times++;
    }
    rt_interval_cancel(&client->interval);
    return RT_READY;
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    rt_err err = rt_run_to_completion(sim_rt_runtime(state->rt));
    SIM_ALWAYS(err == RT_OK);
    state->completed = true;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true, .task_quota_ns = RT_TASK_QUOTA_NS};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < 2; i++) {
        struct transform *transform = &state->transforms[i];
        transform->world = world;
        rt_task_init(&transform->task, transform_poll, NULL, i == 0 ? "upper" : "lower");
        sim_spawn(state->rt, &transform->task);
    }
    rt_interval_init(&state->client.interval, RT_MS, RT_MS, RT_MISSED_SKIP);
    rt_task_init(&state->client.task, client_poll, NULL, "client");
    sim_spawn(state->rt, &state->client.task);
    (void)sim_loop_new(world, "main", main_loop, state);
    sim_set_state(world, state);
}

static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->completed);
    SIM_ALWAYS(state->transforms[0].records == RECORDS);
    SIM_ALWAYS(state->transforms[1].records == RECORDS);
}

/* All records must be done. */
SIM_SCENARIO(seed2_maybe_yield, .name = "articles/s2/maybe-yield",
        .about = "Two long transforms can yield between records; a client runs in time.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL & ~SIM_FAULT_CANCEL);
