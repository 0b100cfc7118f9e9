// Cause: pool_leave(), called when a client's patience ends, takes only a queued place out of the line. A place that
// was granted already (pool_give() has unlinked it and woken its slot, in the same moment) is dropped with its grant:
// the connection is given to nobody, and the next client waits forever. A granted place must be passed on with
// pool_give() when its client leaves.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A pool of one connection for three clients. A client waits in line for it, at most as long as its
 * patience lasts. */
#include <sim/rewake.h>

struct place {
    struct rt_slot slot;
    struct place *next;
    bool queued;
    bool granted;
};

struct pool {
    struct sim_world *world;
    uint32_t idle;
    struct place *first;
    void (*leave)(struct pool *pool, struct place *place);
};

struct client {
    struct rt_task task;
    uint32_t at;
    struct pool *pool;
    struct place place;
    struct rt_sleep pause;
    struct rt_sleep patience;
    uint64_t before_ns;
    uint64_t patience_ns;
    uint64_t use_ns;
    bool served;
};

static void
pool_give(struct pool *pool)
{
    struct place *place = pool->first;
    if (place == NULL) {
        pool->idle++;
        return;
    }
    pool->first = place->next;
    place->queued = false;
    place->granted = true;
    rt_slot_wake(&place->slot);
}

static void
pool_unlink(struct pool *pool, struct place *place)
{
    struct place **at = &pool->first;
    while (*at != NULL && *at != place) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = place->next;
    }
    place->queued = false;
    rt_slot_clear(&place->slot);
}

static void
pool_leave(struct pool *pool, struct place *place)
{
    if (place->queued) {
        pool_unlink(pool, place);
    }
}

static void
pool_leave_back(struct pool *pool, struct place *place)
{
    if (place->queued) {
        pool_unlink(pool, place);
    } else if (place->granted) {
        place->granted = false;
        pool_give(pool);
    }
}

/* READY: served, or out of patience. */
static rt_poll
client_wait(struct client *client, struct rt_cx *cx)
{
    struct pool *pool = client->pool;
    struct place *place = &client->place;
    if (!place->queued && !place->granted) {
        if (pool->idle > 0) {
            pool->idle--;
            client->served = true;
            return RT_READY;
        }
        struct place **end = &pool->first;
        while (*end != NULL) {
            end = &(*end)->next;
        }
        place->next = NULL;
        place->queued = true;
        *end = place;
    }
    if (rt_sleep_poll(&client->patience, cx) == RT_READY) {
        pool->leave(pool, place);
        return RT_READY;
    }
    if (place->granted) {
        client->served = true;
        rt_sleep_cancel(&client->patience);
        return RT_READY;
    }
    rt_slot_replace(&place->slot, cx, "a connection");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    rt_sleep_init(&client->pause, client->before_ns);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
    rt_sleep_init(&client->patience, client->patience_ns);
    RT_AWAIT_HERE(client->at, client_wait(client, cx));
    if (client->served) {
        rt_sleep_init(&client->pause, client->use_ns);
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
        pool_give(client->pool);
    }
    RT_END(client->at);
}

static void
setup_pool(struct sim_world *world, void (*leave)(struct pool *, struct place *))
{
    static const char *const names[] = {"report", "browser", "batch"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pool *pool = sim_new(world, struct pool);
    pool->world = world;
    pool->idle = 1;
    pool->leave = leave;
    for (uint32_t i = 0; i < 3; i++) {
        struct client *client = sim_new(world, struct client);
        client->pool = pool;
        client->before_ns = i == 0 ? 1 : sim_range(world, 100 * RT_US, 1 * RT_MS);
        client->use_ns = sim_range(world, 2 * RT_MS, 5 * RT_MS);
        client->patience_ns = i == 1 ? sim_range(world, 1 * RT_MS, 6 * RT_MS) : RT_NEVER;
        rt_slot_init(&client->place.slot);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_pool(world, pool_leave);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_pool(world, pool_leave_back);
}

SIM_SCENARIO(permit_broken, .name = "permit/broken", .about = "A pool whose clients have patience.",
        .setup = setup_broken);
SIM_SCENARIO(permit_fixed, .name = "permit/fixed", .about = "A pool whose clients have patience.",
        .setup = setup_fixed);
