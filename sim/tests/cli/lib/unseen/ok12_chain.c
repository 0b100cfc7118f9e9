/*
 * Readers of a bottle bank: a delivery of several bottles wakes one of those who wait, and whoever takes a bottle wakes
 * the next one if something is left.
 */
#include <sim/rewake.h>

#define READERS 3u

struct bank {
    struct rt_slot places[READERS];
    uint32_t bottles;
};

struct reader {
    struct rt_task task;
    struct bank *bank;
    uint32_t number;
};

struct supplier {
    struct rt_task task;
    struct bank *bank;
    struct rt_sleep nap;
    uint64_t unload_ns;
    uint64_t drive_ns;
    uint32_t bottles;
    uint32_t at;
};

static void
bank_wake_one(struct bank *bank)
{
    for (uint32_t i = 0; i < READERS; i++) {
        if (rt_slot_awaited(&bank->places[i])) {
            rt_slot_wake(&bank->places[i]);
            return;
        }
    }
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    struct bank *bank = reader->bank;
    if (bank->bottles > 0) {
        bank->bottles--;
        if (bank->bottles > 0) {
            bank_wake_one(bank);
        }
        return RT_READY;
    }
    rt_slot_replace(&bank->places[reader->number], cx, "a bottle");
    return RT_PENDING;
}

/* A supplier drives there, and then unloads. */
static rt_poll
supplier_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct supplier *supplier = rt_container_of(task, struct supplier, task);
    RT_BEGIN(supplier->at);
    rt_sleep_init(&supplier->nap, supplier->drive_ns);
    RT_AWAIT_HERE(supplier->at, rt_sleep_poll(&supplier->nap, cx));
    rt_sleep_init(&supplier->nap, supplier->unload_ns);
    RT_AWAIT_HERE(supplier->at, rt_sleep_poll(&supplier->nap, cx));
    supplier->bank->bottles += supplier->bottles;
    bank_wake_one(supplier->bank);
    RT_END(supplier->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[READERS] = {"reader 1", "reader 2", "reader 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct bank *bank = sim_new(world, struct bank);
    for (uint32_t i = 0; i < READERS; i++) {
        struct reader *reader = sim_new(world, struct reader);
        rt_slot_init(&bank->places[i]);
        reader->bank = bank;
        reader->number = i;
        rt_task_init(&reader->task, reader_poll, NULL, names[i]);
        sim_spawn(rt, &reader->task);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct supplier *supplier = sim_new(world, struct supplier);
        supplier->bank = bank;
        supplier->bottles = 1 + i;
        supplier->drive_ns = sim_range(world, 1 * RT_MS, 2 * RT_MS);
        supplier->unload_ns = sim_range(world, 0, 2 * RT_MS);
        rt_task_init(&supplier->task, supplier_poll, NULL, i == 0 ? "supplier 1" : "supplier 2");
        sim_spawn(rt, &supplier->task);
    }
}

SIM_SCENARIO(chain, .name = "ok12-chain", .about = "Three readers, two suppliers.",
        .setup = setup);
// SPDX-License-Identifier: Apache-2.0
