/*
 * A cache with one entry: the first who asks loads it, the others wait for that; a request may be given up.
 * Cause: request_cleanup() (line 83) makes the entry empty when its loader is cancelled, and wakes none of those who wait for the load.
 */
#include <sim/rewake.h>

#define REQUESTS 3u

struct cache {
    enum { EMPTY, LOADING, LOADED } state;
    struct request *loader;
    struct rt_slot waiters[REQUESTS];
    bool fixed;
};

struct request {
    struct rt_task task;
    struct cache *cache;
    struct rt_slot *slot;
    struct rt_sleep arrival;
    struct rt_sleep load;
    uint64_t arrives_ns;
    uint32_t at;
};

struct visitor {
    struct rt_task task;
    struct request *request;
    struct rt_sleep patience;
    uint64_t patience_ns;
    uint32_t at;
};

static void
cache_wake_all(struct cache *cache)
{
    for (uint32_t i = 0; i < REQUESTS; i++) {
        rt_slot_wake(&cache->waiters[i]);
    }
}

static rt_poll
cache_ready(struct request *request, struct rt_cx *cx)
{
    struct cache *cache = request->cache;
    if (cache->state != LOADING) {
        return RT_READY;
    }
    rt_slot_replace(request->slot, cx, "the load of another request");
    return RT_PENDING;
}

static rt_poll
request_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct request *request = rt_container_of(task, struct request, task);
    struct cache *cache = request->cache;
    RT_BEGIN(request->at);
    rt_sleep_init(&request->arrival, request->arrives_ns);
    RT_AWAIT_HERE(request->at, rt_sleep_poll(&request->arrival, cx));
    RT_AWAIT_HERE(request->at, cache_ready(request, cx));
    if (cache->state == EMPTY) {
        cache->state = LOADING;
        cache->loader = request;
        rt_sleep_init(&request->load, 2 * RT_MS);
        RT_AWAIT_HERE(request->at, rt_sleep_poll(&request->load, cx));
        cache->loader = NULL;
        cache->state = LOADED;
        cache_wake_all(cache);
    }
    RT_END(request->at);
}

static void
request_cleanup(struct rt_task *task)
{
    struct request *request = rt_container_of(task, struct request, task);
    struct cache *cache = request->cache;
    rt_sleep_cancel(&request->arrival);
    rt_sleep_cancel(&request->load);
    if (cache->loader == request) {
        cache->loader = NULL;
        cache->state = EMPTY;
        if (cache->fixed) {
            cache_wake_all(cache);
        }
    }
}

/* Asks, and gives up after a while. */
static rt_poll
visitor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct visitor *visitor = rt_container_of(task, struct visitor, task);
    RT_BEGIN(visitor->at);
    rt_sleep_init(&visitor->patience, visitor->patience_ns);
    RT_AWAIT_HERE(visitor->at, rt_sleep_poll(&visitor->patience, cx));
    rt_task_cancel(&visitor->request->task);
    RT_END(visitor->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[REQUESTS] = {"request 1", "request 2", "request 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct cache *cache = sim_new(world, struct cache);
    struct visitor *visitor = sim_new(world, struct visitor);
    cache->fixed = fixed;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct request *request = sim_new(world, struct request);
        rt_slot_init(&cache->waiters[i]);
        request->cache = cache;
        request->slot = &cache->waiters[i];
        request->arrives_ns = sim_range(world, 0, 2 * RT_MS);
        rt_sleep_init(&request->arrival, 0);
        rt_sleep_init(&request->load, 0);
        rt_task_init(&request->task, request_poll, request_cleanup, names[i]);
        sim_spawn(rt, &request->task);
        if (i == 1) {
            visitor->request = request;
        }
    }
    visitor->patience_ns = sim_range(world, 1 * RT_MS, 4 * RT_MS);
    rt_task_init(&visitor->task, visitor_poll, NULL, "visitor");
    sim_spawn(rt, &visitor->task);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(broken, .name = "s12-flight/broken", .about = "Three requests, one load.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-flight/fixed", .about = "Three requests, one load.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
