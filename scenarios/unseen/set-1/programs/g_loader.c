/*
 * g_loader.c -- Two guests on fibers ask the host for the next record; a loader task answers
 * when the record has come from the disk.
 *
 * Cause: The loader has room for one waiting reply only, so the second guest's request
 * overwrites the first, whose guest is never continued.
 * Where: next_record
 * Kind: waiter replaced
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define GUESTS 2

static bool fixed;

struct loader {
    struct rt_task task;
    struct rt_slot wanted;
    struct rt_sleep disk;
    struct rt_reply *waiting[GUESTS];
    uint32_t waits;
    uint32_t answered;
    bool reading;
};

struct instance {
    struct rt_task task;
    struct loader *loader;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    uint64_t result[1];
    enum rt_trap trap;
};

static void
next_record(struct rt_host_call *host)
{
    struct instance *instance = host->guest->store->data;
    struct loader *loader = instance->loader;
    rt_reply_begin(&instance->reply, host);
    if (fixed) {
        loader->waiting[loader->waits++] = &instance->reply;
    } else {
        loader->waiting[0] = &instance->reply; /* Where. */
        loader->waits = 1;
    }
    rt_slot_wake(&loader->wanted);
}

static void
guest_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    if (!rt_guest_check(guest, 1)) {
        return;
    }
    if (!rt_guest_host(guest, next_record, NULL, results)) {
        return;
    }
}

static rt_poll
instance_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct instance *instance = rt_container_of(task, struct instance, task);
    RT_AWAIT(rt_call_drive(&instance->call, cx));
    rt_call_delete(&instance->call);
    rt_store_fini(&instance->store);
    return RT_READY;
}

static rt_poll
loader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct loader *loader = rt_container_of(task, struct loader, task);
    for (;;) {
        if (!loader->reading) {
            if (loader->waits == 0) {
                rt_slot_replace(&loader->wanted, cx, "a request");
                return RT_PENDING;
            }
            rt_sleep_init(&loader->disk, 200 * RT_US);
            loader->reading = true;
        }
        RT_AWAIT(rt_sleep_poll(&loader->disk, cx));
        loader->reading = false;
        uint64_t record = 7;
        while (loader->waits > 0) {
            (void)rt_reply_complete(loader->waiting[--loader->waits], &record, 1);
            loader->answered++;
        }
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[GUESTS] = {"guest-0", "guest-1"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct loader *loader = sim_new(world, struct loader);
    rt_slot_init(&loader->wanted);
    rt_task_init(&loader->task, loader_poll, NULL, "loader");
    sim_spawn_background(rt, &loader->task);
    for (int i = 0; i < GUESTS; i++) {
        struct instance *instance = sim_new(world, struct instance);
        instance->loader = loader;
        rt_store_init(&instance->store, engine, instance);
        rt_reply_init(&instance->reply, "the next record");
        struct rt_call_config config = {.guest = guest_main,
                .results = instance->result,
                .result_count = 1,
                .trap = &instance->trap,
                .name = names[i]};
        SIM_ALWAYS(rt_call_init(&instance->call, &instance->store, &config) == RT_OK);
        rt_task_init(&instance->task, instance_poll, NULL, names[i]);
        sim_spawn(rt, &instance->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/g-loader/broken",
        .about = "Guests that ask a loader for records.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/g-loader/fixed",
        .about = "Guests that ask a loader for records.", .setup = setup_fixed);
