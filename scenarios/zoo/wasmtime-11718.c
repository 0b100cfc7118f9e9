/*
 * wasmtime-11718.c -- an event loop is dropped while it owns the store's set of futures.
 *
 * bytecodealliance/wasmtime#11718 (component-model async: Store::run_concurrent).
 *
 * The bug. The event loop takes the set of futures out of the store when it begins, and puts it
 * back when it ends. It is a future itself; one that is dropped between two polls drops the set
 * too. The store's field stays empty, and the next event loop panics in its first line.
 *
 * The fix. A guard puts the set back, however the loop ends: loop_drop below.
 *
 * Here. An embedder runs a guest's calls with a time limit. When it expires the embedder may do
 * other work, and runs the rest of the calls afterwards.
 *
 * Cause: not-a-wake in take or loop_drop
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

#define CALLS 2

/* The futures of a store: a guest's calls of the host. */
struct futures {
    struct rt_sleep calls[CALLS];
    bool done[CALLS];
};

struct store {
    struct futures all;
    struct futures *futures; /* NULL while an event loop owns them. */
    bool broken;
};

/* The event loop, a future. */
struct event_loop {
    struct rt_future future;
    struct store *store;
    struct futures *taken;
};

struct embedder {
    struct rt_task task;
    struct store store;
    struct event_loop loop;
    struct rt_timeout patience;
};

static struct futures *
take(struct store *store)
{
    struct futures *futures = store->futures;
    if (futures == NULL) {
        abort(); /* `self.futures.take().unwrap()` */
    }
    store->futures = NULL;
    return futures;
}

static void
put_back(struct event_loop *loop)
{
    loop->store->futures = loop->taken;
    loop->taken = NULL;
}

static rt_poll
poll_all(struct futures *futures, struct rt_cx *cx)
{
    rt_poll answer = RT_READY;
    for (uint32_t i = 0; i < CALLS; i++) {
        if (!futures->done[i]) {
            futures->done[i] = rt_sleep_poll(&futures->calls[i], cx) == RT_READY;
        }
        answer = futures->done[i] ? answer : RT_PENDING;
    }
    return answer;
}

static rt_poll
loop_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct event_loop *loop = rt_container_of(future, struct event_loop, future);
    if (loop->taken == NULL) {
        loop->taken = take(loop->store);
    }
    RT_AWAIT(poll_all(loop->taken, cx));
    put_back(loop);
    return RT_READY;
}

static void
loop_drop(struct rt_future *future)
{
    struct event_loop *loop = rt_container_of(future, struct event_loop, future);
    if (!loop->store->broken && loop->taken != NULL) {
        put_back(loop);
    }
}

/* ---- The embedder. --------------------------------------------------------------------------- */

static void
run_concurrent(struct embedder *embedder, uint64_t limit_ns)
{
    struct event_loop *loop = &embedder->loop;
    *loop = (struct event_loop){.store = &embedder->store};
    rt_future_init(&loop->future, loop_poll, loop_drop, "event loop");
    rt_timeout_init(&embedder->patience, &loop->future, limit_ns);
}

static rt_poll
embedder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct embedder *embedder = rt_container_of(task, struct embedder, task);
    for (;;) {
        RT_AWAIT(rt_timeout_poll(&embedder->patience, cx));
        if (!embedder->patience.expired) {
            return RT_READY;
        }
        run_concurrent(embedder, RT_NEVER);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct embedder *embedder = sim_new(world, struct embedder);
    struct store *store = &embedder->store;
    store->broken = broken;
    store->futures = &store->all;
    for (uint32_t i = 0; i < CALLS; i++) {
        rt_sleep_init(&store->all.calls[i], sim_range(world, RT_MS, 10 * RT_MS));
    }
    run_concurrent(embedder, sim_range(world, 5 * RT_MS, 20 * RT_MS));
    rt_task_init(&embedder->task, embedder_poll, NULL, "embedder");
    sim_spawn(rt, &embedder->task);
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

SIM_SCENARIO(zoo_wasmtime_11718_broken, .name = "zoo/wasmtime-11718/broken", .bug = "C14",
        .reference = "bytecodealliance/wasmtime#11718",
        .about = "An event loop that is dropped drops the store's futures.", .setup = setup_broken,
        .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_wasmtime_11718_fixed, .name = "zoo/wasmtime-11718/fixed",
        .about = "An event loop that is dropped puts the store's futures back.",
        .setup = setup_fixed);
