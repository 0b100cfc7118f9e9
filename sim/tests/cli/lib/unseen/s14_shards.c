/* A store on two shards: tasks of one ask for a key of the other, which keeps those that come before it is written.
 * Cause: arrive_get() (line 61): a request that waits is kept in one place, and a second one for the key takes it, so
 * that the first is never answered. Repair: chain the requests that wait. */
#include <sim/rewake.h>

#define READERS 2

struct store;

struct get {
    struct rt_submit submit;
    struct store *store;
    struct get *next;
    uint32_t value;
};

struct reader {
    struct rt_task task;
    struct store *store;
    struct get get;
    struct rt_sleep pause;
    uint64_t after_ns;
    uint32_t at;
};

struct writer {
    struct rt_task task;
    struct store *store;
    struct rt_sleep pause;
    uint64_t after_ns;
    uint32_t at;
};

struct store {
    struct rt_shards *shards;
    struct rt_shard *front, *back;
    struct get *parked; /* On `back` only, as the value. */
    uint32_t value;
    uint32_t answered; /* On `front` only. */
    bool repaired;
    struct reader readers[READERS];
    struct writer writer;
};

static void
answer(struct get *get, struct rt_shard *shard)
{
    get->value = get->store->value;
    rt_message_answer(&get->submit.message, shard, RT_OK);
}

static void
arrive_get(struct rt_message *message, struct rt_shard *shard)
{
    struct get *get = rt_container_of(message, struct get, submit.message);
    struct store *store = get->store;
    if (store->value != 0) {
        answer(get, shard);
        return;
    }
    get->next = store->repaired ? store->parked : NULL;
    store->parked = get;
}

static void
store_put(struct store *store, uint32_t value)
{
    store->value = value;
    while (store->parked != NULL) {
        struct get *get = store->parked;
        store->parked = get->next;
        answer(get, store->back);
    }
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    RT_BEGIN(reader->at);
    rt_sleep_init(&reader->pause, reader->after_ns);
    RT_AWAIT_HERE(reader->at, rt_sleep_poll(&reader->pause, cx));
    reader->get.store = reader->store;
    rt_submit_to(&reader->get.submit, reader->store->front, 1, arrive_get);
    RT_AWAIT_HERE(reader->at, rt_future_poll(&reader->get.submit.future, cx));
    SIM_ALWAYS(reader->get.submit.message.result == RT_OK && reader->get.value == 42);
    if (++reader->store->answered == READERS) {
        rt_shards_close(reader->store->shards);
    }
    RT_END(reader->at);
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    RT_BEGIN(writer->at);
    rt_sleep_init(&writer->pause, writer->after_ns);
    RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->pause, cx));
    store_put(writer->store, 42);
    RT_END(writer->at);
}

static void
setup(struct sim_world *world, bool repaired)
{
    static const char *const names[READERS] = {"reader 1", "reader 2"};
    struct sim_shard_group *group = sim_shard_group_new(world, NULL);
    struct store *store = sim_new(world, struct store);
    store->repaired = repaired;
    store->shards = sim_shard_group_shards(group);
    store->front = sim_shard_group_shard(group, 0);
    store->back = sim_shard_group_shard(group, 1);
    for (uint32_t i = 0; i < READERS; i++) {
        struct reader *reader = &store->readers[i];
        reader->store = store;
        reader->after_ns = sim_range(world, (1 + 2 * i) * RT_MS, 4 * RT_MS);
        rt_task_init(&reader->task, reader_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(group, 0), &reader->task);
    }
    store->writer.store = store;
    store->writer.after_ns = sim_range(world, 2 * RT_MS, 5 * RT_MS);
    rt_task_init(&store->writer.task, writer_poll, NULL, "writer");
    sim_spawn(sim_shard_group_rt(group, 1), &store->writer.task);
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

SIM_SCENARIO(shards_broken, .name = "s14_shards/broken", .about = "A read of what is not there yet.",
        .setup = setup_broken);
SIM_SCENARIO(shards_fixed, .name = "s14_shards/fixed", .about = "A read of what is not there yet, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
