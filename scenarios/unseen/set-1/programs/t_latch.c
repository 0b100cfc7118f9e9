/*
 * t_latch.c -- A countdown latch for start-up: three request handlers wait until two modules
 * have loaded.
 *
 * Cause: The last arrival wakes only one of the tasks queued on the latch instead of all of
 * them, so the other handlers wait forever.
 * Where: latch_arrive
 * Kind: wake one instead of all
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define HANDLERS 3

static bool fixed;

struct latch {
    struct rt_wait_queue waiters;
    struct rt_wait_queue_entry entries[HANDLERS];
    uint32_t left;
};

struct handler {
    struct rt_task task;
    struct latch *latch;
};

struct module {
    struct rt_task task;
    struct latch *latch;
    struct rt_sleep load;
    uint32_t at;
    uint64_t takes;
};

static void
latch_arrive(struct latch *latch)
{
    if (--latch->left == 0) {
        uint32_t count = fixed ? UINT32_MAX : 1;
        rt_wait_queue_wake(&latch->waiters, count); /* Where. */
    }
}

static rt_poll
handler_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct handler *handler = rt_container_of(task, struct handler, task);
    if (handler->latch->left > 0) {
        SIM_ALWAYS(rt_wait_queue_store(&handler->latch->waiters, cx, "all modules") == RT_OK);
        return RT_PENDING;
    }
    (void)rt_wait_queue_leave(&handler->latch->waiters, cx);
    return RT_READY;
}

static rt_poll
module_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct module *module = rt_container_of(task, struct module, task);
    RT_BEGIN(module->at);
    rt_sleep_init(&module->load, module->takes);
    RT_AWAIT_HERE(module->at, rt_sleep_poll(&module->load, cx));
    latch_arrive(module->latch);
    RT_END(module->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"handler-1", "handler-2", "handler-3"};
    static const char *const modules[] = {"auth", "store"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct latch *latch = sim_new(world, struct latch);
    latch->left = 2;
    rt_wait_queue_init(&latch->waiters, latch->entries, HANDLERS);
    for (int i = 0; i < 2; i++) {
        struct module *module = sim_new(world, struct module);
        module->latch = latch;
        module->takes = sim_range(world, 0, 2 * RT_MS);
        rt_task_init(&module->task, module_poll, NULL, modules[i]);
        sim_spawn(rt, &module->task);
    }
    for (int i = 0; i < HANDLERS; i++) {
        struct handler *handler = sim_new(world, struct handler);
        handler->latch = latch;
        rt_task_init(&handler->task, handler_poll, NULL, names[i]);
        sim_spawn(rt, &handler->task);
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

SIM_SCENARIO(form_broken, .name = "unseen/t-latch/broken",
        .about = "Handlers wait for a start-up latch.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/t-latch/fixed",
        .about = "Handlers wait for a start-up latch.", .setup = setup_fixed);
