/*
 * Requests of one shard to another, at most two on their way; one that is refused is sent again later.
 * Cause: request_answered() (line 93) puts a refused request back into the queue and does not give back its place in `under_way`.
 */
#include <sim/rewake.h>

#define REQUESTS 3u
#define WINDOW 2u

struct channel {
    struct rt_shards *shards;
    struct rt_shard *origin;
    struct request *queue[REQUESTS];
    uint32_t queued;
    uint32_t under_way;
    uint32_t finished;
    struct rt_slot retry;
    bool fixed;
};

struct table {
    bool compacting;
    uint32_t rows;
};

struct request {
    struct rt_task task;
    struct rt_message message;
    struct rt_slot answer;
    struct rt_sleep pause;
    uint64_t pause_ns;
    struct channel *channel;
    struct table *table;
    uint32_t at;
    bool sent, done;
};

struct retrier {
    struct rt_task task;
    struct channel *channel;
    struct rt_sleep pause;
    uint32_t at;
};

struct compactor {
    struct rt_task task;
    struct table *table;
    struct rt_sleep pause;
    uint64_t begin_ns;
    uint32_t at;
};

/* On the target. */
static void
request_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct request *request = rt_container_of(message, struct request, message);
    if (request->table->compacting) {
        rt_message_answer(message, shard, RT_E_BUSY);
        return;
    }
    request->table->rows++;
    rt_message_answer(message, shard, RT_OK);
}

static void
channel_pump(struct channel *channel)
{
    while (channel->under_way < WINDOW && channel->queued > 0) {
        struct request *request = channel->queue[0];
        channel->queued--;
        for (uint32_t i = 0; i < channel->queued; i++) {
            channel->queue[i] = channel->queue[i + 1];
        }
        channel->under_way++;
        SIM_ALWAYS(rt_message_send(&request->message, channel->origin, 1) == RT_OK);
    }
}

static void
channel_put(struct channel *channel, struct request *request)
{
    channel->queue[channel->queued++] = request;
}

static void
request_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct request *request = rt_container_of(message, struct request, message);
    struct channel *channel = request->channel;
    (void)shard;
    if (message->result == RT_E_BUSY) {
        channel_put(channel, request);
        if (channel->fixed) {
            channel->under_way--;
        }
        rt_slot_wake(&channel->retry);
        return;
    }
    channel->under_way--;
    request->done = true;
    rt_slot_wake(&request->answer);
    channel_pump(channel);
}

static rt_poll
request_wait(struct request *request, struct rt_cx *cx)
{
    if (request->done) {
        return RT_READY;
    }
    rt_slot_replace(&request->answer, cx, "the answer");
    return RT_PENDING;
}

static rt_poll
request_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct request *request = rt_container_of(task, struct request, task);
    struct channel *channel = request->channel;
    RT_BEGIN(request->at);
    rt_sleep_init(&request->pause, request->pause_ns);
    RT_AWAIT_HERE(request->at, rt_sleep_poll(&request->pause, cx));
    channel_put(channel, request);
    channel_pump(channel);
    RT_AWAIT_HERE(request->at, request_wait(request, cx));
    if (++channel->finished == REQUESTS) {
        rt_shards_close(channel->shards);
    }
    RT_END(request->at);
}

static rt_poll
retry_wanted(struct channel *channel, struct rt_cx *cx)
{
    if (channel->queued > 0 && channel->under_way < WINDOW) {
        return RT_READY;
    }
    rt_slot_replace(&channel->retry, cx, "a request that was refused");
    return RT_PENDING;
}

/* Sends again what was refused, not at once. */
static rt_poll
retrier_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct retrier *retrier = rt_container_of(task, struct retrier, task);
    RT_BEGIN(retrier->at);
    for (;;) {
        RT_AWAIT_HERE(retrier->at, retry_wanted(retrier->channel, cx));
        rt_sleep_init(&retrier->pause, 500 * RT_US);
        RT_AWAIT_HERE(retrier->at, rt_sleep_poll(&retrier->pause, cx));
        channel_pump(retrier->channel);
    }
    RT_END(retrier->at);
}

static void
retrier_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct retrier, task)->pause);
}

static rt_poll
compactor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct compactor *compactor = rt_container_of(task, struct compactor, task);
    RT_BEGIN(compactor->at);
    rt_sleep_init(&compactor->pause, compactor->begin_ns);
    RT_AWAIT_HERE(compactor->at, rt_sleep_poll(&compactor->pause, cx));
    compactor->table->compacting = true;
    rt_sleep_init(&compactor->pause, 1 * RT_MS);
    RT_AWAIT_HERE(compactor->at, rt_sleep_poll(&compactor->pause, cx));
    compactor->table->compacting = false;
    RT_END(compactor->at);
}

static void
compactor_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct compactor, task)->pause);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[REQUESTS] = {"request 1", "request 2", "request 3"};
    struct sim_shard_group *group = sim_shard_group_new(world, NULL);
    struct channel *channel = sim_new(world, struct channel);
    struct table *table = sim_new(world, struct table);
    channel->shards = sim_shard_group_shards(group);
    channel->origin = sim_shard_group_shard(group, 0);
    channel->fixed = fixed;
    rt_slot_init(&channel->retry);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct request *request = sim_new(world, struct request);
        request->channel = channel;
        request->table = table;
        request->pause_ns = sim_range(world, i * RT_MS / 2, 4 * RT_MS);
        rt_slot_init(&request->answer);
        rt_message_init(&request->message, request_arrive, request_answered);
        rt_task_init(&request->task, request_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(group, 0), &request->task);
    }
    struct retrier *retrier = sim_new(world, struct retrier);
    retrier->channel = channel;
    rt_sleep_init(&retrier->pause, 0);
    rt_task_init(&retrier->task, retrier_poll, retrier_cleanup, "retrier");
    sim_spawn_background(sim_shard_group_rt(group, 0), &retrier->task);
    struct compactor *compactor = sim_new(world, struct compactor);
    compactor->table = table;
    compactor->begin_ns = 3 * RT_MS - sim_range(world, 0, 2 * RT_MS);
    rt_sleep_init(&compactor->pause, 0);
    rt_task_init(&compactor->task, compactor_poll, compactor_cleanup, "compactor");
    sim_spawn_background(sim_shard_group_rt(group, 1), &compactor->task);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(broken, .name = "s12-window/broken", .about = "Three requests, a window of two.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-window/fixed", .about = "Three requests, a window of two.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
