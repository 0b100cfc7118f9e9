/*
 * cancel.c -- a lock that a cancelled holder does not release.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct mutex {
    bool taken;
    struct rt_slot waiting;
};

struct guest {
    struct rt_task task;
    struct rt_sleep stay;
    struct mutex *mutex;
    bool inside;
};

static rt_poll
visit(struct rt_task *task, struct rt_cx *cx)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    if (!guest->inside && guest->mutex->taken) {
        rt_slot_replace(&guest->mutex->waiting, cx, "the mutex");
        return RT_PENDING;
    }
    guest->inside = true;
    guest->mutex->taken = true;
    RT_AWAIT(rt_sleep_poll(&guest->stay, cx));
    guest->mutex->taken = false;
    (void)rt_slot_wake(&guest->mutex->waiting);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mutex *mutex = sim_new(world, struct mutex);
    rt_slot_init(&mutex->waiting);
    for (uint32_t i = 0; i < 2; i++) {
        struct guest *guest = sim_new(world, struct guest);
        guest->mutex = mutex;
        rt_sleep_init(&guest->stay, 1000000);
        rt_task_init(&guest->task, visit, NULL, "guest");
        sim_spawn(rt, &guest->task);
    }
}

SIM_SCENARIO(brave, .name = "brave/guests", .about = "Two guests, one mutex, and no way out.",
        .setup = setup);
