/*
 * tokio-2549.c -- an operation that has to wait still takes a unit of the budget.
 *
 * tokio-rs/tokio#2549 (9f63911).
 *
 * The bug. Each poll of a task has a budget, and each operation takes a unit of it. The unit was
 * taken at the start of the operation, even if the operation then had to wait. A task that polls
 * more sources than its budget has units never polled the last ones: they returned PENDING for lack
 * of budget, in this poll and in each further one, even if they were ready.
 *
 * The fix. An operation that makes no progress returns its unit. tokio-2549.patch makes that a
 * no-op, in runtime/task/budget.c.
 *
 * Here. A clerk polls one open counter and several closed ones. Their number is drawn; a budget is
 * 8. The office is open until the one customer is served.
 *
 * Cause: not-a-wake in rt__budget_restore or rt__budget_take or clerk_poll
 * Must end in: livelock. Fails on the baseline run: no, there is one counter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/channel.h"
#include "sim/rewake.h"

#define BUDGET 8u
#define COUNTERS_MAX 12u

struct counter {
    struct rt_channel channel;
    uint64_t ring[1];
    struct rt_recv recv;
    uint64_t request;
};

struct office {
    struct counter counters[COUNTERS_MAX];
    uint32_t count;
    struct rt_task clerk;
    struct rt_task customer;
    struct rt_sleep walk;
    uint64_t request;
};

/* Polls all counters in order; READY when a customer was served. */
static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct office *office = rt_container_of(task, struct office, clerk);
    for (uint32_t i = 0; i < office->count; i++) {
        if (rt_recv_poll(&office->counters[i].recv, cx) == RT_READY) {
            return RT_READY;
        }
    }
    return RT_PENDING;
}

static void
clerk_cleanup(struct rt_task *task)
{
    struct office *office = rt_container_of(task, struct office, clerk);
    for (uint32_t i = 0; i < office->count; i++) {
        rt_recv_drop(&office->counters[i].recv);
    }
}

/* Goes to the counter that is open: the last one. */
static rt_poll
customer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct office *office = rt_container_of(task, struct office, customer);
    struct rt_channel *open = &office->counters[office->count - 1].channel;
    RT_AWAIT(rt_sleep_poll(&office->walk, cx));
    SIM_ALWAYS(rt_channel_try_send(open, &office->request) == RT_OK);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.budget = BUDGET};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct office *office = sim_new(world, struct office);
    office->count = (uint32_t)sim_range(world, 1, COUNTERS_MAX);
    for (uint32_t i = 0; i < office->count; i++) {
        struct counter *counter = &office->counters[i];
        rt_channel_init(&counter->channel,
                &(struct rt_channel_config){
                        .ring = counter->ring, .item_size = sizeof(uint64_t), .capacity = 1});
        rt_recv_init(&counter->recv, &counter->channel, &counter->request);
    }
    rt_sleep_init(&office->walk, sim_range(world, 0, RT_MS));
    rt_task_init(&office->clerk, clerk_poll, clerk_cleanup, "clerk");
    rt_task_init(&office->customer, customer_poll, NULL, "customer");
    sim_spawn(rt, &office->clerk);
    sim_spawn(rt, &office->customer);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_2549_broken, .name = "zoo/tokio-2549/broken", .bug = "F04",
        .reference = "tokio-rs/tokio#2549",
        .about = "An operation that has to wait takes a unit of the budget all the same.",
        .setup = setup, .expect = SIM_VERDICT_LIVELOCK);
#else
SIM_SCENARIO(zoo_tokio_2549_fixed, .name = "zoo/tokio-2549/fixed",
        .about = "An operation that has to wait gives its unit of the budget back.",
        .setup = setup);
#endif
