/*
 * edges.c -- code that few runs reach, for builds that count edges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/stat.h>

#include "sim/rewake.h"

struct guest {
    struct rt_task task;
    struct rt_sleep stay;
    struct sim_world *world;
    uint32_t drawn;
    bool entered;
};

__attribute__((noinline)) static void
rare(struct guest *guest)
{
    SIM_REACHABLE();
    guest->drawn = 1; /* the rare line */
}

static rt_poll
draw(struct rt_task *task, struct rt_cx *cx)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    (void)cx;
    if (sim_pick(guest->world, 16) == 11) {
        rare(guest);
    }
    return RT_READY;
}

/* Polled again only where it was cancelled. */
static rt_poll
visit(struct rt_task *task, struct rt_cx *cx)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    guest->entered = true;
    RT_AWAIT(rt_sleep_poll(&guest->stay, cx));
    guest->entered = false;
    return RT_READY;
}

static void
leave(struct rt_task *task)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    if (guest->entered) {
        guest->drawn = 3; /* after a fault */
        rt_sleep_cancel(&guest->stay);
    }
}

static struct guest *
new_guest(struct sim_world *world, rt_poll (*poll)(struct rt_task *, struct rt_cx *),
        void (*drop)(struct rt_task *))
{
    struct guest *guest = sim_new(world, struct guest);
    guest->world = world;
    rt_sleep_init(&guest->stay, 1000000);
    rt_task_init(&guest->task, poll, drop, "guest");
    sim_spawn(sim_rt_new(world, NULL), &guest->task);
    return guest;
}

static void
setup_draw(struct sim_world *world)
{
    (void)new_guest(world, draw, NULL);
}

static void
setup_visit(struct sim_world *world)
{
    (void)new_guest(world, visit, leave);
}

__attribute__((noinline)) static void
first(struct sim_world *world)
{
    sim_log(world, "the first run of this process");
}

/* What is in the library's memory is put back between runs; this is not. */
static void
setup_once(struct sim_world *world)
{
    if (umask(0123) != 0123) {
        first(world);
    }
}

SIM_SCENARIO(edges_once, .name = "edges/once", .about = "One run of a process reaches a line.",
        .setup = setup_once);
SIM_SCENARIO(edges_draw, .name = "edges/draw", .about = "One run in sixteen comes to a line.",
        .setup = setup_draw);
SIM_SCENARIO(edges_visit, .name = "edges/visit", .about = "A guest who is cancelled at times.",
        .setup = setup_visit, .survives = SIM_FAULT_CANCEL);
