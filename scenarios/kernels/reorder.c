/*
 * reorder.c -- SCTBench's reorder_N: most threads set a, then b; the others check both.
 *
 *      setter       a = 1; b = -1;
 *      checker      assert((a == 0 && b == 0) || (a == 1 && b == -1));
 *
 * It fails when a checker, with its two or three reads, runs after the first a = 1 and before the
 * first b = -1. As in the originals there is one checker among N threads, but ten in reorder-20 and
 * reorder-50. A random choice of threads finds that less often the more setters there are; a
 * constraint "b as it was at the start, read by the checker" finds it in a few runs, however many
 * there are.
 *
 * In the fixed form setters and checker hold a lock.
 *
 * Reference: mc-imperial/sctbench, concurrent-software-benchmarks/reorder_N_bad; wcventure/PERIOD,
 * evaluation/CS/reorder_50, reorder_100.
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

/* One read at a time, in the order and number of C. */
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
    uint32_t setters = (uint32_t)sim_param(world, "setters");
    uint32_t threads = setters + (uint32_t)sim_param(world, "checkers");
    struct starter *starter = starter_new(world, threads);
    struct program *program = sim_new(world, struct program);
    sim_cell_init(world, &program->a, "a", 0);
    sim_cell_init(world, &program->b, "b", 0);
    lock_init(world, &program->lock, "the lock", threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct thread *thread = sim_new(world, struct thread);
        bool is_setter = i < setters;
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

#define ABOUT "Setters set a, then b, while checkers check both."
#define THREADS(n, setters, checkers) \
    static const struct sim_param threads_##n[] = {{"setters", "setters", (setters), 1, 100}, \
            {"checkers", "checkers", (checkers), 1, 100}, {0}}
#define BROKEN(n, title, setters, checkers) \
    THREADS(n, setters, checkers); \
    SIM_SCENARIO(reorder_##n, .name = (title), .about = ABOUT, .setup = setup, \
            .params = threads_##n, .expect = SIM_VERDICT_INVARIANT, .declared = true)

BROKEN(3, "kernel/reorder-3/broken", 2, 1);
BROKEN(5, "kernel/reorder-5/broken", 4, 1);
BROKEN(10, "kernel/reorder-10/broken", 9, 1);
BROKEN(20, "kernel/reorder-20/broken", 10, 10);
BROKEN(50, "kernel/reorder-50/broken", 40, 10);
BROKEN(100, "kernel/reorder-100/broken", 99, 1);
SIM_SCENARIO(reorder_3_fixed, .name = "kernel/reorder-3/fixed",
        .about = "As reorder-3/broken, and setters and checkers hold a lock.", .setup = setup_fixed,
        .params = threads_3, .declared = true);
