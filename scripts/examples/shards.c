/*
 * shards.c -- a bell between two shards: items are put in shared memory, a message says so.
 *
 * The producer has one message, and rings with it unless it is under way: it will be seen then. The
 * bug: it is also under way between its arrival, when the consumer was woken, and its return. What
 * is put there meanwhile is announced by none. The fix: on its return, ring once more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>

#include <sim/rewake.h>

enum { PRODUCER, CONSUMER };

#define ITEMS 3u

struct store {
    struct sim_world *world;
    struct rt_shards *shards;
    struct rt_shard *home; /* The producer's. */
    atomic_uint put;
    struct rt_message bell;
    bool missed; /* The bell was to ring while it was under way. */
    bool broken;

    struct rt_task producer;
    struct rt_sleep pause;
    uint32_t produced;
    uint32_t at;

    struct rt_task consumer;
    struct rt_slot item; /* The consumer's waker. */
    uint32_t taken;
};

/* On the producer's shard. */
static void
ring(struct store *store)
{
    store->missed = !rt_message_is_idle(&store->bell);
    if (!store->missed) {
        rt_err err = rt_message_send(&store->bell, store->home, CONSUMER);
        SIM_ALWAYS(err == RT_OK || err == RT_E_CLOSED);
    }
}

/* On the consumer's shard. */
static void
bell_arrive(struct rt_message *bell, struct rt_shard *shard)
{
    struct store *store = rt_container_of(bell, struct store, bell);
    rt_slot_wake(&store->item);
    rt_message_answer(bell, shard, RT_OK);
}

/* On the producer's shard again. */
static void
bell_answered(struct rt_message *bell, struct rt_shard *shard)
{
    struct store *store = rt_container_of(bell, struct store, bell);
    (void)shard;
    if (store->missed && !store->broken) {
        ring(store);
    }
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct store *store = rt_container_of(task, struct store, producer);
    RT_BEGIN(store->at);
    for (store->produced = 0; store->produced < ITEMS; store->produced++) {
        rt_sleep_init(&store->pause, sim_range(store->world, 0, RT_US));
        RT_AWAIT_HERE(store->at, rt_sleep_poll(&store->pause, cx));
        atomic_fetch_add(&store->put, 1);
        ring(store);
    }
    RT_END(store->at);
}

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct store *store = rt_container_of(task, struct store, consumer);
    while (store->taken < atomic_load(&store->put)) {
        store->taken++;
        SIM_PROGRESS(); /* Taken from plain memory, which the judge does not see. */
    }
    if (store->taken < ITEMS) {
        rt_slot_replace(&store->item, cx, "an item");
        return RT_PENDING;
    }
    rt_shards_close(store->shards); /* The run ends when all loops have returned. */
    return RT_READY;
}

static void
set_up(struct sim_world *world, bool broken)
{
    struct sim_shard_group *group = sim_shard_group_new(world, NULL);
    struct store *store = sim_new(world, struct store);
    store->world = world;
    store->broken = broken;
    store->shards = sim_shard_group_shards(group);
    store->home = sim_shard_group_shard(group, PRODUCER);
    rt_slot_init(&store->item);
    rt_message_init(&store->bell, bell_arrive, bell_answered);
    rt_task_init(&store->producer, producer_poll, NULL, "producer");
    rt_task_init(&store->consumer, consumer_poll, NULL, "consumer");
    sim_spawn(sim_shard_group_rt(group, PRODUCER), &store->producer);
    sim_spawn(sim_shard_group_rt(group, CONSUMER), &store->consumer);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, true);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(broken, .name = "shards/broken", .about = "A bell that is under way rings no more.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "shards/fixed", .about = "On its return the bell rings once more.",
        .setup = set_up_fixed);
