/*
 * invariant.c -- a canary: three tasks count to three together, and the program checks the sum.
 *
 * Each reads the counter, yields, and writes the value plus one. An increment in between is
 * overwritten. No task is blocked, leaks or spins: only the program knows the right sum.
 *
 * Must end in: invariant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TASKS 3

struct counter {
    uint32_t value;
};

struct adder {
    struct rt_task task;
    struct counter *counter;
    uint32_t read;
    bool has_read;
};

static rt_poll
adder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct adder *adder = rt_container_of(task, struct adder, task);
    if (!adder->has_read) {
        adder->read = adder->counter->value;
        adder->has_read = true;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    adder->counter->value = adder->read + 1;
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[TASKS] = {"one", "two", "three"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct counter *counter = sim_new(world, struct counter);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct adder *adder = sim_new(world, struct adder);
        adder->counter = counter;
        rt_task_init(&adder->task, adder_poll, NULL, names[i]);
        sim_spawn(rt, &adder->task);
    }
    sim_set_state(world, counter);
}

static void
check(struct sim_world *world, void *state)
{
    const struct counter *counter = state;
    (void)world;
    SIM_ALWAYS(counter->value == TASKS);
}

SIM_SCENARIO(canary_invariant, .name = "canary/invariant",
        .about = "Tasks add to a counter in two polls each: additions are lost.", .setup = setup,
        .check = check, .expect = SIM_VERDICT_INVARIANT);
