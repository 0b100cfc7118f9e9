/*
 * lost_wakeup.c -- check, then sleep; set, then wake: a wake in between is lost.
 *
 *      consumer     if (!ready) park;
 *      producer     ready = true; (noise steps) wake;
 *
 * Exactly one of the six orders of these four steps loses the wake: check, set, wake, park. With
 * noise between set and wake the consumer must check before all of it and park after all of it.
 * Noise is an access to a cell that no other task touches, always by the same line.
 *
 * In the fixed form the consumer stores its waker before it checks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/kernels/kernel.h"

struct program {
    struct sim_cell ready;
    struct sim_cell noise;
    struct rt_slot consumer;
    uint32_t steps; /* Of noise. Written by setup alone. */
};

struct thread {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    uint32_t i;
};

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    while (sim_cell_get(&program->ready) == 0) {
        NEXT(thread->at, cx);
        rt_slot_replace(&program->consumer, cx, "something ready");
        RT_YIELD_HERE(thread->at);
    }
    RT_END(thread->at);
}

static rt_poll
careful_consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    for (;;) {
        rt_slot_replace(&program->consumer, cx, "something ready");
        if (sim_cell_get(&program->ready) != 0) {
            break;
        }
        RT_YIELD_HERE(thread->at);
    }
    RT_END(thread->at);
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    sim_cell_set(&program->ready, 1);
    NEXT(thread->at, cx);
    for (thread->i = 0; thread->i < program->steps; thread->i++) {
        sim_cell_set(&program->noise, thread->i);
        NEXT(thread->at, cx);
    }
    (void)rt_slot_wake(&program->consumer);
    RT_END(thread->at);
}

static void
make(struct sim_world *world, rt_poll_fn consume)
{
    struct starter *starter = starter_new(world, 2);
    struct program *program = sim_new(world, struct program);
    struct thread *consumer = sim_new(world, struct thread);
    struct thread *producer = sim_new(world, struct thread);
    program->steps = (uint32_t)sim_param(world, "noise");
    sim_cell_init(world, &program->ready, "ready", 0);
    sim_cell_init(world, &program->noise, "noise", 0);
    rt_slot_init(&program->consumer);
    consumer->program = program;
    producer->program = program;
    starter_add(starter, &consumer->task, consume, "consumer");
    starter_add(starter, &producer->task, producer_poll, "producer");
}

static void
setup(struct sim_world *world)
{
    make(world, consumer_poll);
}

static void
setup_fixed(struct sim_world *world)
{
    make(world, careful_consumer_poll);
}

#define NOISE(n) \
    static const struct sim_param noise_##n[] = { \
            {"noise", "steps between set and wake", (n), 0, 100000}, {0}}

NOISE(0);
NOISE(200);
SIM_SCENARIO(lost_wakeup, .name = "kernel/lost-wakeup/broken",
        .about = "The waker is stored one poll after the check: a wake in between is lost.",
        .setup = setup, .params = noise_0, .expect = SIM_VERDICT_LOST_WAKEUP, .declared = true);
SIM_SCENARIO(lost_wakeup_noise, .name = "kernel/lost-wakeup-noise/broken",
        .about = "As lost-wakeup/broken, with 200 steps between what is set and the wake.",
        .setup = setup, .params = noise_200, .expect = SIM_VERDICT_LOST_WAKEUP, .declared = true);
SIM_SCENARIO(lost_wakeup_fixed, .name = "kernel/lost-wakeup/fixed",
        .about = "As lost-wakeup/broken, and the waker is stored before the check.",
        .setup = setup_fixed, .params = noise_0, .declared = true);
SIM_SCENARIO(lost_wakeup_noise_fixed, .name = "kernel/lost-wakeup-noise/fixed",
        .about = "As lost-wakeup-noise/broken, and the waker is stored before the check.",
        .setup = setup_fixed, .params = noise_200, .declared = true);
