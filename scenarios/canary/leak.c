/*
 * leak.c -- a canary: a waker is cloned at each poll, and the previous clone is forgotten.
 *
 * The subscriber keeps a clone for the publisher, and takes a new one at each poll. A clone has to
 * be woken or dropped, once (W1). If it is polled once, all is well; if it is polled again before
 * the message, it overwrites the old clone, which nothing refers to any more.
 *
 * Must end in: leak.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define STEPS 3

struct topic {
    struct rt_waker subscriber;
    uint32_t published;
};

struct subscriber {
    struct rt_task task;
    struct topic *topic;
};

struct publisher {
    struct rt_task task;
    struct topic *topic;
};

static rt_poll
subscriber_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct subscriber *subscriber = rt_container_of(task, struct subscriber, task);
    struct topic *topic = subscriber->topic;
    if (topic->published == STEPS) {
        return RT_READY;
    }
    topic->subscriber = rt_waker_clone(rt_cx_waker(cx));
    return RT_PENDING;
}

/* Wakes at each step, but leaves the clone in place until the last one. */
static rt_poll
publisher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct publisher *publisher = rt_container_of(task, struct publisher, task);
    struct topic *topic = publisher->topic;
    if (++topic->published == STEPS) {
        rt_waker_wake(&topic->subscriber);
        return RT_READY;
    }
    rt_waker_wake_by_ref(&topic->subscriber);
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct topic *topic = sim_new(world, struct topic);
    struct subscriber *subscriber = sim_new(world, struct subscriber);
    struct publisher *publisher = sim_new(world, struct publisher);
    subscriber->topic = topic;
    publisher->topic = topic;
    rt_task_init(&subscriber->task, subscriber_poll, NULL, "subscriber");
    rt_task_init(&publisher->task, publisher_poll, NULL, "publisher");
    sim_spawn(rt, &subscriber->task);
    sim_spawn(rt, &publisher->task);
}

SIM_SCENARIO(canary_leak, .name = "canary/leak",
        .about = "A clone of a waker is written over with the next one.", .setup = setup,
        .expect = SIM_VERDICT_LEAK);
