/*
 * t_config.c -- Two subsystems wait for the first configuration that a loader fetches from the
 * network.
 *
 * Cause: Both subscribers store their waker in the same single-waker slot, so the second store
 * replaces the first waker and the load wakes only one task.
 * Where: subsystem_poll
 * Kind: waker replaced
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct config {
    struct rt_slot watchers[2];
    struct sim_source *response;
    struct rt_pollable arrived;
    struct rt_wait wait;
    int version;
};

struct subsystem {
    struct rt_task task;
    struct config *config;
    uint32_t number;
    int using;
};

struct loader {
    struct rt_task task;
    struct config *config;
    uint32_t at;
};

static struct rt_slot *
config_slot(struct config *config, uint32_t subscriber)
{
    return &config->watchers[fixed ? subscriber : 0];
}

static rt_poll
subsystem_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct subsystem *sub = rt_container_of(task, struct subsystem, task);
    if (sub->config->version == 0) {
        rt_slot_replace(config_slot(sub->config, sub->number), cx, "a configuration"); /* Where. */
        return RT_PENDING;
    }
    sub->using = sub->config->version;
    return RT_READY;
}

static rt_poll
loader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct loader *loader = rt_container_of(task, struct loader, task);
    struct config *config = loader->config;
    if (sim_source_take(config->response) == RT_E_AGAIN) {
        RT_AWAIT(rt_wait_for(&config->wait, &config->arrived, cx));
        if (sim_source_take(config->response) == RT_E_AGAIN) {
            rt_cx_reenqueue(cx);
            return RT_PENDING;
        }
    }
    config->version = 1;
    for (uint32_t i = 0; i < 2; i++) {
        rt_slot_wake(&config->watchers[i]);
    }
    rt_pollable_drop(&config->arrived);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"listener", "logger"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct config *config = sim_new(world, struct config);
    struct loader *loader = sim_new(world, struct loader);
    config->response = sim_source_new(sim_rt_host(rt), "response");
    sim_source_event_in(config->response, 0, 2 * RT_MS);
    SIM_ALWAYS(sim_source_subscribe(config->response, &config->arrived) == RT_OK);
    rt_wait_init(&config->wait);
    loader->config = config;
    rt_task_init(&loader->task, loader_poll, NULL, "loader");
    sim_spawn(rt, &loader->task);
    for (uint32_t i = 0; i < 2; i++) {
        struct subsystem *sub = sim_new(world, struct subsystem);
        rt_slot_init(&config->watchers[i]);
        sub->config = config;
        sub->number = i;
        rt_task_init(&sub->task, subsystem_poll, NULL, names[i]);
        sim_spawn(rt, &sub->task);
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

SIM_SCENARIO(form_broken, .name = "unseen/t-config/broken",
        .about = "Two subsystems wait for the first configuration.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/t-config/fixed",
        .about = "Two subsystems wait for the first configuration.", .setup = setup_fixed);
