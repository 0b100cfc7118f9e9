/*
 * g08.c -- a task woken while its local set shuts down stays in the queue, which it keeps alive.
 *
 * tokio-rs/tokio#3978, LocalSet.
 *
 * The bug. Tasks woken from elsewhere go into a queue that the set shares with its wakers. A set
 * that was dropped emptied the queue and shut its tasks down, in this order. A task whose
 * destructor woke another put that one into the queue again; nobody emptied it any more, the task
 * held the queue, and the queue the task.
 *
 * The fix. The queue is closed when it is emptied, and a wake that comes late drops the task's
 * count: queue_push below.
 *
 * Here. A logger waits for lines, a session writes them and, at its end, wakes the logger for what
 * is left. A session that has ended before the set goes away: all is well. One that is dropped with
 * the set wakes the logger too late. Tasks are malloc's, and one that is never freed is missed.
 *
 * Must end in: leak. Fails on the dullest run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

struct task {
    uint32_t references; /* The set's, and the queue's. */
    bool queued;
};

struct set {
    struct task *logger;
    struct task *session;
    struct task *queue; /* Has room for the logger; the session is never woken from elsewhere. */
    bool closed;
    bool broken;
    bool session_over;
    uint64_t session_ns;
    uint32_t lines;
};

static void
task_release(struct task *task)
{
    if (--task->references == 0) {
        free(task);
    }
}

/* Takes a count of the task. */
static void
queue_push(struct set *set, struct task *task)
{
    if (set->closed && !set->broken) {
        return;
    }
    if (!task->queued) {
        task->queued = true;
        task->references++;
        set->queue = task;
    }
}

static void
queue_empty(struct set *set)
{
    struct task *task = set->queue;
    set->queue = NULL;
    if (task != NULL) {
        task->queued = false;
        task_release(task);
    }
}

/* The session's end, by itself or with the set. */
static void
session_end(struct set *set)
{
    set->session_over = true;
    queue_push(set, set->logger);
    task_release(set->session);
}

static void
set_drop(struct set *set)
{
    queue_empty(set);
    set->closed = true;
    if (!set->session_over) {
        session_end(set);
    }
    task_release(set->logger);
}

static void
session_main(struct sim_world *world, void *argument)
{
    struct set *set = argument;
    sim_sleep(world, set->session_ns);
    if (!set->closed) {
        session_end(set);
    }
}

static void
set_main(struct sim_world *world, void *argument)
{
    struct set *set = argument;
    for (uint32_t i = 0; i < 10; i++) {
        sim_sleep(world, RT_MS);
        set->lines += set->queue != NULL;
        queue_empty(set); /* Runs what was woken. */
    }
    set_drop(set);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static struct task *
task_new(void)
{
    struct task *task = malloc(sizeof(*task));
    SIM_ALWAYS(task != NULL);
    *task = (struct task){.references = 1};
    return task;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct set *set = sim_new(world, struct set);
    set->broken = broken;
    set->logger = task_new();
    set->session = task_new();
    set->session_ns = sim_range(world, 1 * RT_MS, 20 * RT_MS);
    (void)sim_loop_new(world, "local set", set_main, set);
    (void)sim_loop_new(world, "session", session_main, set);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_g08_broken, .name = "zoo/g08/broken", .bug = "G08",
        .reference = "tokio-rs/tokio#3978",
        .about = "A task woken during the shutdown of its set is kept by the set's queue.",
        .setup = setup_broken, .expect = SIM_VERDICT_LEAK);
SIM_SCENARIO(zoo_g08_fixed, .name = "zoo/g08/fixed",
        .about = "A closed queue lets go of a task that is woken late.", .setup = setup_fixed);
