/* Correct: one wake for several parcels, as a courier that takes one wakes the next while some are left (the baton);
 * a courier that goes home with an unused wake passes it on; and the sorter closes before it wakes. */
#include <sim/rewake.h>

/* A depot: a sorter puts down sacks of parcels, couriers fetch one at a time; one has short hours. */

#define COURIERS 3
#define SACKS 3
#define SACK 2

struct depot {
    struct sim_world *world;
    uint32_t parcels;
    uint32_t delivered;
    bool closed;
    struct rt_wait_queue queue;
    struct rt_wait_queue_entry entries[COURIERS];
};

struct courier {
    struct rt_task task;
    struct depot *depot;
    struct rt_sleep drive;
    struct rt_sleep shift;
    uint64_t shift_ns;
    uint32_t at;
    bool shift_over;
    bool waits;
};

struct sorter {
    struct rt_task task;
    struct depot *depot;
    struct rt_sleep pause;
    uint32_t at;
    uint32_t sacks;
};

static rt_poll
fetch(struct courier *courier, struct rt_cx *cx)
{
    struct depot *depot = courier->depot;
    if (!courier->shift_over && rt_sleep_poll(&courier->shift, cx) == RT_READY) {
        courier->shift_over = true;
    }
    if (courier->shift_over || depot->parcels > 0 || depot->closed) {
        bool was_queued = rt_wait_queue_leave(&depot->queue, cx);
        if (courier->shift_over && courier->waits && !was_queued && depot->parcels > 0) {
            (void)rt_wait_queue_wake(&depot->queue, 1); /* It was woken for one. */
        }
        courier->waits = false;
        return RT_READY;
    }
    courier->waits = true;
    SIM_ALWAYS(rt_wait_queue_store(&depot->queue, cx, "a parcel") == RT_OK);
    return RT_PENDING;
}

static rt_poll
courier_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct courier *courier = rt_container_of(task, struct courier, task);
    struct depot *depot = courier->depot;
    RT_BEGIN(courier->at);
    rt_sleep_init(&courier->shift, courier->shift_ns);
    for (;;) {
        RT_AWAIT_HERE(courier->at, fetch(courier, cx));
        if (courier->shift_over || depot->parcels == 0) {
            break;
        }
        if (--depot->parcels > 0) {
            (void)rt_wait_queue_wake(&depot->queue, 1);
        }
        depot->delivered++;
        SIM_PROGRESS();
        rt_sleep_init(&courier->drive, sim_range(depot->world, 500 * RT_US, 3 * RT_MS));
        RT_AWAIT_HERE(courier->at, rt_sleep_poll(&courier->drive, cx));
    }
    RT_END(courier->at);
}

static void
courier_cleanup(struct rt_task *task)
{
    struct courier *courier = rt_container_of(task, struct courier, task);
    rt_sleep_cancel(&courier->shift);
    rt_sleep_cancel(&courier->drive);
}

static rt_poll
sorter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sorter *sorter = rt_container_of(task, struct sorter, task);
    struct depot *depot = sorter->depot;
    RT_BEGIN(sorter->at);
    for (sorter->sacks = 0; sorter->sacks < SACKS; sorter->sacks++) {
        rt_sleep_init(&sorter->pause, sim_range(depot->world, 500 * RT_US, 3 * RT_MS));
        RT_AWAIT_HERE(sorter->at, rt_sleep_poll(&sorter->pause, cx));
        depot->parcels += SACK;
        (void)rt_wait_queue_wake(&depot->queue, 1);
    }
    depot->closed = true;
    (void)rt_wait_queue_wake(&depot->queue, UINT32_MAX);
    RT_END(sorter->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[COURIERS] = {"pia", "quinn", "rosa"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct depot *depot = sim_new(world, struct depot);
    struct sorter *sorter = sim_new(world, struct sorter);
    depot->world = world;
    rt_wait_queue_init(&depot->queue, depot->entries, COURIERS);
    for (uint32_t i = 0; i < COURIERS; i++) {
        struct courier *courier = sim_new(world, struct courier);
        courier->depot = depot;
        courier->shift_ns = i == 0 ? sim_range(world, 500 * RT_US, 5 * RT_MS) : RT_NEVER;
        rt_task_init(&courier->task, courier_poll, courier_cleanup, names[i]);
        sim_spawn(rt, &courier->task);
    }
    sorter->depot = depot;
    rt_task_init(&sorter->task, sorter_poll, NULL, "sorter");
    sim_spawn(rt, &sorter->task);
    sim_set_state(world, depot);
}

static void
check(struct sim_world *world, void *argument)
{
    const struct depot *depot = argument;
    (void)world;
    SIM_ALWAYS(depot->delivered == SACKS * SACK && depot->parcels == 0);
}

SIM_SCENARIO(ok_parcels, .name = "ok/parcels", .about = "A baton among couriers.", .setup = setup,
        .check = check);
/* SPDX-License-Identifier: Apache-2.0 */
