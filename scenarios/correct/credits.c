/*
 * credits.c -- a stream with back-pressure: the consumer grants credits, the source spends them.
 *
 * The source is a stream that wraps a producer task. The producer makes an item for each credit and
 * waits in its slot when it has none; the consumer grants two credits at a time, when it has used
 * the last two up. The consumer waits in the stream's slot, which each item and the end fire. A
 * stream that is polled for nothing stores its waker again and takes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ITEMS 7u
#define GRANT 2u

struct source {
    struct rt_stream stream;
    struct rt_slot for_items;
    struct rt_slot for_credits;
    uint32_t items[GRANT];
    uint32_t made;
    uint32_t taken;
    uint32_t credits;
    bool ended;
};

struct producer {
    struct rt_task task;
    struct sim_world *world;
    struct source *source;
    struct rt_sleep sleep;
    uint32_t at;
};

struct consumer {
    struct rt_task task;
    struct source *source;
    uint32_t consumed;
};

static rt_poll
source_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct source *source = rt_container_of(stream, struct source, stream);
    if (source->taken == source->made && !source->ended) {
        rt_slot_replace(&source->for_items, cx, "an item of the stream");
        return RT_PENDING;
    }
    *ret_item = NULL;
    if (source->taken < source->made) {
        *ret_item = &source->items[source->taken++ % GRANT];
    }
    return RT_READY;
}

static void
source_grant(struct source *source)
{
    source->credits += GRANT;
    rt_slot_wake(&source->for_credits);
}

static rt_poll
source_credit(struct source *source, struct rt_cx *cx)
{
    if (source->credits == 0) {
        rt_slot_replace(&source->for_credits, cx, "a credit");
        return RT_PENDING;
    }
    source->credits--;
    return RT_READY;
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct producer *producer = rt_container_of(task, struct producer, task);
    struct source *source = producer->source;
    RT_BEGIN(producer->at);
    while (source->made < ITEMS) {
        RT_AWAIT_HERE(producer->at, source_credit(source, cx));
        rt_sleep_init(&producer->sleep, sim_range(producer->world, 0, RT_MS));
        RT_AWAIT_HERE(producer->at, rt_sleep_poll(&producer->sleep, cx));
        source->items[source->made % GRANT] = source->made;
        source->made++;
        rt_slot_wake(&source->for_items);
    }
    source->ended = true;
    rt_slot_wake(&source->for_items);
    RT_END(producer->at);
}

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct consumer *consumer = rt_container_of(task, struct consumer, task);
    void *item;
    for (;;) {
        RT_AWAIT(rt_stream_poll(&consumer->source->stream, cx, &item));
        if (item == NULL) {
            SIM_ALWAYS(consumer->consumed == ITEMS);
            return RT_READY;
        }
        SIM_ALWAYS(*(uint32_t *)item == consumer->consumed);
        if (++consumer->consumed % GRANT == 0) {
            source_grant(consumer->source);
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct source *source = sim_new(world, struct source);
    struct producer *producer = sim_new(world, struct producer);
    struct consumer *consumer = sim_new(world, struct consumer);
    rt_stream_init(&source->stream, source_poll, NULL, "items");
    rt_slot_init(&source->for_items);
    rt_slot_init(&source->for_credits);
    source->credits = GRANT;
    producer->world = world;
    producer->source = consumer->source = source;
    rt_task_init(&consumer->task, consumer_poll, NULL, "consumer");
    rt_task_init(&producer->task, producer_poll, NULL, "producer");
    sim_spawn(rt, &consumer->task);
    sim_spawn(rt, &producer->task);
}

SIM_SCENARIO(correct_credits, .name = "correct/credits",
        .about = "A stream with credits for back-pressure.", .setup = setup);
