// SPDX-License-Identifier: Apache-2.0
/* Cause: pool_leave() line 51: the waiter that moves into the gap keeps its old
 * `place`, so its own leaving overwrites another entry: a finished client stays queued, a live one is lost.
 * Repair: last->place = client->place (always, not only `careful`). */
#include <sim/rewake.h>

#define CLIENTS 4

struct client;

/* One connection, and those who wait for it. */
struct pool {
    struct client *queue[CLIENTS];
    uint32_t waiting;
    bool lent;
    bool careful;
};

struct client {
    struct rt_task task;
    struct pool *pool;
    struct rt_slot turn;
    struct rt_sleep arrival;
    struct rt_sleep patience;
    struct rt_sleep query;
    uint64_t arrival_ns;
    uint64_t patience_ns; /* 0: it waits for as long as it takes. */
    uint64_t query_ns;
    uint32_t at;
    uint32_t place; /* In pool->queue. */
    bool granted;
};

static bool
pool_take(struct client *client)
{
    struct pool *pool = client->pool;
    if (!pool->lent) {
        pool->lent = true;
        return true;
    }
    client->place = pool->waiting;
    pool->queue[pool->waiting++] = client;
    return false;
}

static void
pool_leave(struct client *client)
{
    struct pool *pool = client->pool;
    struct client *last = pool->queue[--pool->waiting];
    pool->queue[client->place] = last;
    if (pool->careful) {
        last->place = client->place;
    }
}

static void
pool_give(struct pool *pool)
{
    if (pool->waiting == 0) {
        pool->lent = false;
        return;
    }
    struct client *next = pool->queue[0];
    pool_leave(next);
    next->granted = true;
    rt_slot_wake(&next->turn);
}

static rt_poll
wait_for_turn(struct client *client, struct rt_cx *cx)
{
    if (client->granted) {
        rt_sleep_cancel(&client->patience);
        return RT_READY;
    }
    if (client->patience_ns != 0 && rt_sleep_poll(&client->patience, cx) == RT_READY) {
        pool_leave(client);
        rt_slot_clear(&client->turn);
        return RT_READY;
    }
    rt_slot_replace(&client->turn, cx, "its turn");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    rt_sleep_init(&client->arrival, client->arrival_ns);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->arrival, cx));
    if (pool_take(client)) {
        client->granted = true;
    } else {
        rt_sleep_init(&client->patience, client->patience_ns);
        RT_AWAIT_HERE(client->at, wait_for_turn(client, cx));
    }
    if (client->granted) {
        rt_sleep_init(&client->query, client->query_ns);
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->query, cx));
        pool_give(client->pool);
    }
    RT_END(client->at);
}

static void
begin(struct sim_world *world, bool careful)
{
    static const char *const names[CLIENTS] = {"report", "import", "page", "cron"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pool *pool = sim_new(world, struct pool);
    pool->careful = careful;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->pool = pool;
        rt_slot_init(&client->turn);
        client->arrival_ns = sim_range(world, i * 3 * RT_MS / 2, 6 * RT_MS);
        client->query_ns = sim_range(world, 1 * RT_MS, 4 * RT_MS);
        client->patience_ns = i % 2 == 1 ? sim_range(world, 1 * RT_MS, 4 * RT_MS) : 0;
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(pool_broken, .name = "s10/pool/broken", .about = "A pool of one connection.",
        .setup = setup_broken);
SIM_SCENARIO(pool_fixed, .name = "s10/pool/fixed", .about = "A pool of one connection.",
        .setup = setup_fixed);
