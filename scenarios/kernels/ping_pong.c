/*
 * ping_pong.c -- RFF's long race: two threads must alternate eight times by chance.
 *
 *      adder            sum++; if (dif == -1) { sum++; if (dif == -2) { ... if (dif == -4) fail } }
 *      subtracter       if (sum == 1) { dif--; if (sum == 2) { dif--; ... } }
 *
 * sum++ is a read and a write. Each turn must be taken exactly when the other thread has written
 * and before it reads; after one missed turn both end soon. No constraint on one pair of accesses
 * leads there; a search that keeps the run with the deepest turn, and continues from it, does.
 *
 * Reference: dylanjwolff/RFF, test/long-race.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/kernels/kernel.h"

#define TURNS 4

struct program {
    struct sim_cell sum;
    struct sim_cell dif;
};

struct thread {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    int64_t read;
};

/* A line each, as in the original: sites distinguish the turns. */
#define ADD(thread, cx) \
    (thread)->read = sim_cell_get(&(thread)->program->sum); \
    NEXT((thread)->at, cx); \
    sim_cell_set(&(thread)->program->sum, (thread)->read + 1)
#define SUBTRACT(thread, cx) \
    (thread)->read = sim_cell_get(&(thread)->program->dif); \
    NEXT((thread)->at, cx); \
    sim_cell_set(&(thread)->program->dif, (thread)->read - 1)
#define ONLY_IF(condition) \
    if (!(condition)) { \
        return RT_READY; \
    }

static rt_poll
adder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct sim_cell *dif = &thread->program->dif;
    RT_BEGIN(thread->at);
    ADD(thread, cx);
    NEXT(thread->at, cx);
    ONLY_IF(sim_cell_get(dif) == -1);
    NEXT(thread->at, cx);
    ADD(thread, cx);
    NEXT(thread->at, cx);
    ONLY_IF(sim_cell_get(dif) == -2);
    NEXT(thread->at, cx);
    ADD(thread, cx);
    NEXT(thread->at, cx);
    ONLY_IF(sim_cell_get(dif) == -3);
    NEXT(thread->at, cx);
    ADD(thread, cx);
    NEXT(thread->at, cx);
    SIM_ALWAYS(sim_cell_get(dif) != -TURNS);
    RT_END(thread->at);
}

static rt_poll
subtracter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct sim_cell *sum = &thread->program->sum;
    RT_BEGIN(thread->at);
    ONLY_IF(sim_cell_get(sum) == 1);
    NEXT(thread->at, cx);
    SUBTRACT(thread, cx);
    NEXT(thread->at, cx);
    ONLY_IF(sim_cell_get(sum) == 2);
    NEXT(thread->at, cx);
    SUBTRACT(thread, cx);
    NEXT(thread->at, cx);
    ONLY_IF(sim_cell_get(sum) == 3);
    NEXT(thread->at, cx);
    SUBTRACT(thread, cx);
    NEXT(thread->at, cx);
    ONLY_IF(sim_cell_get(sum) == TURNS);
    NEXT(thread->at, cx);
    SUBTRACT(thread, cx);
    RT_END(thread->at);
}

static void
setup(struct sim_world *world)
{
    struct starter *starter = starter_new(world, 2);
    struct program *program = sim_new(world, struct program);
    struct thread *adder = sim_new(world, struct thread);
    struct thread *subtracter = sim_new(world, struct thread);
    sim_cell_init(world, &program->sum, "sum", 0);
    sim_cell_init(world, &program->dif, "dif", 0);
    adder->program = program;
    subtracter->program = program;
    starter_add(starter, &adder->task, adder_poll, "adder");
    starter_add(starter, &subtracter->task, subtracter_poll, "subtracter");
}

SIM_SCENARIO(ping_pong, .name = "kernel/ping-pong/broken",
        .about = "Two threads must take turns eight times, each at the only right time.",
        .setup = setup, .expect = SIM_VERDICT_INVARIANT, .declared = true);
