/*
 * tokio-3978.c -- a task woken during the shutdown of its set stays in the queue, which it keeps
 * alive.
 *
 * tokio-rs/tokio#3978, LocalSet.
 *
 * The bug. Tasks woken from elsewhere are put into a queue that the set shares with its wakers. A
 * dropped set emptied the queue and then shut its tasks down. A task whose destructor woke another
 * put that one into the queue again; the queue was not emptied again, so the task kept the queue
 * alive, and the queue the task.
 *
 * The fix. The queue is closed when it is emptied, and a late wake drops the task's count:
 * queue_push below.
 *
 * Here. A logger waits for lines; a session writes them and, at its end, wakes the logger for the
 * rest. If the session has ended before the set is dropped, all is well. A session that is dropped
 * with the set wakes the logger too late. The logger owns a socket's pollable; a logger that is
 * never freed never returns it.
 *
 * Cause: not-a-wake in queue_push or set_drop or set_poll
 * Must end in: leak. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TICKS 10u

struct task {
    uint32_t references; /* The set's, and the queue's. */
    bool queued;
    struct rt_pollable socket; /* The logger's: returned when it is freed. */
};

struct set {
    struct task *logger;
    struct task *session;
    struct task *queue; /* Has space for the logger; the session is never woken from elsewhere. */
    bool closed;
    bool broken;
    bool session_over;
    uint32_t lines;
    /* Drives the set. */
    struct sim_source *network;
    struct rt_task session_task;
    struct rt_task set_task;
    struct rt_sleep session_sleep;
    struct rt_sleep tick;
    uint32_t ticks;
};

static void
task_release(struct task *task)
{
    if (--task->references == 0) {
        rt_pollable_drop(&task->socket);
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

static rt_poll
session_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct set *set = rt_container_of(task, struct set, session_task);
    RT_AWAIT(rt_sleep_poll(&set->session_sleep, cx));
    if (!set->closed) {
        session_end(set);
    }
    return RT_READY;
}

static rt_poll
set_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct set *set = rt_container_of(task, struct set, set_task);
    if (set->ticks == 0) {
        SIM_ALWAYS(sim_source_subscribe(set->network, &set->logger->socket) == RT_OK);
    }
    while (set->ticks < TICKS) {
        if (set->ticks == 0) {
            set->ticks = 1;
            rt_sleep_init(&set->tick, RT_MS);
        }
        RT_AWAIT(rt_sleep_poll(&set->tick, cx));
        rt_sleep_init(&set->tick, RT_MS);
        set->ticks++;
        set->lines += set->queue != NULL;
        queue_empty(set); /* Runs what was woken. */
    }
    set_drop(set);
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static struct task *
task_new(struct sim_world *world)
{
    struct task *task = sim_new(world, struct task);
    task->references = 1;
    return task;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct set *set = sim_new(world, struct set);
    set->broken = broken;
    set->logger = task_new(world);
    set->session = task_new(world);
    set->network = sim_source_new(sim_rt_host(rt), "network");
    rt_sleep_init(&set->session_sleep, sim_range(world, 1 * RT_MS, 20 * RT_MS));
    rt_task_init(&set->set_task, set_poll, NULL, "local set");
    rt_task_init(&set->session_task, session_poll, NULL, "session");
    sim_spawn(rt, &set->set_task);
    sim_spawn(rt, &set->session_task);
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

SIM_SCENARIO(zoo_tokio_3978_broken, .name = "zoo/tokio-3978/broken", .bug = "G08",
        .reference = "tokio-rs/tokio#3978",
        .about = "A task woken during the shutdown of its set is kept alive by the set's queue.",
        .setup = setup_broken, .expect = SIM_VERDICT_LEAK);
SIM_SCENARIO(zoo_tokio_3978_fixed, .name = "zoo/tokio-3978/fixed",
        .about = "A closed queue drops a task that is woken late.", .setup = setup_fixed);
