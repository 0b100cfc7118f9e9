/*
 * another_slot.c -- each poll stores the waker in the other one of two slots.
 *
 * A client waits for the first answer of two replicas, and listens to them in turn. The source of
 * the answer wakes both slots, so it does not matter in which of them the client waits. A spurious
 * poll changes the object of the wait, and brings nothing forward.
 *
 * fixed: the answer arrives after 1 ms. broken: it never arrives. No wake is lost then: deadlock
 * in every run.
 *
 * Guards: a changed wait alone is no progress, even where the object is another one.
 * Must end in: pass, for each order and audit rate. broken: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct program {
    struct rt_slot replicas[2];
    bool answered;
    uint32_t polls;
    struct rt_task client;
    struct rt_task source;
    struct rt_sleep latency;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, client);
    if (program->answered) {
        return RT_READY;
    }
    rt_slot_replace(&program->replicas[program->polls++ % 2], cx, "an answer");
    return RT_PENDING;
}

static rt_poll
source_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, source);
    RT_AWAIT(rt_sleep_poll(&program->latency, cx));
    program->answered = true;
    rt_slot_wake(&program->replicas[0]);
    rt_slot_wake(&program->replicas[1]);
    return RT_READY;
}

static void
begin(struct sim_world *world, uint64_t latency_ns)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    rt_slot_init(&program->replicas[0]);
    rt_slot_init(&program->replicas[1]);
    rt_sleep_init(&program->latency, latency_ns);
    rt_task_init(&program->client, client_poll, NULL, "client");
    rt_task_init(&program->source, source_poll, NULL, "source");
    sim_spawn(rt, &program->client);
    sim_spawn(rt, &program->source);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, RT_NEVER);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, RT_MS);
}

SIM_SCENARIO(oracle_another_slot_broken, .name = "oracle/another-slot/broken",
        .about = "Each poll waits in the other one of two slots, and no answer arrives.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(oracle_another_slot_fixed, .name = "oracle/another-slot/fixed",
        .about = "Each poll waits in the other one of two slots; the answer wakes both.",
        .setup = setup_fixed);
