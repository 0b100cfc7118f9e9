/*
 * reorder.c -- SCTBench's reorder_N: N - 1 threads set a, then b; one thread looks at both.
 *
 *      setter       a = 1; b = -1;
 *      checker      assert((a == 0 && b == 0) || (a == 1 && b == -1));
 *
 * It goes wrong when the checker, with its two or three looks, comes after the first a = 1 and
 * before the first b = -1. Whoever picks threads at random finds that the less often, the more
 * setters there are; one that asks for "b as it was at the start, read by the checker" finds it
 * in a few runs, however many there are.
 *
 * In the fixed form setters and checker hold a lock.
 *
 * Reference: mc-imperial/sctbench, concurrent-software-benchmarks/reorder_N_bad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/kernels/kernel.h"

struct program {
    struct sim_cell a;
    struct sim_cell b;
    struct lock lock;
};

struct thread {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    uint32_t number;
    int64_t a;
};

static rt_poll
setter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    sim_cell_set(&program->a, 1);
    NEXT(thread->at, cx);
    sim_cell_set(&program->b, -1);
    RT_END(thread->at);
}

/* One look at a time, and no further than C looks. */
static rt_poll
checker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    if (sim_cell_get(&program->a) == 0) {
        NEXT(thread->at, cx);
        if (sim_cell_get(&program->b) == 0) {
            return RT_READY;
        }
    }
    NEXT(thread->at, cx);
    thread->a = sim_cell_get(&program->a);
    SIM_ALWAYS(thread->a == 1);
    NEXT(thread->at, cx);
    SIM_ALWAYS(sim_cell_get(&program->b) == -1);
    RT_END(thread->at);
}

static rt_poll
locked_setter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    TAKE(thread->at, &program->lock, thread->number, cx);
    NEXT(thread->at, cx);
    sim_cell_set(&program->a, 1);
    NEXT(thread->at, cx);
    sim_cell_set(&program->b, -1);
    lock_release(&program->lock);
    RT_END(thread->at);
}

static rt_poll
locked_checker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct thread *thread = rt_container_of(task, struct thread, task);
    struct program *program = thread->program;
    RT_BEGIN(thread->at);
    TAKE(thread->at, &program->lock, thread->number, cx);
    NEXT(thread->at, cx);
    thread->a = sim_cell_get(&program->a);
    NEXT(thread->at, cx);
    SIM_ALWAYS(sim_cell_get(&program->b) == -thread->a);
    lock_release(&program->lock);
    RT_END(thread->at);
}

static void
make(struct sim_world *world, rt_poll_fn setter, rt_poll_fn checker)
{
    uint32_t threads = (uint32_t)sim_param(world, "threads");
    struct starter *starter = starter_new(world, threads);
    struct program *program = sim_new(world, struct program);
    sim_cell_init(world, &program->a, "a", 0);
    sim_cell_init(world, &program->b, "b", 0);
    lock_init(world, &program->lock, "the lock", threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct thread *thread = sim_new(world, struct thread);
        bool is_setter = i + 1 < threads;
        thread->program = program;
        thread->number = i;
        starter_add(starter, &thread->task, is_setter ? setter : checker,
                is_setter ? "setter" : "checker");
    }
}

static void
setup(struct sim_world *world)
{
    make(world, setter_poll, checker_poll);
}

static void
setup_fixed(struct sim_world *world)
{
    make(world, locked_setter_poll, locked_checker_poll);
}

#define ABOUT "Setters set a, then b, while a checker looks at both."
#define THREADS(n) \
    static const struct sim_param threads_##n[] = { \
            {"threads", "threads, the checker among them", (n), 2, 200}, {0}}
#define BROKEN(n, title) \
    THREADS(n); \
    SIM_SCENARIO(reorder_##n, .name = (title), .about = ABOUT, .setup = setup, \
            .params = threads_##n, .expect = SIM_VERDICT_INVARIANT, .declared = true)

BROKEN(3, "kernel/reorder-3/broken");
BROKEN(5, "kernel/reorder-5/broken");
BROKEN(10, "kernel/reorder-10/broken");
BROKEN(20, "kernel/reorder-20/broken");
BROKEN(50, "kernel/reorder-50/broken");
BROKEN(100, "kernel/reorder-100/broken");
SIM_SCENARIO(reorder_3_fixed, .name = "kernel/reorder-3/fixed",
        .about = "As reorder-3/broken, and setters and checker hold a lock.", .setup = setup_fixed,
        .params = threads_3, .declared = true);
