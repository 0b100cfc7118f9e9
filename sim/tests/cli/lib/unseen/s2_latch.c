// Cause: s2_latch.c:41 a latch with one slot is given to two services: the waker of the second one that waits replaces that of the first, so the loader wakes only the second, and the first waits forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SERVICES 2

struct latch {
    bool open;
    bool fixed;
    struct rt_slot slot;
    struct rt_wait_queue queue;
    struct rt_wait_queue_entry entries[SERVICES];
};

struct service {
    struct rt_task task;
    struct latch *latch;
    struct rt_sleep sleep;
    uint64_t start_ns;
    uint32_t at;
};

struct loader {
    struct rt_task task;
    struct latch *latch;
    struct rt_sleep sleep;
    uint64_t load_ns;
    uint32_t at;
};

static rt_poll latch_wait(struct latch *latch, struct rt_cx *cx)
{
    if (latch->open) {
        rt_wait_queue_leave(&latch->queue, cx);
        return RT_READY;
    }
    if (latch->fixed)
        SIM_ALWAYS(rt_wait_queue_store(&latch->queue, cx, "the configuration") == RT_OK);
    else
        rt_slot_replace(&latch->slot, cx, "the configuration");
    return RT_PENDING;
}

static void latch_open(struct latch *latch)
{
    latch->open = true;
    rt_slot_wake(&latch->slot);
    rt_wait_queue_wake(&latch->queue, UINT32_MAX);
}

static rt_poll service_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct service *service = rt_container_of(task, struct service, task);
    RT_BEGIN(service->at);
    rt_sleep_init(&service->sleep, service->start_ns);
    RT_AWAIT_HERE(service->at, rt_sleep_poll(&service->sleep, cx));
    RT_AWAIT_HERE(service->at, latch_wait(service->latch, cx));
    RT_END(service->at);
}

static rt_poll loader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct loader *loader = rt_container_of(task, struct loader, task);
    RT_BEGIN(loader->at);
    rt_sleep_init(&loader->sleep, loader->load_ns);
    RT_AWAIT_HERE(loader->at, rt_sleep_poll(&loader->sleep, cx));
    latch_open(loader->latch);
    RT_END(loader->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[SERVICES] = {"http", "metrics"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct latch *latch = sim_new(world, struct latch);
    struct loader *loader = sim_new(world, struct loader);
    latch->fixed = fixed;
    rt_slot_init(&latch->slot);
    rt_wait_queue_init(&latch->queue, latch->entries, SERVICES);
    loader->latch = latch;
    loader->load_ns = sim_range(world, RT_MS, 4 * RT_MS);
    rt_task_init(&loader->task, loader_poll, NULL, "loader");
    sim_spawn(rt, &loader->task);
    for (uint32_t i = 0; i < SERVICES; i++) {
        struct service *service = sim_new(world, struct service);
        service->latch = latch;
        service->start_ns = sim_range(world, 2 * RT_MS, 3 * RT_MS);
        rt_task_init(&service->task, service_poll, NULL, names[i]);
        sim_spawn(rt, &service->task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/latch/broken", .about = "Two services wait at a latch with one slot.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/latch/fixed", .about = "Two services wait at a latch with a queue.",
        .setup = setup_fixed);
