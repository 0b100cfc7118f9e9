/*
 * Guests that ask a directory, which does one lookup at a time; a guest may be stopped meanwhile.
 * Cause: directory_poll() (line 102) goes on to its wait when the guest of a lookup is gone, before the next one of the queue was begun.
 */
#include <sim/rewake.h>

#define GUESTS 3u

struct lookup {
    struct lookup *next;
    struct rt_reply reply;
    uint64_t name;
};

struct directory {
    struct rt_task task;
    struct rt_slot wanted;
    struct lookup *current;
    struct lookup *queue;
    struct rt_sleep disk;
    uint32_t at;
    uint64_t answer;
    bool fixed;
};

struct instance {
    struct rt_task task;
    struct rt_store store;
    struct rt_call call;
    struct rt_sleep start;
    struct directory *directory;
    struct lookup lookup;
    uint64_t arguments[1];
    uint64_t results[1];
    enum rt_trap trap;
    uint64_t start_ns;
    uint32_t at;
    bool called;
};

struct keeper {
    struct rt_task task;
    struct rt_sleep patience;
    struct instance *instance;
    uint64_t patience_ns;
    uint32_t at;
};

/* Begins the oldest of the queue. */
static void
directory_next(struct directory *directory)
{
    directory->current = directory->queue;
    if (directory->queue != NULL) {
        directory->queue = directory->queue->next;
    }
}

static void
directory_ask(struct directory *directory, struct lookup *lookup)
{
    struct lookup **at = &directory->queue;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    lookup->next = NULL;
    *at = lookup;
    if (directory->current == NULL) {
        directory_next(directory);
        rt_slot_wake(&directory->wanted);
    }
}

static rt_poll
directory_wanted(struct directory *directory, struct rt_cx *cx)
{
    if (directory->current != NULL) {
        return RT_READY;
    }
    rt_slot_replace(&directory->wanted, cx, "a lookup");
    return RT_PENDING;
}

static rt_poll
directory_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct directory *directory = rt_container_of(task, struct directory, task);
    RT_BEGIN(directory->at);
    for (;;) {
        RT_AWAIT_HERE(directory->at, directory_wanted(directory, cx));
        rt_sleep_init(&directory->disk, 1 * RT_MS);
        RT_AWAIT_HERE(directory->at, rt_sleep_poll(&directory->disk, cx));
        struct lookup *lookup = directory->current;
        directory->answer = lookup->name * 10;
        if (directory->fixed) {
            directory_next(directory);
            (void)rt_reply_complete(&lookup->reply, &directory->answer, 1);
            continue;
        }
        if (!rt_reply_complete(&lookup->reply, &directory->answer, 1)) {
            directory->current = NULL;
            continue;
        }
        directory_next(directory);
    }
    RT_END(directory->at);
}

static void
directory_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct directory, task)->disk);
}

static void
host_lookup(struct rt_host_call *host)
{
    struct instance *instance = host->guest->store->data;
    instance->lookup.name = host->arguments[0];
    rt_reply_begin(&instance->lookup.reply, host);
    directory_ask(instance->directory, &instance->lookup);
}

static void
guest_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t found[1];
    if (!rt_guest_host(guest, host_lookup, arguments, found)) {
        return;
    }
    results[0] = found[0] + 1;
}

static rt_poll
instance_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct instance *instance = rt_container_of(task, struct instance, task);
    const struct rt_call_config config = {.guest = guest_main,
            .arguments = instance->arguments,
            .results = instance->results,
            .result_count = 1,
            .trap = &instance->trap,
            .name = "a guest"};
    RT_BEGIN(instance->at);
    rt_sleep_init(&instance->start, instance->start_ns);
    RT_AWAIT_HERE(instance->at, rt_sleep_poll(&instance->start, cx));
    SIM_ALWAYS(rt_call_init(&instance->call, &instance->store, &config) == RT_OK);
    instance->called = true;
    RT_AWAIT_HERE(instance->at, rt_call_drive(&instance->call, cx));
    SIM_ALWAYS(instance->results[0] == instance->arguments[0] * 10 + 1);
    RT_END(instance->at);
}

static void
instance_cleanup(struct rt_task *task)
{
    struct instance *instance = rt_container_of(task, struct instance, task);
    rt_sleep_cancel(&instance->start);
    if (instance->called) {
        rt_call_delete(&instance->call);
    }
    rt_store_fini(&instance->store);
}

static rt_poll
keeper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct keeper *keeper = rt_container_of(task, struct keeper, task);
    RT_BEGIN(keeper->at);
    rt_sleep_init(&keeper->patience, keeper->patience_ns);
    RT_AWAIT_HERE(keeper->at, rt_sleep_poll(&keeper->patience, cx));
    rt_task_cancel(&keeper->instance->task);
    RT_END(keeper->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[GUESTS] = {"instance 1", "instance 2", "instance 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct directory *directory = sim_new(world, struct directory);
    struct keeper *keeper = sim_new(world, struct keeper);
    directory->fixed = fixed;
    rt_slot_init(&directory->wanted);
    rt_sleep_init(&directory->disk, 0);
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct instance *instance = sim_new(world, struct instance);
        rt_store_init(&instance->store, engine, instance);
        rt_reply_init(&instance->lookup.reply, "an entry of the directory");
        rt_sleep_init(&instance->start, 0);
        instance->directory = directory;
        instance->arguments[0] = i + 1;
        instance->start_ns = sim_range(world, 0, 2 * RT_MS);
        rt_task_init(&instance->task, instance_poll, instance_cleanup, names[i]);
        sim_spawn(rt, &instance->task);
        if (i == 1) {
            keeper->instance = instance;
        }
    }
    keeper->patience_ns = 4 * RT_MS - sim_range(world, 0, 3 * RT_MS);
    rt_task_init(&keeper->task, keeper_poll, NULL, "keeper");
    sim_spawn(rt, &keeper->task);
    rt_task_init(&directory->task, directory_poll, directory_cleanup, "directory");
    sim_spawn_background(rt, &directory->task);
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

SIM_SCENARIO(broken, .name = "s12-lookup/broken", .about = "Three guests, one directory.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-lookup/fixed", .about = "Three guests, one directory.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
