/*
 * t_pool.c -- A pool with one database connection. A released connection is handed to the first
 * waiter; a waiter gives up after its checkout timeout.
 *
 * Cause: A waiter that times out after the connection was handed to it leaves without passing
 * the connection on to the next waiter.
 * Where: client_poll
 * Kind: hand-over to a cancelled waiter
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CLIENTS 3

static bool fixed;

struct client;

struct pool {
    bool idle; /* The connection is in the pool. */
    struct client *queue[CLIENTS];
    uint32_t waiting;
};

struct client {
    struct rt_task task;
    struct pool *pool;
    struct rt_slot slot;
    struct rt_sleep timeout;
    struct rt_sleep query;
    uint64_t patience;
    uint64_t query_ns;
    enum { ASKS, WAITS, QUERIES } state;
    bool granted;
};

static void
pool_release(struct pool *pool)
{
    if (pool->waiting == 0) {
        pool->idle = true;
        return;
    }
    struct client *next = pool->queue[0];
    pool->waiting--;
    for (uint32_t i = 0; i < pool->waiting; i++) {
        pool->queue[i] = pool->queue[i + 1];
    }
    next->granted = true;
    rt_slot_wake(&next->slot);
}

static void
pool_leave(struct pool *pool, struct client *client)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pool->waiting; i++) {
        if (pool->queue[i] != client) {
            pool->queue[kept++] = pool->queue[i];
        }
    }
    pool->waiting = kept;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    struct pool *pool = client->pool;
    if (client->state == ASKS) {
        if (pool->idle) {
            pool->idle = false;
            client->granted = true;
        } else {
            pool->queue[pool->waiting++] = client;
        }
        rt_sleep_init(&client->timeout, client->patience);
        client->state = WAITS;
    }
    if (client->state == WAITS) {
        if (client->patience > 0 && rt_sleep_poll(&client->timeout, cx) == RT_READY) {
            pool_leave(pool, client);
            if (fixed && client->granted) {
                pool_release(pool);
            }
            return RT_READY; /* Checkout timed out. */ /* Where. */
        }
        if (!client->granted) {
            rt_slot_replace(&client->slot, cx, "a connection");
            return RT_PENDING;
        }
        rt_sleep_cancel(&client->timeout);
        rt_sleep_init(&client->query, client->query_ns);
        client->state = QUERIES;
    }
    RT_AWAIT(rt_sleep_poll(&client->query, cx));
    pool_release(pool);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"first", "impatient", "patient"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pool *pool = sim_new(world, struct pool);
    pool->idle = true;
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->pool = pool;
        rt_slot_init(&client->slot);
        client->patience = i == 1 ? 2 * RT_MS : 0;
        client->query_ns = sim_range(world, 1, 3) * RT_MS;
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/t-pool/broken",
        .about = "A connection pool with checkout timeouts.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/t-pool/fixed",
        .about = "A connection pool with checkout timeouts.", .setup = setup_fixed);
