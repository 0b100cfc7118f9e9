/*
 * e_notified.c -- A small executor whose tasks have a NOTIFIED flag. One task drains a log pipe
 * and waits for a rotation request from a signal thread as well.
 *
 * Cause: The executor clears the task's notified flag after its poll instead of before it, so a
 * wake that arrives while the task is polled is erased.
 * Where: executor_poll_task
 * Kind: notified flag cleared after the poll
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define LINES 3

static bool fixed;

struct task {
    bool notified;
    bool finished;
};

struct program {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_pollable bell;
    struct task task;
    int wanted; /* Rotations requested. */
    int rotated;
    struct task *waiter;
    bool stuck_guard;
};

static void
wake(struct program *p)
{
    if (p->waiter != NULL) {
        sim_foreign_fire(&p->waiter);
        p->waiter->notified = true;
        p->waiter = NULL;
        rt_host_notify(p->host);
    }
}

static bool
rotate_poll(struct program *p)
{
    p->waiter = &p->task;
    sim_foreign_store(&p->task, &p->waiter, "a rotation request");
    while (p->rotated < p->wanted) {
        p->rotated++;
        SIM_PROGRESS();
    }
    (void)rt_host_now(p->host); /* A time stamp for the log. */
    return p->rotated == LINES;
}

static void
executor_poll_task(struct program *p)
{
    if (fixed) {
        p->task.notified = false;
    }
    sim_foreign_poll(&p->task);
    bool finished = rotate_poll(p);
    p->task.finished = finished;
    if (!fixed) {
        p->task.notified = false; /* Where. */
    }
    sim_foreign_polled(&p->task, finished);
}

static void
again(void *program, void *task)
{
    (void)task;
    executor_poll_task(program);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct program *p = argument;
    struct rt_pollable *list[1] = {&p->bell};
    uint32_t ready[1];
    uint32_t count;
    (void)world;
    while (!p->task.finished) {
        if (p->task.notified) {
            executor_poll_task(p);
            continue;
        }
        count = 1;
        SIM_ALWAYS(rt_host_poll(p->host, list, 1, ready, &count) == RT_OK);
    }
    rt_pollable_drop(&p->bell);
}

static void
signal_main(struct sim_world *world, void *argument)
{
    struct program *p = argument;
    for (int i = 0; i < LINES; i++) {
        sim_sleep(world, sim_range(world, 100, 2000));
        p->wanted++;
        wake(p);
    }
}

static void
setup(struct sim_world *world)
{
    struct program *p = sim_new(world, struct program);
    p->world = world;
    p->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(p->host, RT_SUBSCRIBE_NOTIFY, 0, &p->bell) == RT_OK);
    p->task.notified = true;
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, p);
    sim_foreign_spawn(sim_foreign_new(loop, again, p), &p->task, "rotator");
    sim_loop_new(world, "signals", signal_main, p);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/e-notified/broken",
        .about = "A task whose notified flag is cleared around a poll.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/e-notified/fixed",
        .about = "A task whose notified flag is cleared around a poll.", .setup = setup_fixed);
