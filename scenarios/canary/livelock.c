/*
 * livelock.c -- a canary: two routers that send a packet back and forth.
 *
 * Each takes the other one for the next hop. Every hop is stored, woken and polled correctly, and
 * none of them brings the packet nearer; there is no hop limit.
 *
 * Must end in: livelock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct router {
    struct rt_task task;
    struct rt_slot input;
    struct router *next_hop; /* The next hop, as this one believes. */
    bool packet;
    bool delivered;
};

static rt_poll
router_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct router *router = rt_container_of(task, struct router, task);
    if (router->delivered) {
        return RT_READY;
    }
    if (router->packet) {
        router->packet = false;
        router->next_hop->packet = true;
        rt_slot_wake(&router->next_hop->input);
    }
    rt_slot_replace(&router->input, cx, "a packet, or word that it has arrived");
    return RT_PENDING;
}

static struct router *
router_new(struct sim_world *world, const char *name)
{
    struct router *router = sim_new(world, struct router);
    rt_slot_init(&router->input);
    rt_task_init(&router->task, router_poll, NULL, name);
    return router;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct router *east = router_new(world, "east");
    struct router *west = router_new(world, "west");
    east->next_hop = west;
    west->next_hop = east;
    east->packet = true;
    sim_spawn(rt, &east->task);
    sim_spawn(rt, &west->task);
}

SIM_SCENARIO(canary_livelock, .name = "canary/livelock",
        .about = "Two tasks wake each other in turn, forever, and nothing gets done.",
        .setup = setup, .expect = SIM_VERDICT_LIVELOCK);
