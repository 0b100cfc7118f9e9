/*
 * lost_wakeup.c -- a canary: check, then store. The classic, and so the first file to read.
 *
 * The consumer checks the box, finds nothing, works for a while, and only then stores its waker.
 * Within one poll no other task can run in between; but this consumer checks in one poll and stores
 * in the next. The producer's step in between finds no waker.
 *
 * Must end in: lost-wakeup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct box {
    struct rt_slot reader;
    bool full;
};

struct consumer {
    struct rt_task task;
    struct box *box;
    bool found_nothing;
};

struct producer {
    struct rt_task task;
    struct box *box;
    bool yielded;
};

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct consumer *consumer = rt_container_of(task, struct consumer, task);
    struct box *box = consumer->box;
    if (!consumer->found_nothing) {
        if (box->full) {
            return RT_READY;
        }
        consumer->found_nothing = true;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    consumer->found_nothing = false;
    rt_slot_replace(&box->reader, cx, "something in the box");
    return RT_PENDING;
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct producer *producer = rt_container_of(task, struct producer, task);
    if (!producer->yielded) {
        producer->yielded = true;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    producer->box->full = true;
    rt_slot_wake(&producer->box->reader);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    struct consumer *consumer = sim_new(world, struct consumer);
    struct producer *producer = sim_new(world, struct producer);
    rt_slot_init(&box->reader);
    consumer->box = box;
    producer->box = box;
    rt_task_init(&consumer->task, consumer_poll, NULL, "consumer");
    rt_task_init(&producer->task, producer_poll, NULL, "producer");
    sim_spawn(rt, &consumer->task);
    sim_spawn(rt, &producer->task);
}

SIM_SCENARIO(canary_lost_wakeup, .name = "canary/lost-wakeup",
        .about = "The waker is stored one poll after the check: a wake in between is lost.",
        .setup = setup, .expect = SIM_VERDICT_LOST_WAKEUP);
