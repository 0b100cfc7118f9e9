/*
 * renewed_on_another_line.c -- a future that registers on one line, and renews on another.
 *
 * The first poll stores the waker and sets the state to "registered"; each further poll renews the
 * waker on another line, with another reason. A spurious poll therefore changes the line and the
 * reason, and brings nothing forward.
 *
 * fixed: the event happens after 1 ms. broken: it never happens. No wake is lost then: deadlock in
 * every run.
 *
 * Guards: a changed wait alone is no progress; text and line decide nothing.
 * Must end in: pass, for each order and audit rate. broken: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct program {
    struct rt_slot slot;
    bool happened;
    bool registered;
    struct rt_task waiter;
    struct rt_task source;
    struct rt_sleep latency;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, waiter);
    if (program->happened) {
        return RT_READY;
    }
    if (!program->registered) {
        program->registered = true;
        rt_slot_replace(&program->slot, cx, "the event");
        return RT_PENDING;
    }
    rt_slot_replace(&program->slot, cx, "the event, still");
    return RT_PENDING;
}

static rt_poll
source_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, source);
    RT_AWAIT(rt_sleep_poll(&program->latency, cx));
    program->happened = true;
    rt_slot_wake(&program->slot);
    return RT_READY;
}

static void
begin(struct sim_world *world, uint64_t latency_ns)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    rt_slot_init(&program->slot);
    rt_sleep_init(&program->latency, latency_ns);
    rt_task_init(&program->waiter, waiter_poll, NULL, "waiter");
    rt_task_init(&program->source, source_poll, NULL, "source");
    sim_spawn(rt, &program->waiter);
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

SIM_SCENARIO(oracle_renewed_on_another_line_broken, .name = "oracle/renewed-on-another-line/broken",
        .about = "A waker is renewed on another line, and the event never happens.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(oracle_renewed_on_another_line_fixed, .name = "oracle/renewed-on-another-line/fixed",
        .about = "A waker is registered on one line and renewed on another.", .setup = setup_fixed);
