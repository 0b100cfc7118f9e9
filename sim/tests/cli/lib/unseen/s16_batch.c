/* Cause: batch_answered(), line 74: `dirty` is cleared when the answer comes, not when the counts are copied for sending; a count that was added while the batch was under way had set it, and is then not sent until the next one, which for the last is never; repair: `dirty` is cleared in flush(), where the copy is made. */
/*
 * s16_batch.c -- shard 0 counts events, and sends the sums to shard 1 in batches.
 *
 * One batch is under way at a time. The ledger closes when it has counted all.
 */
#include <sim/rewake.h>

enum { COUNTER, LEDGER, SHARDS };

#define EVENTS 6u

struct counter {
    struct rt_task task;
    struct sim_world *world;
    struct rt_shards *shards;
    struct rt_shard *home;
    struct rt_message batch;
    unsigned carried; /* What the batch carries. */
    bool under_way;
    bool dirty;       /* There are counts that were not sent. */
    unsigned counted;
    unsigned sent;
    unsigned ledger; /* The other shard's. */
    struct rt_sleep pause;
    unsigned events;
    uint32_t at;
    bool fixed;
};

static void
flush(struct counter *counter)
{
    if (counter->under_way || !counter->dirty) {
        return;
    }
    if (counter->fixed) {
        counter->dirty = false;
    }
    counter->carried = counter->counted - counter->sent;
    counter->sent = counter->counted;
    counter->under_way = true;
    rt_err err = rt_message_send(&counter->batch, counter->home, LEDGER);
    SIM_ALWAYS(err == RT_OK);
}

static void
add(struct counter *counter, unsigned count)
{
    counter->counted += count;
    counter->dirty = true;
    flush(counter);
}

/* On the ledger's shard. */
static void
batch_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct counter *counter = rt_container_of(message, struct counter, batch);
    counter->ledger += counter->carried;
    rt_message_answer(message, shard, RT_OK);
    if (counter->ledger == EVENTS) {
        rt_shards_close(counter->shards);
    }
}

static void
batch_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct counter *counter = rt_container_of(message, struct counter, batch);
    (void)shard;
    counter->under_way = false;
    if (!counter->fixed) {
        counter->dirty = false;
    }
    flush(counter);
}

static rt_poll
counter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct counter *counter = rt_container_of(task, struct counter, task);
    RT_BEGIN(counter->at);
    for (counter->events = 0; counter->events < EVENTS; counter->events++) {
        rt_sleep_init(&counter->pause, sim_range(counter->world, 2 * RT_US, 100 * RT_US));
        RT_AWAIT_HERE(counter->at, rt_sleep_poll(&counter->pause, cx));
        add(counter, 1);
    }
    RT_END(counter->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_shard_group_options options = {.count = SHARDS};
    struct sim_shard_group *group = sim_shard_group_new(world, &options);
    struct counter *counter = sim_new(world, struct counter);
    counter->world = world;
    counter->fixed = fixed;
    counter->shards = sim_shard_group_shards(group);
    counter->home = sim_shard_group_shard(group, COUNTER);
    rt_message_init(&counter->batch, batch_arrive, batch_answered);
    rt_task_init(&counter->task, counter_poll, NULL, "counter");
    sim_spawn(sim_shard_group_rt(group, COUNTER), &counter->task);
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

SIM_SCENARIO(broken, .name = "s16/batch/broken", .about = "Counts are sent in batches.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s16/batch/fixed", .about = "Counts are sent in batches.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
