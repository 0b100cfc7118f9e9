/* Cause: open_topic(), line 83: the announcement to the front is sent without waiting for the store's answer to the creation; what goes over two different pairs of shards has no order, so the front's record can reach the store before the topic exists; repair: the announcement is sent only when the creation was answered. */
/*
 * s16_topic.c -- a message broker on three shards: a registrar, a store, a front.
 *
 * The registrar opens topics: the store creates them, the front is told and appends a record.
 */
#include <sim/rewake.h>

enum { REGISTRAR, STORE, FRONT, SHARDS };

#define TOPICS 2u

struct topic {
    struct broker *broker;
    struct rt_submit create;   /* registrar -> store */
    struct rt_submit announce; /* registrar -> front */
    struct rt_message append;  /* front -> store */
    bool exists;               /* The store's. */
    unsigned records;          /* The store's. */
};

struct broker {
    struct rt_task registrar;
    struct sim_world *world;
    struct rt_shards *shards;
    struct rt_shard *home;
    struct topic topics[TOPICS];
    struct rt_sleep pause;
    uint32_t at;
    unsigned next;
    unsigned appended; /* The front's. */
    bool fixed;
};

static void
create_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct topic *topic = rt_container_of(message, struct topic, create.message);
    topic->exists = true;
    rt_message_answer(message, shard, RT_OK);
}

static void
append_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct topic *topic = rt_container_of(message, struct topic, append);
    SIM_ALWAYS(topic->exists);
    topic->records++;
    rt_message_answer(message, shard, RT_OK);
}

static void
append_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct topic *topic = rt_container_of(message, struct topic, append);
    (void)shard;
    if (++topic->broker->appended == TOPICS) {
        rt_shards_close(topic->broker->shards);
    }
}

/* A producer waits at the front for this topic: its first record goes to the store. */
static void
announce_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct topic *topic = rt_container_of(message, struct topic, announce.message);
    rt_message_answer(message, shard, RT_OK);
    rt_err err = rt_message_send(&topic->append, shard, STORE);
    SIM_ALWAYS(err == RT_OK);
}

/* READY when both shards have answered. */
static rt_poll
open_topic(struct broker *broker, struct topic *topic, struct rt_cx *cx)
{
    if (!topic->create.future.finished) {
        rt_poll created = rt_future_poll(&topic->create.future, cx);
        if (created != RT_READY && broker->fixed) {
            return created;
        }
    }
    if (topic->announce.future.magic == 0) {
        rt_submit_to(&topic->announce, broker->home, FRONT, announce_arrive);
    }
    if (!topic->announce.future.finished) {
        RT_AWAIT(rt_future_poll(&topic->announce.future, cx));
    }
    return topic->create.future.finished ? RT_READY : RT_PENDING;
}

static rt_poll
registrar_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct broker *broker = rt_container_of(task, struct broker, registrar);
    RT_BEGIN(broker->at);
    for (broker->next = 0; broker->next < TOPICS; broker->next++) {
        rt_sleep_init(&broker->pause, sim_range(broker->world, 10 * RT_US, 50 * RT_US));
        RT_AWAIT_HERE(broker->at, rt_sleep_poll(&broker->pause, cx));
        rt_submit_to(&broker->topics[broker->next].create, broker->home, STORE, create_arrive);
        RT_AWAIT_HERE(broker->at, open_topic(broker, &broker->topics[broker->next], cx));
    }
    RT_END(broker->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_shard_group_options options = {.count = SHARDS};
    struct sim_shard_group *group = sim_shard_group_new(world, &options);
    struct broker *broker = sim_new(world, struct broker);
    broker->world = world;
    broker->fixed = fixed;
    broker->shards = sim_shard_group_shards(group);
    broker->home = sim_shard_group_shard(group, REGISTRAR);
    for (unsigned i = 0; i < TOPICS; i++) {
        broker->topics[i].broker = broker;
        rt_message_init(&broker->topics[i].append, append_arrive, append_answered);
    }
    rt_task_init(&broker->registrar, registrar_poll, NULL, "registrar");
    sim_spawn(sim_shard_group_rt(group, REGISTRAR), &broker->registrar);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/topic/broken", .about = "Topics are created and announced.",
        .setup = set_up_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s16/topic/fixed", .about = "Topics are created and announced.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
