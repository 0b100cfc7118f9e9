/*
 * by_hand_join.c -- a task that polls its two children itself.
 *
 * The parent passes its own context on, so each child stores the parent's waker, and any wake polls
 * both. A child that is done is not polled again; the parent keeps a mark for each. It is ready
 * when both marks are set, and it polls the second child also where the first is pending, so that
 * both always have a waker stored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct message {
    struct rt_slot reader;
    bool there;
};

struct parent {
    struct rt_task task;
    struct message *message;
    struct rt_sleep sleep;
    bool slept;
    bool read;
};

struct writer {
    struct rt_task task;
    struct message *message;
    struct rt_sleep sleep;
    uint32_t at;
};

static rt_poll
message_read(struct message *message, struct rt_cx *cx)
{
    if (message->there) {
        return RT_READY;
    }
    rt_slot_replace(&message->reader, cx, "the message");
    return RT_PENDING;
}

static rt_poll
parent_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct parent *parent = rt_container_of(task, struct parent, task);
    if (!parent->slept) {
        parent->slept = rt_sleep_poll(&parent->sleep, cx) == RT_READY;
    }
    if (!parent->read) {
        parent->read = message_read(parent->message, cx) == RT_READY;
    }
    return parent->slept && parent->read ? RT_READY : RT_PENDING;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    RT_BEGIN(writer->at);
    RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->sleep, cx));
    writer->message->there = true;
    rt_slot_wake(&writer->message->reader);
    RT_END(writer->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct message *message = sim_new(world, struct message);
    struct parent *parent = sim_new(world, struct parent);
    struct writer *writer = sim_new(world, struct writer);
    rt_slot_init(&message->reader);
    parent->message = writer->message = message;
    rt_sleep_init(&parent->sleep, sim_range(world, RT_MS, 3 * RT_MS));
    rt_sleep_init(&writer->sleep, sim_range(world, RT_MS, 3 * RT_MS));
    rt_task_init(&parent->task, parent_poll, NULL, "parent");
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &parent->task);
    sim_spawn(rt, &writer->task);
}

SIM_SCENARIO(correct_by_hand_join, .name = "correct/by-hand-join",
        .about = "A parent polls its two children by hand.", .setup = setup);
