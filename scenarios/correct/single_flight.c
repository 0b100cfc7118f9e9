/*
 * single_flight.c -- a cache that asks its origin once for many requests of one key.
 *
 * The first request finds the entry empty and becomes the loader; those that come meanwhile wait in
 * a queue; later ones find it filled. A load may fail: then the entry is empty again, all that wait
 * are woken, and the first of them becomes the loader. Each checks the entry again after a wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define REQUESTS 4u

enum entry_state { ENTRY_EMPTY, ENTRY_LOADING, ENTRY_FULL };

struct entry {
    struct sim_world *world;
    enum entry_state state;
    struct rt_wait_queue waiting;
    struct rt_wait_queue_entry entries[REQUESTS];
    uint32_t failures;
    uint32_t loads;
};

struct request {
    struct rt_task task;
    struct entry *entry;
    struct rt_sleep sleep; /* The origin. */
    uint64_t delay_ns;     /* Before it asks. */
    uint32_t at;
};

/* The load is over; it may have failed, but not always. */
static void
entry_loaded(struct entry *entry)
{
    bool failed = entry->failures < 2 && sim_pick(entry->world, 3) == 1;
    entry->failures += failed;
    entry->state = failed ? ENTRY_EMPTY : ENTRY_FULL;
    rt_wait_queue_wake(&entry->waiting, UINT32_MAX);
}

static rt_poll
request_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct request *request = rt_container_of(task, struct request, task);
    struct entry *entry = request->entry;
    RT_BEGIN(request->at);
    rt_sleep_init(&request->sleep, request->delay_ns);
    RT_AWAIT_HERE(request->at, rt_sleep_poll(&request->sleep, cx));
    while (entry->state != ENTRY_FULL) {
        if (entry->state == ENTRY_LOADING) {
            SIM_ALWAYS(rt_wait_queue_store(&entry->waiting, cx, "the entry") == RT_OK);
            RT_YIELD_HERE(request->at);
            continue;
        }
        entry->state = ENTRY_LOADING;
        entry->loads++;
        rt_sleep_init(&request->sleep, sim_range(entry->world, RT_MS, 5 * RT_MS));
        RT_AWAIT_HERE(request->at, rt_sleep_poll(&request->sleep, cx));
        entry_loaded(entry);
    }
    SIM_ALWAYS(entry->loads == entry->failures + 1);
    RT_END(request->at);
}

static void
request_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct request, task)->sleep);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[REQUESTS] = {"request A", "request B", "request C", "request D"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct entry *entry = sim_new(world, struct entry);
    entry->world = world;
    rt_wait_queue_init(&entry->waiting, entry->entries, REQUESTS);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct request *request = sim_new(world, struct request);
        request->entry = entry;
        request->delay_ns = sim_range(world, 0, 8 * RT_MS);
        rt_sleep_init(&request->sleep, 0);
        rt_task_init(&request->task, request_poll, request_cleanup, names[i]);
        sim_spawn(rt, &request->task);
    }
}

SIM_SCENARIO(correct_single_flight, .name = "correct/single-flight",
        .about = "Four requests of one key, one load at a time.", .setup = setup);
