/*
 * kernel.h -- what the programs of the literature, written as tasks, have in common.
 *
 * A thread of such a program is a task that does one thing a poll: an access to a shared cell,
 * taking a lock, starting a thread. Then it yields (NEXT), so exactly the orders of these
 * operations are possible: there is a point of scheduling before each access, each lock, each
 * start, as in the tools that these programs were measured with. Releasing a lock is part of the
 * access before it. The main task does not wait for its threads: the run does.
 *
 *      static rt_poll
 *      setter_poll(struct rt_task *task, struct rt_cx *cx)
 *      {
 *          struct setter *setter = rt_container_of(task, struct setter, task);
 *          RT_BEGIN(setter->at);
 *          sim_cell_set(&setter->program->a, 1);
 *          NEXT(setter->at, cx);
 *          sim_cell_set(&setter->program->b, -1);
 *          RT_END(setter->at);
 *      }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCENARIOS_KERNELS_KERNEL_H
#define SCENARIOS_KERNELS_KERNEL_H

#include "runtime/task/await.h"
#include "sim/rewake.h"

/* Yields; the next poll continues after it. */
#define NEXT(at, cx) \
    rt_cx_reenqueue(cx); \
    RT_YIELD_HERE(at)

/* ---- Threads, and a main that starts them one after the other. ------------------------------- */

struct starter {
    struct rt_task task;
    struct sim_rt *rt;
    struct rt_task **threads; /* In the order of their starts. */
    uint32_t count;
    uint32_t started;
};

static rt_poll
starter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct starter *starter = rt_container_of(task, struct starter, task);
    sim_spawn(starter->rt, starter->threads[starter->started++]);
    if (starter->started == starter->count) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* A main that starts at most `threads_max` threads, at least one: those that are added during
 * setup. */
static inline struct starter *
starter_new(struct sim_world *world, uint32_t threads_max)
{
    struct sim_rt_options options = {.capacity = threads_max + 1};
    struct starter *starter = sim_new(world, struct starter);
    starter->rt = sim_rt_new(world, &options);
    starter->threads = sim_alloc(world, threads_max * sizeof(struct rt_task *));
    rt_task_init(&starter->task, starter_poll, NULL, "main");
    sim_spawn(starter->rt, &starter->task);
    return starter;
}

static inline void
starter_add(struct starter *starter, struct rt_task *thread, rt_poll_fn poll, const char *name)
{
    rt_task_init(thread, poll, NULL, name);
    starter->threads[starter->count++] = thread;
}

/* ---- A lock: releasing it draws the next owner from the waiting threads. --------------------- */

#define NO_THREAD UINT32_MAX

struct lock {
    struct sim_cell held; /* 0: free; else the owner's number plus 1. */
    struct sim_world *world;
    struct rt_slot *waiters; /* One for each thread that may take it. */
    uint32_t threads;
    uint32_t next; /* The next owner that was woken, until it has taken the lock; or NO_THREAD. */
};

static inline void
lock_init(struct sim_world *world, struct lock *lock, const char *name, uint32_t threads)
{
    sim_cell_init(world, &lock->held, name, 0);
    lock->world = world;
    lock->waiters = sim_alloc(world, threads * sizeof(struct rt_slot));
    lock->threads = threads;
    lock->next = NO_THREAD;
    for (uint32_t i = 0; i < threads; i++) {
        rt_slot_init(&lock->waiters[i]);
    }
}

/* READY: `thread` owns the lock. Its events are recorded at `here`, as if the code were there:
 * two locks must not look alike because they share these lines. */
static inline rt_poll
lock_poll(struct lock *lock, uint32_t thread, struct rt_cx *cx, const struct rt_site *here)
{
    if (lock->next == thread) {
        lock->next = NO_THREAD;
        sim_cell_set_at(&lock->held, thread + 1, here);
        return RT_READY;
    }
    if (sim_cell_cas_at(&lock->held, 0, thread + 1, here)) {
        return RT_READY;
    }
    rt_slot_replace_at(&lock->waiters[thread], cx, "the lock", here, here);
    return RT_PENDING;
}

/* Draws one of `count`; a decision has at most 64 alternatives. */
static inline uint32_t
lock_draw(struct lock *lock, uint32_t count)
{
    uint32_t first = 0;
    while (count > 64) {
        uint32_t half = count / 2;
        bool lower = sim_pick(lock->world, 2) == 0;
        first += lower ? 0 : half;
        count = lower ? half : count - half;
    }
    return first + sim_pick(lock->world, count);
}

#define lock_release(lock) lock_release_at((lock), RT_HERE)
static inline void
lock_release_at(struct lock *lock, const struct rt_site *here)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < lock->threads; i++) {
        waiting += !rt_slot_empty(&lock->waiters[i]);
    }
    if (waiting == 0) {
        sim_cell_set_at(&lock->held, 0, here);
        return;
    }
    uint32_t drawn = lock_draw(lock, waiting);
    uint32_t next = 0;
    while (rt_slot_empty(&lock->waiters[next]) || drawn-- > 0) {
        next++;
    }
    lock->next = next;
    (void)rt_slot_wake_at(&lock->waiters[next], here);
}

/* The access after it has a separate point of scheduling: NEXT, on the next line. */
#define TAKE(at, lock, thread, cx) RT_AWAIT_HERE(at, lock_poll((lock), (thread), (cx), RT_HERE))

#endif
