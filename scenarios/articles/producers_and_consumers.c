/*
 * producers_and_consumers.c -- a bounded channel, reservations, and any task may be cancelled.
 *
 * The channel that the articles S4 and S5 take for granted, with capacity one or two. One producer
 * sends its items; another one reserves a permit first, because its item is expensive, and makes it
 * while it holds the permit. Two consumers receive items, and one of them has a time limit: it
 * drops a receive and makes a new one. A cancelled task leaves in its cleanup: capacity or an item
 * that it was granted, or a permit, must reach the next waiter, and its side of the channel is
 * closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/channel.h"
#include "sim/rewake.h"

#define ITEMS 4

struct item {
    uint32_t producer;
    uint32_t number; /* 1, 2, … */
};

struct sender {
    struct rt_task task;
    struct rt_channel *channel;
    struct item item;
    struct rt_send send;
    bool sending;
};

struct maker {
    struct rt_task task;
    struct rt_channel *channel;
    struct item item;
    struct rt_reserve reserve;
    struct rt_sleep making;
    uint64_t effort_ns;
    enum { MAKER_IDLE, MAKER_RESERVES, MAKER_MAKES } stage;
};

struct consumer {
    struct rt_task task;
    struct rt_channel *channel;
    struct item item;
    struct rt_recv recv;
    struct rt_sleep patience;
    uint64_t patience_ns;
    uint32_t last[2]; /* Of each producer. */
    bool receiving;
};

struct state {
    struct rt_channel channel;
    struct item ring[2];
    struct sender sender;
    struct maker maker;
    struct consumer consumers[2];
};

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sender *sender = rt_container_of(task, struct sender, task);
    while (sender->sending || sender->item.number < ITEMS) {
        if (!sender->sending) {
            sender->item.number++;
            rt_send_init(&sender->send, sender->channel, &sender->item);
            sender->sending = true;
        }
        RT_AWAIT(rt_send_poll(&sender->send, cx));
        sender->sending = false;
        if (sender->send.err != RT_OK) {
            return RT_READY;
        }
    }
    return RT_READY;
}

static void
sender_cleanup(struct rt_task *task)
{
    struct sender *sender = rt_container_of(task, struct sender, task);
    if (sender->sending) {
        rt_send_drop(&sender->send);
    }
    rt_channel_drop_sender(sender->channel);
}

static rt_poll
maker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct maker *maker = rt_container_of(task, struct maker, task);
    while (maker->item.number < ITEMS) {
        if (maker->stage == MAKER_IDLE) {
            rt_reserve_init(&maker->reserve, maker->channel);
            maker->stage = MAKER_RESERVES;
        }
        if (maker->stage == MAKER_RESERVES) {
            RT_AWAIT(rt_reserve_poll(&maker->reserve, cx));
            maker->stage = MAKER_IDLE;
            if (maker->reserve.err != RT_OK) {
                return RT_READY;
            }
            rt_sleep_init(&maker->making, maker->effort_ns);
            maker->stage = MAKER_MAKES;
        }
        RT_AWAIT(rt_sleep_poll(&maker->making, cx));
        maker->item.number++;
        maker->stage = MAKER_IDLE;
        (void)rt_permit_commit(&maker->reserve.permit, &maker->item);
    }
    return RT_READY;
}

static void
maker_cleanup(struct rt_task *task)
{
    struct maker *maker = rt_container_of(task, struct maker, task);
    if (maker->stage == MAKER_RESERVES) {
        rt_reserve_drop(&maker->reserve);
    } else if (maker->stage == MAKER_MAKES) {
        rt_sleep_cancel(&maker->making);
        rt_permit_drop(&maker->reserve.permit);
    }
    rt_channel_drop_sender(maker->channel);
}

/* The limit has passed: an item that it was granted goes to the other consumer. */
static void
consumer_begin(struct consumer *consumer)
{
    rt_recv_init(&consumer->recv, consumer->channel, &consumer->item);
    rt_sleep_init(&consumer->patience, consumer->patience_ns);
    consumer->receiving = true;
}

static void
consumer_stop(struct consumer *consumer)
{
    if (consumer->receiving) {
        rt_recv_drop(&consumer->recv);
        rt_sleep_cancel(&consumer->patience);
        consumer->receiving = false;
    }
}

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct consumer *consumer = rt_container_of(task, struct consumer, task);
    for (;;) {
        if (!consumer->receiving) {
            consumer_begin(consumer);
        }
        /* The timer is checked first on purpose: an item may have been granted meanwhile. */
        if (rt_sleep_poll(&consumer->patience, cx) == RT_READY) {
            consumer_stop(consumer);
            consumer->patience_ns = RT_NEVER;
            continue;
        }
        RT_AWAIT(rt_recv_poll(&consumer->recv, cx));
        consumer_stop(consumer);
        if (consumer->recv.err == RT_E_CLOSED) {
            return RT_READY;
        }
        SIM_ALWAYS(consumer->item.number > consumer->last[consumer->item.producer]);
        consumer->last[consumer->item.producer] = consumer->item.number;
    }
}

static void
consumer_cleanup(struct rt_task *task)
{
    struct consumer *consumer = rt_container_of(task, struct consumer, task);
    consumer_stop(consumer);
    rt_channel_drop_receiver(consumer->channel);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"first consumer", "second consumer"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    struct rt_channel *channel = &state->channel;
    rt_channel_init(channel, &(struct rt_channel_config){.ring = state->ring,
                                     .item_size = sizeof(struct item),
                                     .capacity = 2 - sim_pick(world, 2)});
    state->sender = (struct sender){.channel = channel, .item = {0, 0}};
    state->maker = (struct maker){.channel = channel, .item = {1, 0}};
    state->maker.effort_ns = sim_range(world, 0, RT_MS);
    rt_task_init(&state->sender.task, sender_poll, sender_cleanup, "sender");
    rt_task_init(&state->maker.task, maker_poll, maker_cleanup, "maker");
    rt_channel_add_sender(channel);
    rt_channel_add_sender(channel);
    sim_spawn(rt, &state->sender.task);
    sim_spawn(rt, &state->maker.task);
    for (uint32_t i = 0; i < 2; i++) {
        struct consumer *consumer = &state->consumers[i];
        consumer->channel = channel;
        consumer->patience_ns = i == 0 ? RT_NEVER : sim_range(world, 0, RT_MS);
        rt_task_init(&consumer->task, consumer_poll, consumer_cleanup, names[i]);
        rt_channel_add_receiver(channel);
        sim_spawn(rt, &consumer->task);
    }
    rt_channel_drop_handle(channel);
    sim_set_state(world, state);
}

/* All tasks have ended; the storage may be reused. */
static void
check(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    SIM_ALWAYS(rt_channel_reopen(&state->channel) == RT_OK);
}

SIM_SCENARIO(seed_producers_and_consumers, .name = "articles/sync/producers-and-consumers",
        .about = "A channel of capacity one or two, reservations, and any task may be cancelled.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL);
