// Cause: s3_returned.c:83 a connection that arrives for a request whose task has given up is dropped with the answer and not returned to the pool, so whoever queues there next never gets one.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>
#include <sim/bind/shard.h>

#define PARKED_MAX 4

/* On shard 1: connections that are free, or else who waits for one. */
struct pool {
    struct sim_shard_group *group;
    uint32_t free;
    struct rt_message *parked[PARKED_MAX];
    uint32_t parked_count;
    uint32_t running; /* Tasks on shard 0. */
    bool fixed;
};

struct message {
    struct rt_message message;
    struct pool *pool;
};

/* On shard 0: wants a connection, uses it, and gives it back. */
struct borrower {
    struct rt_task task;
    struct pool *pool;
    struct message get;
    struct message put;
    struct rt_slot slot;
    struct rt_sleep sleep;
    uint64_t comes_ns;
    uint64_t patience_ns;
    uint64_t works_ns;
    bool answered;
    bool gave_up;
    uint32_t at;
};

static void
put_arrives(struct rt_message *message, struct rt_shard *shard)
{
    struct pool *pool = rt_container_of(message, struct message, message)->pool;
    if (pool->parked_count > 0) {
        struct rt_message *first = pool->parked[0];
        pool->parked_count--;
        for (uint32_t i = 0; i < pool->parked_count; i++) {
            pool->parked[i] = pool->parked[i + 1];
        }
        rt_message_answer(first, shard, RT_OK);
    } else {
        pool->free++;
    }
    rt_message_answer(message, shard, RT_OK);
}

static void
get_arrives(struct rt_message *message, struct rt_shard *shard)
{
    struct pool *pool = rt_container_of(message, struct message, message)->pool;
    if (pool->free > 0) {
        pool->free--;
        rt_message_answer(message, shard, RT_OK);
    } else {
        pool->parked[pool->parked_count++] = message;
    }
}

static void
give_back(struct borrower *borrower)
{
    struct rt_shard *origin = sim_shard_group_shard(borrower->pool->group, 0);
    rt_err err = rt_message_send(&borrower->put.message, origin, 1);
    SIM_ALWAYS(err == RT_OK || err == RT_E_CLOSED);
}

static void
get_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct borrower *borrower = rt_container_of(message, struct borrower, get.message);
    (void)shard;
    borrower->answered = true;
    if (borrower->gave_up && borrower->pool->fixed) {
        give_back(borrower);
    }
    rt_slot_wake(&borrower->slot);
}

/* READY: it has a connection, or has given up. */
static rt_poll
borrower_wait(struct borrower *borrower, struct rt_cx *cx)
{
    if (borrower->answered) {
        rt_sleep_cancel(&borrower->sleep);
        return RT_READY;
    }
    if (borrower->patience_ns != RT_NEVER && rt_sleep_poll(&borrower->sleep, cx) == RT_READY) {
        borrower->gave_up = true;
        return RT_READY;
    }
    rt_slot_replace(&borrower->slot, cx, "a connection");
    return RT_PENDING;
}

static rt_poll
borrower_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct borrower *borrower = rt_container_of(task, struct borrower, task);
    struct pool *pool = borrower->pool;
    RT_BEGIN(borrower->at);
    rt_sleep_init(&borrower->sleep, borrower->comes_ns);
    RT_AWAIT_HERE(borrower->at, rt_sleep_poll(&borrower->sleep, cx));
    SIM_ALWAYS(rt_message_send(&borrower->get.message, sim_shard_group_shard(pool->group, 0), 1) ==
            RT_OK);
    rt_sleep_init(&borrower->sleep, borrower->patience_ns);
    RT_AWAIT_HERE(borrower->at, borrower_wait(borrower, cx));
    if (!borrower->gave_up) {
        rt_sleep_init(&borrower->sleep, borrower->works_ns);
        RT_AWAIT_HERE(borrower->at, rt_sleep_poll(&borrower->sleep, cx));
        give_back(borrower);
    }
    if (--pool->running == 0) {
        rt_shards_close(sim_shard_group_shards(pool->group));
    }
    RT_END(borrower->at);
}

static void
message_init(struct message *message, struct pool *pool, rt_message_fn arrive, rt_message_fn back)
{
    message->pool = pool;
    rt_message_init(&message->message, arrive, back);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[3] = {"report", "visitor", "checkout"};
    struct pool *pool = sim_new(world, struct pool);
    pool->group = sim_shard_group_new(world, NULL);
    pool->fixed = fixed;
    pool->free = 1;
    pool->running = 3;
    for (uint32_t i = 0; i < 3; i++) {
        struct borrower *borrower = sim_new(world, struct borrower);
        borrower->pool = pool;
        borrower->comes_ns = i * RT_MS / 2;
        borrower->patience_ns = i == 1 ? 3 * RT_MS : RT_NEVER;
        borrower->works_ns = sim_range(world, RT_MS, 6 * RT_MS);
        message_init(&borrower->get, pool, get_arrives, get_answered);
        message_init(&borrower->put, pool, put_arrives, NULL);
        rt_slot_init(&borrower->slot);
        rt_task_init(&borrower->task, borrower_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(pool->group, 0), &borrower->task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_returned/broken", .about = "A pool on another shard.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_returned/fixed", .about = "A pool on another shard.",
        .setup = setup_fixed);
