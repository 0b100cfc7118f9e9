// Cause: disk_poll() counts the waiting replies (block->serve = block->count, in count_waiting as `before`) when the
// read begins, and completes only these. A guest that asks while the read is under way is put into `waiting`
// (host_read), but its reply is never completed. The replies must be counted when the read has ended.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* Guests on fibers ask the host for the same block. One read from the disk serves all of them. */
#include <sim/rewake.h>

#define GUESTS 3

struct block {
    struct rt_task disk;
    uint32_t disk_at;
    struct rt_slot asked;
    struct rt_sleep sleep;
    uint64_t read_ns;
    bool reading;
    bool here;
    uint64_t value;
    struct rt_reply *waiting[GUESTS];
    uint32_t count;
    uint32_t serve;
    void (*before)(struct block *block);
    void (*after)(struct block *block);
};

struct instance {
    struct rt_task task;
    uint32_t at;
    struct block *block;
    struct rt_sleep sleep;
    uint64_t begin_ns;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    uint64_t result;
    enum rt_trap trap;
};

static void
count_waiting(struct block *block)
{
    block->serve = block->count;
}

static void
count_nothing(struct block *block)
{
    (void)block;
}

static void
host_read(struct rt_host_call *host)
{
    struct instance *instance = host->guest->store->data;
    struct block *block = instance->block;
    if (block->here) {
        host->results[0] = block->value;
        host->continuation = (struct rt_continuation){.callback = rt_answered};
        return;
    }
    rt_reply_begin(&instance->reply, host);
    block->waiting[block->count++] = &instance->reply;
    if (!block->reading) {
        block->reading = true;
        rt_slot_wake(&block->asked);
    }
}

static rt_poll
disk_wait(struct block *block, struct rt_cx *cx)
{
    if (block->reading) {
        return RT_READY;
    }
    rt_slot_replace(&block->asked, cx, "a request");
    return RT_PENDING;
}

static rt_poll
disk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct block *block = rt_container_of(task, struct block, disk);
    RT_BEGIN(block->disk_at);
    RT_AWAIT_HERE(block->disk_at, disk_wait(block, cx));
    block->before(block);
    rt_sleep_init(&block->sleep, block->read_ns);
    RT_AWAIT_HERE(block->disk_at, rt_sleep_poll(&block->sleep, cx));
    block->value = 42;
    block->here = true;
    block->after(block);
    for (uint32_t i = 0; i < block->serve; i++) {
        (void)rt_reply_complete(block->waiting[i], &block->value, 1);
    }
    RT_END(block->disk_at);
}

static void
guest_sum(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t value = 0;
    if (!rt_guest_check(guest, 1) || !rt_guest_host(guest, host_read, arguments, &value)) {
        return;
    }
    results[0] = value + arguments[0];
}

static rt_poll
instance_poll(struct rt_task *task, struct rt_cx *cx)
{
    static const uint64_t arguments[1] = {1};
    struct instance *instance = rt_container_of(task, struct instance, task);
    const struct rt_call_config config = {.guest = guest_sum,
            .arguments = arguments,
            .results = &instance->result,
            .result_count = 1,
            .trap = &instance->trap,
            .name = "sum"};
    RT_BEGIN(instance->at);
    rt_sleep_init(&instance->sleep, instance->begin_ns);
    RT_AWAIT_HERE(instance->at, rt_sleep_poll(&instance->sleep, cx));
    SIM_ALWAYS(rt_call_init(&instance->call, &instance->store, &config) == RT_OK);
    RT_AWAIT_HERE(instance->at, rt_call_drive(&instance->call, cx));
    rt_call_delete(&instance->call);
    rt_store_fini(&instance->store);
    RT_END(instance->at);
}

static void
setup_block(struct sim_world *world, void (*before)(struct block *), void (*after)(struct block *))
{
    static const char *const names[GUESTS] = {"plugin A", "plugin B", "plugin C"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct block *block = sim_new(world, struct block);
    block->before = before;
    block->after = after;
    block->read_ns = sim_range(world, 1 * RT_MS, 3 * RT_MS);
    rt_slot_init(&block->asked);
    rt_task_init(&block->disk, disk_poll, NULL, "disk");
    sim_spawn(rt, &block->disk);
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct instance *instance = sim_new(world, struct instance);
        instance->block = block;
        instance->begin_ns = sim_range(world, 100 * RT_US, 4 * RT_MS);
        rt_store_init(&instance->store, engine, instance);
        rt_reply_init(&instance->reply, "the block");
        rt_task_init(&instance->task, instance_poll, NULL, names[i]);
        sim_spawn(rt, &instance->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_block(world, count_waiting, count_nothing);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_block(world, count_nothing, count_waiting);
}

SIM_SCENARIO(guestread_broken, .name = "guestread/broken", .about = "Guests read one block.",
        .setup = setup_broken);
SIM_SCENARIO(guestread_fixed, .name = "guestread/fixed", .about = "Guests read one block.",
        .setup = setup_fixed);
