/*
 * condition.c -- a condition variable for tasks, and a stock that it guards.
 *
 * Waiters stand in a list; a signal takes the first out and wakes it. A wake is a hint: another
 * consumer may have taken the item by then, so a consumer that is woken checks again and waits
 * again. One that finds an item without a signal (it was polled for nothing) takes its own waiter
 * out of the list, so that no signal goes to one that does not need it. At the end all are woken,
 * for nothing follows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CONSUMERS 3u
#define ITEMS 6u

struct condition {
    struct rt_list waiting;
};

struct condition_waiter {
    struct rt_list link; /* In no list: not waiting, or signalled. */
    struct rt_slot slot;
};

struct stock {
    struct condition changed;
    uint32_t items;
    uint32_t taken;
    bool closed;
};

struct consumer {
    struct rt_task task;
    struct stock *stock;
    struct condition_waiter waiter;
};

struct producer {
    struct rt_task task;
    struct stock *stock;
    struct sim_world *world;
    struct rt_sleep sleep;
    uint32_t made;
    uint32_t at;
};

static bool
condition_signal(struct condition *condition)
{
    struct rt_list *link = rt_list_pop_front(&condition->waiting);
    if (link != NULL) {
        rt_slot_wake(&rt_container_of(link, struct condition_waiter, link)->slot);
    }
    return link != NULL;
}

static void
condition_wait(struct condition *condition, struct condition_waiter *waiter, struct rt_cx *cx)
{
    if (rt_list_empty(&waiter->link)) {
        rt_list_push_back(&condition->waiting, &waiter->link);
    }
    rt_slot_replace(&waiter->slot, cx, "an item in the stock");
}

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct consumer *consumer = rt_container_of(task, struct consumer, task);
    struct stock *stock = consumer->stock;
    while (stock->items > 0) {
        stock->items--;
        stock->taken++;
        SIM_PROGRESS();
    }
    if (!stock->closed) {
        condition_wait(&stock->changed, &consumer->waiter, cx);
        return RT_PENDING;
    }
    rt_list_unlink(&consumer->waiter.link);
    return RT_READY;
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct producer *producer = rt_container_of(task, struct producer, task);
    struct stock *stock = producer->stock;
    RT_BEGIN(producer->at);
    for (producer->made = 0; producer->made < ITEMS; producer->made++) {
        rt_sleep_init(&producer->sleep, sim_range(producer->world, 0, 2 * RT_MS));
        RT_AWAIT_HERE(producer->at, rt_sleep_poll(&producer->sleep, cx));
        stock->items++;
        (void)condition_signal(&stock->changed);
    }
    stock->closed = true;
    while (condition_signal(&stock->changed)) {
    }
    RT_END(producer->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CONSUMERS] = {"consumer 1", "consumer 2", "consumer 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct stock *stock = sim_new(world, struct stock);
    rt_list_init(&stock->changed.waiting);
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        struct consumer *consumer = sim_new(world, struct consumer);
        consumer->stock = stock;
        rt_list_init(&consumer->waiter.link);
        rt_slot_init(&consumer->waiter.slot);
        rt_task_init(&consumer->task, consumer_poll, NULL, names[i]);
        sim_spawn(rt, &consumer->task);
    }
    struct producer *producer = sim_new(world, struct producer);
    producer->stock = stock;
    producer->world = world;
    rt_task_init(&producer->task, producer_poll, NULL, "producer");
    sim_spawn(rt, &producer->task);
}

SIM_SCENARIO(correct_condition, .name = "correct/condition",
        .about = "A condition variable with re-check; three consumers of one stock.",
        .setup = setup);
