/*
 * e_park.c -- A worker thread with a run queue; a submitter thread pushes jobs and rings an
 * eventfd if the worker has announced that it sleeps.
 *
 * Cause: The worker announces its sleep only after it has found the queue empty and does not
 * look at the queue again, so a job pushed in between rings no bell.
 * Where: worker_main
 * Kind: flag set after the check
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define JOBS 3

static bool fixed;

struct task {
    struct worker *worker;
    bool queued;
    int due; /* Jobs handed to it. */
    int done;
};

struct worker {
    struct sim_fds *os;
    int bell;
    bool sleeping;
    struct task task;
};

static void
task_run(struct task *task)
{
    task->queued = false;
    sim_foreign_poll(task);
    while (task->done < task->due) {
        task->done++;
        SIM_PROGRESS();
    }
    if (task->done < JOBS) {
        sim_foreign_store(task, &task->due, "a job");
    }
    sim_foreign_polled(task, task->done == JOBS);
}

static void
again(void *worker, void *task)
{
    (void)worker;
    task_run(task);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct sim_fd_event event;
    uint64_t count;
    for (;;) {
        while (worker->task.queued) {
            task_run(&worker->task);
        }
        if (worker->task.done == JOBS) {
            break;
        }
        sim_loop_pause(world);   /* Preempted. */
        worker->sleeping = true; /* Where. */
        if (fixed && worker->task.queued) {
            worker->sleeping = false;
            continue;
        }
        sim_fd_wait(worker->os, &event, 1, SIM_NEVER);
        worker->sleeping = false;
        sim_fd_read(worker->os, worker->bell, &count, sizeof(count));
    }
}

static void
submitter_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    for (int i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 0, 400));
        worker->task.due++;
        sim_foreign_fire(&worker->task.due);
        worker->task.queued = true;
        if (worker->sleeping) {
            SIM_ALWAYS(sim_fd_notify(worker->os, worker->bell) == RT_OK);
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct worker *worker = sim_new(world, struct worker);
    worker->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(worker->os, "bell", &worker->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(worker->os, worker->bell, SIM_FD_IN, 0) == RT_OK);
    worker->task = (struct task){.worker = worker, .queued = true};
    struct sim_loop *loop = sim_loop_new(world, "worker", worker_main, worker);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, worker);
    sim_foreign_spawn(foreign, &worker->task, "jobs");
    sim_loop_new(world, "submitter", submitter_main, worker);
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

SIM_SCENARIO(form_broken, .name = "unseen/e-park/broken",
        .about = "A worker that parks, and a thread that submits.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/e-park/fixed",
        .about = "A worker that parks, and a thread that submits.", .setup = setup_fixed);
