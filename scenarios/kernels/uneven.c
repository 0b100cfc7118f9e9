/*
 * uneven.c -- one read that must fall between the 50th and the 51st of 100 writes.
 *
 *      writer       for (i = 1; i <= 100; i++) x = i;
 *      reader       assert(x != 50);
 *
 * All writes are made by one line, so no constraint on lines can select the write that the reader
 * sees. Of the 101 orders one is wrong: a uniform draw of orders needs 101 runs on average; a
 * uniform draw at each step never gets that far without the reader.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/kernels/kernel.h"

struct program {
    struct sim_cell x;
    uint32_t writes; /* Written by setup alone. */
};

struct thread {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    uint32_t i;
};

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    for (thread->i = 1; thread->i <= program->writes; thread->i++) {
        sim_cell_set(&program->x, thread->i);
        NEXT(thread->at, cx);
    }
    RT_END(thread->at);
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    (void)cx;
    SIM_ALWAYS(sim_cell_get(&program->x) != program->writes / 2);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct starter *starter = starter_new(world, 2);
    struct program *program = sim_new(world, struct program);
    struct thread *writer = sim_new(world, struct thread);
    struct thread *reader = sim_new(world, struct thread);
    program->writes = (uint32_t)sim_param(world, "writes");
    sim_cell_init(world, &program->x, "x", 0);
    writer->program = program;
    reader->program = program;
    starter_add(starter, &writer->task, writer_poll, "writer");
    starter_add(starter, &reader->task, reader_poll, "reader");
}

static const struct sim_param writes[] = {{"writes", "writes by one line", 100, 2, 100000}, {0}};

SIM_SCENARIO(uneven_100, .name = "kernel/uneven-100/broken",
        .about = "One read must fall into the middle of 100 writes by one line.", .setup = setup,
        .params = writes, .expect = SIM_VERDICT_INVARIANT, .declared = true);
