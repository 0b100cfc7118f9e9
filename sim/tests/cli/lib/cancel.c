/*
 * cancel.c -- a lock that is not given back by who is cancelled while it holds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct room {
    bool taken;
    struct rt_slot waiting;
};

struct guest {
    struct rt_task task;
    struct rt_sleep stay;
    struct room *room;
    bool inside;
};

static rt_poll
visit(struct rt_task *task, struct rt_cx *cx)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    if (!guest->inside && guest->room->taken) {
        rt_slot_replace(&guest->room->waiting, cx, "the room");
        return RT_PENDING;
    }
    guest->inside = true;
    guest->room->taken = true;
    RT_AWAIT(rt_sleep_poll(&guest->stay, cx));
    guest->room->taken = false;
    (void)rt_slot_wake(&guest->room->waiting);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct room *room = sim_new(world, struct room);
    rt_slot_init(&room->waiting);
    for (uint32_t i = 0; i < 2; i++) {
        struct guest *guest = sim_new(world, struct guest);
        guest->room = room;
        rt_sleep_init(&guest->stay, 1000000);
        rt_task_init(&guest->task, visit, NULL, "guest");
        sim_spawn(rt, &guest->task);
    }
}

SIM_SCENARIO(brave, .name = "brave/guests", .about = "Two guests, one room, and no way out.",
        .setup = setup);
