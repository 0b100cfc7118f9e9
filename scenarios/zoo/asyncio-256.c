/*
 * asyncio-256.c -- an item is handed to a getter that has just been cancelled.
 *
 * python/asyncio#256, #269 and #270 (asyncio.Queue).
 *
 * The bug. A put hands its item to the first getter's future. A getter that is cancelled before it
 * runs keeps the item: it is in no queue, and no other getter receives it.
 *
 * The fix. Items stay in the queue until a getter runs. asyncio-256.patch makes a receive that was
 * granted an item and is dropped take the item out of the ring, in runtime/sync/channel_futures.c.
 *
 * Here. Two clerks wait at a counter; one of them stops waiting at some time. A customer hands in
 * an application and waits for the answer of the clerk that takes it.
 *
 * Cause: never-fired in recv_drop or clerk_poll
 * Must end in: deadlock: the other clerk waits for an application, the customer for an answer.
 * Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/channel.h"
#include "runtime/sync/oneshot.h"
#include "sim/rewake.h"

struct office;

struct clerk {
    struct rt_task task;
    struct office *office;
    struct rt_recv recv;
    struct rt_sleep shift;
    uint64_t application;
};

struct office {
    struct rt_channel counter;
    uint64_t ring[1];
    struct clerk clerks[2];
    struct rt_task customer;
    struct rt_sleep walk;
    uint64_t application;
    bool handed_in;
    struct rt_oneshot answer;
    struct rt_oneshot_wait wait;
};

/* Ends at the end of its shift, or with the application; there is one. */
static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    struct office *office = clerk->office;
    if (rt_sleep_poll(&clerk->shift, cx) == RT_READY) {
        rt_recv_drop(&clerk->recv);
        return RT_READY;
    }
    RT_AWAIT(rt_recv_poll(&clerk->recv, cx));
    rt_sleep_cancel(&clerk->shift);
    if (clerk->recv.err == RT_OK) {
        rt_err err = rt_oneshot_send(&office->answer, &clerk->application);
        SIM_ALWAYS(err == RT_OK);
    }
    return RT_READY;
}

static rt_poll
customer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct office *office = rt_container_of(task, struct office, customer);
    if (!office->handed_in) {
        RT_AWAIT(rt_sleep_poll(&office->walk, cx));
        office->handed_in = true;
        rt_err err = rt_channel_try_send(&office->counter, &office->application);
        SIM_ALWAYS(err == RT_OK);
    }
    RT_AWAIT(rt_oneshot_poll(&office->wait, cx));
    rt_channel_close(&office->counter);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"first clerk", "second clerk"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct office *office = sim_new(world, struct office);
    rt_channel_init(&office->counter,
            &(struct rt_channel_config){
                    .ring = office->ring, .item_size = sizeof(uint64_t), .capacity = 1});
    rt_oneshot_init(&office->answer);
    rt_oneshot_wait_init(&office->wait, &office->answer);
    for (uint32_t i = 0; i < 2; i++) {
        struct clerk *clerk = &office->clerks[i];
        clerk->office = office;
        rt_recv_init(&clerk->recv, &office->counter, &clerk->application);
        rt_sleep_until(&clerk->shift, i == 0 ? RT_MS : RT_NEVER);
        rt_task_init(&clerk->task, clerk_poll, NULL, names[i]);
        sim_spawn(rt, &clerk->task);
    }
    rt_sleep_until(&office->walk, sim_range(world, 0, 2 * RT_MS));
    rt_task_init(&office->customer, customer_poll, NULL, "customer");
    sim_spawn(rt, &office->customer);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_asyncio_256_broken, .name = "zoo/asyncio-256/broken", .bug = "C03",
        .reference = "python/asyncio#256",
        .about = "A cancelled receive takes its granted item with it.", .setup = setup,
        .expect = SIM_VERDICT_DEADLOCK);
#else
SIM_SCENARIO(zoo_asyncio_256_fixed, .name = "zoo/asyncio-256/fixed",
        .about = "A cancelled receive leaves its granted item in the queue.", .setup = setup);
#endif
