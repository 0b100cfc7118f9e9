/* Cause: pool_leave(), line 90: a client that gives up only unlinks itself if it is still queued; a connection that pool_return() has handed to it meanwhile is kept by nobody, so the pool is one short and the batch job waits forever; repair: pool_leave() gives a connection that was handed over back to the pool. */
/*
 * s16_pool.c -- database clients share a few connections, and give up after a while.
 *
 * A connection that comes back goes directly to the client that has waited longest.
 */
#include <sim/rewake.h>

#define CLIENTS 4
#define CONNECTIONS 1
#define NONE (-1)

struct waiter {
    struct waiter *next;
    struct rt_slot slot;
    int connection;
    bool queued;
};

struct pool {
    struct waiter *head;
    int idle[CONNECTIONS];
    unsigned idle_count;
    bool fixed;
};

struct client {
    struct rt_task task;
    struct sim_world *world;
    struct pool *pool;
    struct waiter waiter;
    struct rt_sleep patience;
    struct rt_sleep query;
    uint64_t patience_ns;
    uint32_t at;
    bool served;
};

static void
pool_return(struct pool *pool, int connection)
{
    struct waiter *waiter = pool->head;
    if (waiter == NULL) {
        pool->idle[pool->idle_count++] = connection;
        return;
    }
    pool->head = waiter->next;
    waiter->queued = false;
    waiter->connection = connection;
    rt_slot_wake(&waiter->slot);
}

/* READY with a connection in `waiter`. */
static rt_poll
pool_checkout(struct pool *pool, struct waiter *waiter, struct rt_cx *cx)
{
    if (waiter->connection != NONE) {
        return RT_READY;
    }
    if (!waiter->queued) {
        if (pool->head == NULL && pool->idle_count > 0) {
            waiter->connection = pool->idle[--pool->idle_count];
            return RT_READY;
        }
        struct waiter **last = &pool->head;
        while (*last != NULL) {
            last = &(*last)->next;
        }
        waiter->next = NULL;
        waiter->queued = true;
        *last = waiter;
    }
    rt_slot_replace(&waiter->slot, cx, "a connection");
    return RT_PENDING;
}

/* The client does not want a connection any more. */
static void
pool_leave(struct pool *pool, struct waiter *waiter)
{
    rt_slot_clear(&waiter->slot);
    if (waiter->queued) {
        struct waiter **at = &pool->head;
        while (*at != waiter) {
            at = &(*at)->next;
        }
        *at = waiter->next;
        waiter->queued = false;
    }
    if (waiter->connection != NONE && pool->fixed) {
        pool_return(pool, waiter->connection);
    }
    waiter->connection = NONE;
}

/* A result that comes after the deadline is of no use, so that is looked at first. */
static rt_poll
client_wait(struct client *client, struct rt_cx *cx)
{
    if (client->patience_ns != RT_NEVER && rt_sleep_poll(&client->patience, cx) == RT_READY) {
        pool_leave(client->pool, &client->waiter);
        return RT_READY;
    }
    if (pool_checkout(client->pool, &client->waiter, cx) == RT_PENDING) {
        return RT_PENDING;
    }
    rt_sleep_cancel(&client->patience);
    client->served = true;
    return RT_READY;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    RT_AWAIT_HERE(client->at, client_wait(client, cx));
    if (client->served) {
        rt_sleep_init(&client->query, sim_range(client->world, 1 * RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->query, cx));
        pool_return(client->pool, client->waiter.connection);
    }
    RT_END(client->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[CLIENTS] = {"page", "search", "feed", "batch job"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pool *pool = sim_new(world, struct pool);
    pool->fixed = fixed;
    for (int i = 0; i < CONNECTIONS; i++) {
        pool->idle[pool->idle_count++] = i;
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->world = world;
        client->pool = pool;
        client->waiter.connection = NONE;
        client->patience_ns = i == CLIENTS - 1 ? RT_NEVER : 3 * RT_MS;
        rt_slot_init(&client->waiter.slot);
        rt_sleep_init(&client->patience, client->patience_ns);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/pool/broken", .about = "Connections, and clients that give up.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s16/pool/fixed", .about = "Connections, and clients that give up.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
