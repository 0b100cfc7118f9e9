/*
 * two_slots.c -- a bounded channel by hand: one slot for the sender, one for the receiver.
 *
 * Each side checks the ring first and stores its waker in the same poll, with nothing in between
 * that could give way. A send fires the slot of the receiver and a receive that of the sender, each
 * time, as an empty slot costs nothing. The end is a flag and a wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ITEMS 8u
#define CAPACITY 2u

struct pipe {
    uint32_t ring[CAPACITY];
    uint32_t sent;
    uint32_t received;
    bool closed;
    struct rt_slot not_full;
    struct rt_slot not_empty;
};

struct side {
    struct rt_task task;
    struct sim_world *world;
    struct pipe *pipe;
    struct rt_sleep sleep;
    uint32_t at;
};

static rt_poll
pipe_send(struct pipe *pipe, struct rt_cx *cx)
{
    if (pipe->sent - pipe->received == CAPACITY) {
        SIM_ALWAYS(rt_slot_store(&pipe->not_full, cx, "space in the pipe") == RT_OK);
        return RT_PENDING;
    }
    pipe->ring[pipe->sent % CAPACITY] = pipe->sent;
    pipe->sent++;
    rt_slot_wake(&pipe->not_empty);
    return RT_READY;
}

/* READY: an item was taken, or all have been. */
static rt_poll
pipe_receive(struct pipe *pipe, bool *ret_end, struct rt_cx *cx)
{
    *ret_end = false;
    if (pipe->sent == pipe->received) {
        if (pipe->closed) {
            *ret_end = true;
            return RT_READY;
        }
        SIM_ALWAYS(rt_slot_store(&pipe->not_empty, cx, "an item in the pipe") == RT_OK);
        return RT_PENDING;
    }
    SIM_ALWAYS(pipe->ring[pipe->received % CAPACITY] == pipe->received);
    pipe->received++;
    rt_slot_wake(&pipe->not_full);
    return RT_READY;
}

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct side *side = rt_container_of(task, struct side, task);
    RT_BEGIN(side->at);
    while (side->pipe->sent < ITEMS) {
        RT_AWAIT_HERE(side->at, pipe_send(side->pipe, cx));
    }
    side->pipe->closed = true;
    rt_slot_wake(&side->pipe->not_empty);
    RT_END(side->at);
}

static rt_poll
receiver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct side *side = rt_container_of(task, struct side, task);
    bool end;
    RT_BEGIN(side->at);
    for (;;) {
        RT_AWAIT_HERE(side->at, pipe_receive(side->pipe, &end, cx));
        if (end) {
            break;
        }
        rt_sleep_init(&side->sleep, sim_range(side->world, 0, RT_MS));
        RT_AWAIT_HERE(side->at, rt_sleep_poll(&side->sleep, cx));
    }
    SIM_ALWAYS(side->pipe->received == ITEMS);
    RT_END(side->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pipe *pipe = sim_new(world, struct pipe);
    struct side *sender = sim_new(world, struct side);
    struct side *receiver = sim_new(world, struct side);
    rt_slot_init(&pipe->not_full);
    rt_slot_init(&pipe->not_empty);
    sender->world = receiver->world = world;
    sender->pipe = receiver->pipe = pipe;
    rt_task_init(&sender->task, sender_poll, NULL, "sender");
    rt_task_init(&receiver->task, receiver_poll, NULL, "receiver");
    sim_spawn(rt, &sender->task);
    sim_spawn(rt, &receiver->task);
}

SIM_SCENARIO(correct_two_slots, .name = "correct/two-slots",
        .about = "A bounded channel by hand, a slot for each side.", .setup = setup);
