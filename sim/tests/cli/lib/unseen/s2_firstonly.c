// Cause: s2_firstonly.c:35 the queue wakes a worker only when it was empty before: a second item that comes before the worker woken for the first one has run wakes no task, and the other worker sleeps beside it forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define ITEMS 3

struct queue {
    uint32_t items;
    bool fixed;
    struct rt_wait_queue idle;
    struct rt_wait_queue_entry entries[ITEMS];
};

/* Handles one item, and ends. */
struct worker {
    struct rt_task task;
    struct queue *queue;
    struct rt_sleep sleep;
    uint32_t at;
};

struct producer {
    struct rt_task task;
    struct queue *queue;
    struct rt_sleep sleep;
    struct sim_world *world;
    uint32_t sent;
    uint32_t at;
};

static void put(struct queue *queue)
{
    queue->items++;
    if (queue->fixed || queue->items == 1)
        rt_wait_queue_wake(&queue->idle, 1);
}

static rt_poll take(struct queue *queue, struct rt_cx *cx)
{
    if (queue->items > 0) {
        queue->items--;
        rt_wait_queue_leave(&queue->idle, cx);
        SIM_PROGRESS();
        return RT_READY;
    }
    SIM_ALWAYS(rt_wait_queue_store(&queue->idle, cx, "an item") == RT_OK);
    return RT_PENDING;
}

static rt_poll worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    RT_BEGIN(worker->at);
    RT_AWAIT_HERE(worker->at, take(worker->queue, cx));
    rt_sleep_init(&worker->sleep, 500 * RT_US); /* handles it */
    RT_AWAIT_HERE(worker->at, rt_sleep_poll(&worker->sleep, cx));
    RT_END(worker->at);
}

static rt_poll producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct producer *producer = rt_container_of(task, struct producer, task);
    RT_BEGIN(producer->at);
    for (producer->sent = 0; producer->sent < ITEMS; producer->sent++) {
        rt_sleep_init(&producer->sleep, sim_pick(producer->world, 3) == 0 ? 300 * RT_US : 0);
        RT_AWAIT_HERE(producer->at, rt_sleep_poll(&producer->sleep, cx));
        put(producer->queue);
    }
    RT_END(producer->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[ITEMS] = {"worker A", "worker B", "worker C"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct queue *queue = sim_new(world, struct queue);
    struct producer *producer = sim_new(world, struct producer);
    queue->fixed = fixed;
    rt_wait_queue_init(&queue->idle, queue->entries, ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++) {
        struct worker *worker = sim_new(world, struct worker);
        worker->queue = queue;
        rt_task_init(&worker->task, worker_poll, NULL, names[i]);
        sim_spawn(rt, &worker->task);
    }
    producer->queue = queue;
    producer->world = world;
    rt_task_init(&producer->task, producer_poll, NULL, "producer");
    sim_spawn(rt, &producer->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/firstonly/broken", .about = "A queue that wakes only for its first item.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/firstonly/fixed", .about = "A queue that wakes a worker for each item.",
        .setup = setup_fixed);
