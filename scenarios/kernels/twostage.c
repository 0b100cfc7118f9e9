/*
 * twostage.c -- SCTBench's twostage: two related numbers under two locks.
 *
 *      writer       lock(1); data1 = 1;             unlock(1);
 *                   lock(2); data2 = data1 + 1;     unlock(2);
 *      reader       lock(1); if (data1 == 0) { unlock(1); return; }
 *                   t1 = data1;                     unlock(1);
 *                   lock(2); t2 = data2;            unlock(2);
 *                   assert(t2 == t1 + 1);
 *
 * It fails when a reader reads data1 after the first data1 = 1 and data2 before the first data2 =
 * ..: it must be the first of all at the second lock. The numbers of both kinds are those of the
 * originals, with published measurements:
 *
 *      twostage-2          1 writer,   1 reader      SCTBench's twostage
 *      twostage-20        10 writers, 10 readers     twostage_20
 *      twostage-50        40 writers, 10 readers     twostage_50
 *      twostage-100       99 writers,  1 reader      twostage_100
 *      twostage-20-lone   19 writers,  1 reader      not among them, and harder
 *      twostage-50-lone   49 writers,  1 reader      likewise
 *
 * In the fixed form the first lock is held over both.
 *
 * Reference: mc-imperial/sctbench, concurrent-software-benchmarks/twostage_bad, twostage_100_bad;
 * wcventure/PERIOD, evaluation/CS/twostage_20, twostage_50.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/kernels/kernel.h"

struct program {
    struct sim_cell data1;
    struct sim_cell data2;
    struct lock lock1;
    struct lock lock2;
    bool over_both; /* Written by setup alone. */
};

struct thread {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    uint32_t number;
    int64_t t1;
    int64_t t2;
};

/* Here, or at the end of the second stage. */
static void
release_first(struct program *program, bool at_the_end)
{
    if (program->over_both == at_the_end) {
        lock_release(&program->lock1);
    }
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    TAKE(thread->at, &program->lock1, thread->number, cx);
    NEXT(thread->at, cx);
    sim_cell_set(&program->data1, 1);
    release_first(program, false);
    NEXT(thread->at, cx);
    TAKE(thread->at, &program->lock2, thread->number, cx);
    NEXT(thread->at, cx);
    thread->t1 = sim_cell_get(&program->data1);
    NEXT(thread->at, cx);
    sim_cell_set(&program->data2, thread->t1 + 1);
    lock_release(&program->lock2);
    release_first(program, true);
    RT_END(thread->at);
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    TAKE(thread->at, &program->lock1, thread->number, cx);
    NEXT(thread->at, cx);
    if (sim_cell_get(&program->data1) == 0) {
        lock_release(&program->lock1);
        return RT_READY;
    }
    NEXT(thread->at, cx);
    thread->t1 = sim_cell_get(&program->data1);
    release_first(program, false);
    NEXT(thread->at, cx);
    TAKE(thread->at, &program->lock2, thread->number, cx);
    NEXT(thread->at, cx);
    thread->t2 = sim_cell_get(&program->data2);
    lock_release(&program->lock2);
    release_first(program, true);
    SIM_ALWAYS(thread->t2 == thread->t1 + 1);
    RT_END(thread->at);
}

static void
make(struct sim_world *world, bool over_both)
{
    uint32_t writers = (uint32_t)sim_param(world, "writers");
    uint32_t threads = writers + (uint32_t)sim_param(world, "readers");
    struct starter *starter = starter_new(world, threads);
    struct program *program = sim_new(world, struct program);
    program->over_both = over_both;
    sim_cell_init(world, &program->data1, "data1", 0);
    sim_cell_init(world, &program->data2, "data2", 0);
    lock_init(world, &program->lock1, "lock 1", threads);
    lock_init(world, &program->lock2, "lock 2", threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct thread *thread = sim_new(world, struct thread);
        bool writes = i < writers;
        thread->program = program;
        thread->number = i;
        starter_add(starter, &thread->task, writes ? writer_poll : reader_poll,
                writes ? "writer" : "reader");
    }
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

#define ABOUT "Writers write two numbers under two locks while readers read both."
#define THREADS(id, writers, readers) \
    static const struct sim_param threads_##id[] = {{"writers", "writers", (writers), 1, 300}, \
            {"readers", "readers", (readers), 1, 300}, {0}}
#define BROKEN(id, title, writers, readers) \
    THREADS(id, writers, readers); \
    SIM_SCENARIO(twostage_##id, .name = (title), .about = ABOUT, .setup = setup, \
            .params = threads_##id, .expect = SIM_VERDICT_INVARIANT, .declared = true)

BROKEN(2, "kernel/twostage-2/broken", 1, 1);
BROKEN(20, "kernel/twostage-20/broken", 10, 10);
BROKEN(50, "kernel/twostage-50/broken", 40, 10);
BROKEN(100, "kernel/twostage-100/broken", 99, 1);
BROKEN(20_lone, "kernel/twostage-20-lone/broken", 19, 1);
BROKEN(50_lone, "kernel/twostage-50-lone/broken", 49, 1);
SIM_SCENARIO(twostage_2_fixed, .name = "kernel/twostage-2/fixed",
        .about = "As twostage-2/broken, and the first lock is held over both.",
        .setup = setup_fixed, .params = threads_2, .declared = true);
