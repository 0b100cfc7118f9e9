/*
 * kernel.h -- programs of the literature, told as tasks: what they have in common.
 *
 * A thread of such a program is a task that does one thing a poll: an access to a shared cell,
 * taking a lock, starting a thread. Then it gives way (NEXT), so every order of these things can
 * come about, and no other: there is a point of scheduling before each access, each lock, each
 * start, as there is in the tools that these programs were measured with. Releasing a lock is
 * part of the access before it. Who started the threads does not wait for them: the run does.
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
#ifndef KERNEL_H
#define KERNEL_H

#include "runtime/task/await.h"
#include "sim/rewake.h"

/* Gives way; the next poll goes on behind it. */
#define NEXT(at, cx) \
    rt_cx_reenqueue(cx); \
    RT_YIELD_HERE(at)

/* ---- Threads, and who starts them one after the other. --------------------------------------- */

struct starter {
    struct rt_task task;
    struct sim_rt *rt;
    struct rt_task **threads; /* In the order in which they are started. */
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

/* ---- A lock that whoever comes first gets: nothing is handed over. --------------------------- */

struct lock {
    struct sim_cell held;
    struct rt_slot *waiters; /* One for each thread that may take it. */
    uint32_t threads;
};

static inline void
lock_init(struct sim_world *world, struct lock *lock, const char *name, uint32_t threads)
{
    sim_cell_init(world, &lock->held, name, 0);
    lock->waiters = sim_alloc(world, threads * sizeof(struct rt_slot));
    lock->threads = threads;
    for (uint32_t i = 0; i < threads; i++) {
        rt_slot_init(&lock->waiters[i]);
    }
}

/* READY: `thread` has it. Else asked again after each release. */
static inline rt_poll
lock_poll(struct lock *lock, uint32_t thread, struct rt_cx *cx)
{
    if (sim_cell_cas(&lock->held, 0, 1)) {
        return RT_READY;
    }
    rt_slot_replace(&lock->waiters[thread], cx, "the lock");
    return RT_PENDING;
}

static inline void
lock_release(struct lock *lock)
{
    sim_cell_set(&lock->held, 0);
    for (uint32_t i = 0; i < lock->threads; i++) {
        if (!rt_slot_empty(&lock->waiters[i])) {
            (void)rt_slot_wake(&lock->waiters[i]);
        }
    }
}

/* The access behind it has a point of scheduling of its own: NEXT, on the next line. */
#define TAKE(at, lock, thread, cx) RT_AWAIT_HERE(at, lock_poll((lock), (thread), (cx)))

#endif
