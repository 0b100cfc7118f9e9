/*
 * actor.c -- an actor that races its mailbox, a timer and a shutdown.
 *
 * Each round is a race of a receive, a sleep and a wait for the shutdown. The losers are dropped by
 * the race: a receive that is dropped has consumed nothing, and a notify that was meant for a
 * dropped wait is stored. The actor ends at the shutdown, or at the end of the mailbox, which would
 * win every race from then on. It gives its side of the mailbox back, so a sender that waits for
 * space learns that it is closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define MESSAGES 5u

struct actor {
    struct rt_task task;
    struct rt_channel mailbox;
    uint32_t ring[2];
    struct rt_notify shutdown;
    struct rt_recv recv;
    struct rt_sleep_future tick;
    struct rt_notified stopped;
    struct rt_child children[3];
    struct rt_race race;
    uint32_t message;
    uint32_t last;
    uint32_t at;
};

struct sender {
    struct rt_task task;
    struct actor *actor;
    struct rt_send send;
    uint32_t message;
    uint32_t at;
};

struct stopper {
    struct rt_task task;
    struct actor *actor;
    struct rt_sleep sleep;
    uint32_t at;
};

static void
actor_begin_round(struct actor *actor)
{
    rt_recv_init(&actor->recv, &actor->mailbox, &actor->message);
    rt_sleep_future_init(&actor->tick, RT_MS);
    rt_notified_init(&actor->stopped, &actor->shutdown);
    actor->children[0].future = &actor->recv.future;
    actor->children[1].future = &actor->tick.future;
    actor->children[2].future = &actor->stopped.future;
    SIM_ALWAYS(rt_race_init(&actor->race, actor->children, 3) == RT_OK);
}

static rt_poll
actor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct actor *actor = rt_container_of(task, struct actor, task);
    RT_BEGIN(actor->at);
    do {
        actor_begin_round(actor);
        RT_AWAIT_HERE(actor->at, rt_race_poll(&actor->race, cx));
        if (actor->race.winner == 0) {
            if (actor->recv.err != RT_OK) {
                break;
            }
            SIM_ALWAYS(actor->message == actor->last + 1);
            actor->last = actor->message;
        }
    } while (actor->race.winner != 2);
    rt_channel_drop_receiver(&actor->mailbox);
    RT_END(actor->at);
}

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sender *sender = rt_container_of(task, struct sender, task);
    RT_BEGIN(sender->at);
    for (sender->message = 1; sender->message <= MESSAGES; sender->message++) {
        rt_send_init(&sender->send, &sender->actor->mailbox, &sender->message);
        RT_AWAIT_HERE(sender->at, rt_send_poll(&sender->send, cx));
        if (sender->send.err != RT_OK) {
            break;
        }
    }
    rt_channel_drop_sender(&sender->actor->mailbox);
    RT_END(sender->at);
}

static rt_poll
stopper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct stopper *stopper = rt_container_of(task, struct stopper, task);
    RT_BEGIN(stopper->at);
    RT_AWAIT_HERE(stopper->at, rt_sleep_poll(&stopper->sleep, cx));
    rt_notify_one(&stopper->actor->shutdown);
    RT_END(stopper->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct actor *actor = sim_new(world, struct actor);
    struct sender *sender = sim_new(world, struct sender);
    struct stopper *stopper = sim_new(world, struct stopper);
    rt_channel_init(&actor->mailbox,
            &(struct rt_channel_config){
                    .ring = actor->ring, .item_size = sizeof(uint32_t), .capacity = 2});
    rt_channel_add_sender(&actor->mailbox);
    rt_channel_add_receiver(&actor->mailbox);
    rt_channel_drop_handle(&actor->mailbox);
    rt_notify_init(&actor->shutdown);
    sender->actor = stopper->actor = actor;
    rt_sleep_init(&stopper->sleep, sim_range(world, 0, 5 * RT_MS));
    rt_task_init(&actor->task, actor_poll, NULL, "actor");
    rt_task_init(&sender->task, sender_poll, NULL, "sender");
    rt_task_init(&stopper->task, stopper_poll, NULL, "stopper");
    sim_spawn(rt, &actor->task);
    sim_spawn(rt, &sender->task);
    sim_spawn(rt, &stopper->task);
}

SIM_SCENARIO(correct_actor, .name = "correct/actor",
        .about = "An actor races its mailbox, a timer and a shutdown.", .setup = setup);
