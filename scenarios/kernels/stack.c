/*
 * stack.c -- SCTBench's stack: one flag "something was pushed" is never cleared.
 *
 *      t1, 10 times     lock; push; flag = true;                  unlock;
 *      t2, 10 times     lock; if (flag) { assert(top > 0); pop }  unlock;
 *
 * The lock keeps the stack whole, but the flag is never cleared, so t2 pops an empty stack as soon
 * as it has popped more than t1 pushed. In the fixed form the flag means top > 0. The values do not
 * matter and are left out.
 *
 * Reference: mc-imperial/sctbench, concurrent-software-benchmarks/stack_bad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/kernels/kernel.h"

#define SIZE 10

struct program {
    struct sim_cell top;
    struct sim_cell flag;
    struct lock lock;
    bool clears; /* Written by setup alone. */
};

struct thread {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    uint32_t number;
    uint32_t i;
    int64_t top;
};

static rt_poll
pusher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    for (thread->i = 0; thread->i < SIZE; thread->i++) {
        TAKE(thread->at, &program->lock, thread->number, cx);
        NEXT(thread->at, cx);
        thread->top = sim_cell_get(&program->top);
        SIM_ALWAYS(thread->top < SIZE);
        NEXT(thread->at, cx);
        sim_cell_set(&program->top, thread->top + 1);
        NEXT(thread->at, cx);
        sim_cell_set(&program->flag, 1);
        lock_release(&program->lock);
        NEXT(thread->at, cx);
    }
    RT_END(thread->at);
}

static rt_poll
popper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    for (thread->i = 0; thread->i < SIZE; thread->i++) {
        TAKE(thread->at, &program->lock, thread->number, cx);
        NEXT(thread->at, cx);
        if (sim_cell_get(&program->flag) != 0) {
            NEXT(thread->at, cx);
            thread->top = sim_cell_get(&program->top);
            SIM_ALWAYS(thread->top > 0);
            NEXT(thread->at, cx);
            sim_cell_set(&program->top, thread->top - 1);
            if (program->clears && thread->top == 1) {
                sim_cell_set(&program->flag, 0);
            }
        }
        lock_release(&program->lock);
        NEXT(thread->at, cx);
    }
    RT_END(thread->at);
}

static void
make(struct sim_world *world, bool clears)
{
    struct starter *starter = starter_new(world, 2);
    struct program *program = sim_new(world, struct program);
    struct thread *pusher = sim_new(world, struct thread);
    struct thread *popper = sim_new(world, struct thread);
    program->clears = clears;
    sim_cell_init(world, &program->top, "top", 0);
    sim_cell_init(world, &program->flag, "flag", 0);
    lock_init(world, &program->lock, "the lock", 2);
    *pusher = (struct thread){.program = program, .number = 0};
    *popper = (struct thread){.program = program, .number = 1};
    starter_add(starter, &pusher->task, pusher_poll, "pusher");
    starter_add(starter, &popper->task, popper_poll, "popper");
}

static void
setup(struct sim_world *world)
{
    make(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    make(world, true);
}

SIM_SCENARIO(stack, .name = "kernel/stack/broken",
        .about = "A flag that is never cleared lets an empty stack be popped.", .setup = setup,
        .expect = SIM_VERDICT_INVARIANT, .declared = true);
SIM_SCENARIO(stack_fixed, .name = "kernel/stack/fixed",
        .about = "As stack/broken, and the last pop clears the flag.", .setup = setup_fixed,
        .declared = true);
