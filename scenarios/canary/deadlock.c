/*
 * deadlock.c -- a canary: two forks, two philosophers, each takes its left fork first.
 *
 * Each takes a fork, thinks for a poll, and waits for the other fork, which the other one holds.
 * Both are blocked and their wakers are stored: no wake is missing, and one more poll brings no
 * progress. Only a philosopher that finishes before the other starts succeeds.
 *
 * Must end in: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct fork {
    struct rt_slot waiter;
    bool taken;
};

struct philosopher {
    struct rt_task task;
    struct fork *left;
    struct fork *right;
    uint32_t held;
};

static rt_poll
fork_take(struct fork *fork, struct rt_cx *cx)
{
    if (fork->taken) {
        rt_slot_replace(&fork->waiter, cx, "a fork");
        return RT_PENDING;
    }
    fork->taken = true;
    return RT_READY;
}

static void
fork_give_back(struct fork *fork)
{
    fork->taken = false;
    rt_slot_wake(&fork->waiter);
}

static rt_poll
philosopher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct philosopher *philosopher = rt_container_of(task, struct philosopher, task);
    if (philosopher->held == 0) {
        RT_AWAIT(fork_take(philosopher->left, cx));
        philosopher->held = 1;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    RT_AWAIT(fork_take(philosopher->right, cx));
    fork_give_back(philosopher->right);
    fork_give_back(philosopher->left);
    return RT_READY;
}

static void
sit_down(struct sim_world *world, struct sim_rt *rt, struct fork *left, struct fork *right,
        const char *name)
{
    struct philosopher *philosopher = sim_new(world, struct philosopher);
    philosopher->left = left;
    philosopher->right = right;
    rt_task_init(&philosopher->task, philosopher_poll, NULL, name);
    sim_spawn(rt, &philosopher->task);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct fork *forks = sim_zalloc(world, 2 * sizeof(*forks));
    rt_slot_init(&forks[0].waiter);
    rt_slot_init(&forks[1].waiter);
    sit_down(world, rt, &forks[0], &forks[1], "Plato");
    sit_down(world, rt, &forks[1], &forks[0], "Socrates");
}

SIM_SCENARIO(canary_deadlock, .name = "canary/deadlock",
        .about = "Two tasks take two forks, each the other's second one first.", .setup = setup,
        .expect = SIM_VERDICT_DEADLOCK);
