/*
 * forms.c -- two scenarios in one file, each with goals that only its own runs can reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct half {
    struct rt_task task;
    uint32_t polls;
};

static rt_poll
broken_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct half *half = rt_container_of(task, struct half, task);
    if (half->polls++ == 0) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    SIM_REACHABLE();
    SIM_SOMETIMES(half->polls == 77);
    return RT_READY;
}

static rt_poll
fixed_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct half *half = rt_container_of(task, struct half, task);
    if (half->polls++ == 0) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    SIM_SOMETIMES(half->polls == 2);
    return RT_READY;
}

static void
spawn(struct sim_world *world, rt_poll (*poll)(struct rt_task *task, struct rt_cx *cx))
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct half *half = sim_new(world, struct half);
    rt_task_init(&half->task, poll, NULL, "half");
    sim_spawn(rt, &half->task);
}

static void
setup_broken(struct sim_world *world)
{
    spawn(world, broken_poll);
}

static void
setup_fixed(struct sim_world *world)
{
    spawn(world, fixed_poll);
}

SIM_SCENARIO(
        broken, .name = "forms/broken", .about = "Reaches one goal of two.", .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "forms/fixed", .about = "Reaches its goal.", .setup = setup_fixed);
