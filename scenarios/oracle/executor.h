/*
 * executor.h -- a small executor for programs that do not use rewake's runtime.
 *
 * A run queue and a bell; between polls it sleeps in the fake host. It reports what it does
 * through sim/bind/foreign.h. It is correct: the bell rings for each task that is queued while the
 * executor sleeps, and it sleeps only when its queue is empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCENARIOS_ORACLE_EXECUTOR_H
#define SCENARIOS_ORACLE_EXECUTOR_H

#include "sim/rewake.h"

#define TASKS_MAX 8

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task); /* True: it has finished. */
    bool queued;
    bool finished;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell;
    struct sim_foreign *foreign;
    struct task *queue[TASKS_MAX]; /* A ring; each task is in it once at most. */
    uint32_t head;
    uint32_t tail;
    uint32_t unfinished;
    bool asleep;
};

/* From any thread. */
static inline void
task_wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    executor->queue[executor->tail++ % TASKS_MAX] = task;
    if (executor->asleep) {
        rt_host_notify(executor->host);
    }
}

static inline void
task_run(struct task *task)
{
    if (task->finished) {
        return;
    }
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    task->executor->unfinished -= task->finished;
    sim_foreign_polled(task, task->finished);
}

static inline void
executor_sleep(struct executor *executor)
{
    struct rt_pollable *list[] = {&executor->bell};
    uint32_t ready[1];
    uint32_t count = 1;
    executor->asleep = true;
    SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
    executor->asleep = false;
}

static inline void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    while (executor->unfinished > 0) {
        if (executor->head == executor->tail) {
            executor_sleep(executor);
            continue;
        }
        struct task *task = executor->queue[executor->head++ % TASKS_MAX];
        task->queued = false;
        task_run(task);
    }
    rt_pollable_drop(&executor->bell);
}

/* The oracle's question. */
static inline void
executor_again(void *executor, void *task)
{
    (void)executor;
    task_run(task);
}

static inline void
executor_init(struct executor *executor, struct sim_world *world)
{
    executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    executor->foreign = sim_foreign_new(loop, executor_again, executor);
}

static inline void
executor_spawn(struct executor *executor, struct task *task, const char *name,
        bool (*poll)(struct task *task))
{
    *task = (struct task){.executor = executor, .poll = poll};
    executor->unfinished++;
    sim_foreign_spawn(executor->foreign, task, name);
    task_wake(task);
}

/* ---- A slot for one waker. ------------------------------------------------------------------- */

struct event {
    struct task *waiter; /* NULL: no task. */
};

/* Macros, so that reports name the line that waits, and the one that wakes. */
#define event_wait(event, task, what) \
    ((event)->waiter = (task), sim_foreign_store((task), (event), (what)))
#define event_fire(event) (sim_foreign_fire(event), event_wake(event))

static inline void
event_wake(struct event *event)
{
    struct task *waiter = event->waiter;
    event->waiter = NULL;
    if (waiter != NULL) {
        task_wake(waiter);
    }
}

#endif
