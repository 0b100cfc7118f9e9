/*
 * wasmtime-11668.c -- a suspended fiber's stack is freed with live frames on it.
 *
 * bytecodealliance/wasmtime#11668 and #6212. wasmtime runs guests on fibers, several of one
 * component at a time.
 *
 * The bug. One guest of a component trapped, and the store was torn down. Other guests were
 * suspended in host calls; their fibers were dropped ("fiber dropped without finishing"), and
 * resources of their frames were never released.
 *
 * The fix. The teardown of a store resumes each suspended fiber with a cancellation until it has
 * ended, so its frames return one by one (F12). wasmtime-11668.patch removes that from
 * runtime/fiber/call.c: deleting a call returns its stack and does nothing else.
 *
 * Here. A component has a table with a lock. The guest `reader` takes the lock, reads from the
 * disk, where it suspends, and releases the lock, also when the read fails. Another guest computes,
 * and in some runs traps; then the component's tasks are cancelled. `backup` belongs to another
 * component and waits for the lock as well. If the trap occurs during the read, the lock is never
 * released.
 *
 * Cause: never-fired in rt_call_delete_at or reader_guest or unlock
 * Must end in: deadlock of backup. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/call.h"
#include "runtime/fiber/reply.h"
#include "sim/rewake.h"

#define FUEL_A_CHECK 1000

struct lock {
    bool taken;
    struct rt_slot waiter;
};

struct guest {
    struct rt_task task;
    struct rt_store store;
    struct rt_call call;
    enum rt_trap trap;
    struct component *component;
};

struct component {
    struct lock lock; /* Of the table. */
    struct guest reader;
    struct guest counter;
    uint64_t work; /* Iterations of the counter before its end. */
    bool bad;      /* And whether it traps there. */
    struct rt_task disk;
    struct rt_sleep seek;
    struct rt_reply reply;
    bool asked;
    struct rt_slot request;
    struct rt_task backup;
    struct rt_sleep pause;
};

static void
unlock(struct lock *lock)
{
    lock->taken = false;
    (void)rt_slot_wake(&lock->waiter);
}

/* ---- The reader. ----------------------------------------------------------------------------- */

static void
host_read(struct rt_host_call *host)
{
    struct component *component = host->guest->store->data;
    rt_reply_begin(&component->reply, host);
    component->asked = true;
    (void)rt_slot_wake(&component->request);
}

static void
reader_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct component *component = guest->store->data;
    uint64_t word = 0;
    (void)arguments;
    (void)results;
    if (!rt_guest_check(guest, FUEL_A_CHECK) || component->lock.taken) {
        return;
    }
    component->lock.taken = true;
    (void)!rt_guest_host(guest, host_read, NULL, &word);
    unlock(&component->lock);
}

static rt_poll
disk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct component *component = rt_container_of(task, struct component, disk);
    uint64_t word = 1;
    if (!component->asked) {
        rt_slot_replace(&component->request, cx, "a request to the disk");
        return RT_PENDING;
    }
    RT_AWAIT(rt_sleep_poll(&component->seek, cx));
    (void)rt_reply_complete(&component->reply, &word, 1);
    return RT_READY;
}

static void
disk_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct component, disk)->seek);
}

/* ---- The counter, and the end of the component. ---------------------------------------------- */

static void
counter_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    const struct component *component = guest->store->data;
    (void)arguments;
    (void)results;
    for (uint64_t i = 0; i < component->work; i++) {
        if (!rt_guest_check(guest, FUEL_A_CHECK)) {
            return;
        }
    }
    if (component->bad) {
        rt_guest_trap(guest, RT_TRAP_UNREACHABLE);
    }
}

static rt_poll
guest_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    RT_AWAIT(rt_call_drive(&guest->call, cx));
    if (guest->trap != RT_TRAP_NONE) {
        rt_task_cancel(&guest->component->reader.task);
    }
    return RT_READY;
}

static void
guest_cleanup(struct rt_task *task)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    rt_call_delete(&guest->call);
    rt_store_fini(&guest->store);
}

/* ---- Another component. ---------------------------------------------------------------------- */

static rt_poll
backup_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct component *component = rt_container_of(task, struct component, backup);
    if (!component->pause.finished) {
        RT_AWAIT(rt_sleep_poll(&component->pause, cx));
    }
    if (component->lock.taken) {
        rt_slot_replace(&component->lock.waiter, cx, "the lock of the table");
        return RT_PENDING;
    }
    SIM_PROGRESS();
    return RT_READY;
}

static void
guest_init(struct guest *guest, struct component *component, struct rt_engine *engine,
        rt_guest_fn fn, const char *name)
{
    struct rt_call_config config = {.guest = fn, .trap = &guest->trap, .name = name};
    guest->component = component;
    rt_store_init(&guest->store, engine, component);
    rt_fuel_yield_interval(&guest->store, 10 * FUEL_A_CHECK);
    SIM_ALWAYS(rt_call_init(&guest->call, &guest->store, &config) == RT_OK);
    rt_task_init(&guest->task, guest_poll, guest_cleanup, name);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.task_quota_ns = RT_TASK_QUOTA_NS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct component *component = sim_new(world, struct component);
    component->bad = sim_pick(world, 2) == 1;
    component->work = sim_range(world, 0, 4000);
    rt_slot_init(&component->lock.waiter);
    rt_slot_init(&component->request);
    rt_reply_init(&component->reply, "the disk");
    rt_sleep_init(&component->seek, 2 * RT_MS);
    rt_sleep_init(&component->pause, 1 * RT_MS);
    guest_init(&component->reader, component, engine, reader_guest, "reader");
    guest_init(&component->counter, component, engine, counter_guest, "counter");
    rt_task_init(&component->disk, disk_poll, disk_cleanup, "disk");
    rt_task_init(&component->backup, backup_poll, NULL, "backup");
    sim_spawn(rt, &component->reader.task);
    sim_spawn(rt, &component->counter.task);
    sim_spawn_background(rt, &component->disk);
    sim_spawn(rt, &component->backup);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_wasmtime_11668_broken, .name = "zoo/wasmtime-11668/broken", .bug = "J01",
        .reference = "bytecodealliance/wasmtime#11668, #6212",
        .about = "A deleted call frees its stack while its guest's frames are on it.",
        .setup = setup, .expect = SIM_VERDICT_DEADLOCK);
#else
SIM_SCENARIO(zoo_wasmtime_11668_fixed, .name = "zoo/wasmtime-11668/fixed",
        .about = "A deleted call lets its guest run to its end.", .setup = setup);
#endif
