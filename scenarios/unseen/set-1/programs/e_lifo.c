/*
 * e_lifo.c -- A scheduler with a run queue and a LIFO slot for the task that was woken last by
 * the running task (a ping-pong optimisation). An outside thread starts the exchange.
 *
 * Cause: When a second task is woken during a poll, the task that was in the LIFO slot is
 * overwritten instead of being moved to the run queue.
 * Where: schedule
 * Kind: runnable task dropped
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TASKS 3

static bool fixed;

struct scheduler;

struct task {
    struct scheduler *scheduler;
    int number;
    bool queued;
    bool finished;
};

struct scheduler {
    struct sim_fds *os;
    int bell;
    struct task tasks[TASKS];
    struct task *queue[8];
    uint32_t head;
    uint32_t tail;
    struct task *lifo;
    bool request; /* From outside, for task 0. */
    bool part[2]; /* Task 0 to tasks 1 and 2. */
};

static void
enqueue(struct scheduler *scheduler, struct task *task)
{
    scheduler->queue[scheduler->tail++ % 8] = task;
}

/* Wakes a task from inside another one. */
static void
schedule(struct scheduler *scheduler, struct task *task)
{
    if (task->queued) {
        return;
    }
    task->queued = true;
    if (fixed && scheduler->lifo != NULL) {
        enqueue(scheduler, scheduler->lifo);
    }
    scheduler->lifo = task; /* Where. */
}

static bool
task_poll(struct task *task)
{
    struct scheduler *scheduler = task->scheduler;
    if (task->number == 0) {
        if (!scheduler->request) {
            sim_foreign_store(task, &scheduler->request, "a request");
            return false;
        }
        for (int i = 0; i < 2; i++) {
            scheduler->part[i] = true;
            sim_foreign_fire(&scheduler->part[i]);
            schedule(scheduler, &scheduler->tasks[1 + i]);
        }
        return true;
    }
    if (!scheduler->part[task->number - 1]) {
        sim_foreign_store(task, &scheduler->part[task->number - 1], "its part");
        return false;
    }
    return true;
}

static void
run(struct task *task)
{
    task->queued = false;
    sim_foreign_poll(task);
    task->finished = task_poll(task);
    sim_foreign_polled(task, task->finished);
}

static void
again(void *scheduler, void *task)
{
    (void)scheduler;
    run(task);
}

static void
scheduler_main(struct sim_world *world, void *argument)
{
    struct scheduler *scheduler = argument;
    struct sim_fd_event event;
    uint64_t count;
    (void)world;
    for (;;) {
        uint32_t finished = 0;
        struct task *next = scheduler->lifo;
        scheduler->lifo = NULL;
        if (next == NULL && scheduler->head != scheduler->tail) {
            next = scheduler->queue[scheduler->head++ % 8];
        }
        if (next != NULL) {
            run(next);
            continue;
        }
        for (int i = 0; i < TASKS; i++) {
            finished += scheduler->tasks[i].finished;
        }
        if (finished == TASKS) {
            break;
        }
        sim_fd_wait(scheduler->os, &event, 1, SIM_NEVER);
        if (sim_fd_read(scheduler->os, scheduler->bell, &count, sizeof(count)) > 0 &&
                !scheduler->tasks[0].finished && scheduler->request) {
            enqueue(scheduler, &scheduler->tasks[0]);
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct scheduler *scheduler = argument;
    sim_sleep(world, sim_range(world, 0, 1000));
    scheduler->request = true;
    sim_foreign_fire(&scheduler->request);
    SIM_ALWAYS(sim_fd_notify(scheduler->os, scheduler->bell) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[TASKS] = {"splitter", "left", "right"};
    struct scheduler *scheduler = sim_new(world, struct scheduler);
    scheduler->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(scheduler->os, "bell", &scheduler->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(scheduler->os, scheduler->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "scheduler", scheduler_main, scheduler);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, scheduler);
    for (int i = 0; i < TASKS; i++) {
        scheduler->tasks[i] = (struct task){.scheduler = scheduler, .number = i, .queued = true};
        sim_foreign_spawn(foreign, &scheduler->tasks[i], names[i]);
        enqueue(scheduler, &scheduler->tasks[i]);
    }
    sim_loop_new(world, "client", client_main, scheduler);
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

SIM_SCENARIO(form_broken, .name = "unseen/e-lifo/broken", .about = "A scheduler with a LIFO slot.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/e-lifo/fixed", .about = "A scheduler with a LIFO slot.",
        .setup = setup_fixed);
