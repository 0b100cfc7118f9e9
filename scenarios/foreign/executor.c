/*
 * executor.c -- a foreign runtime: a small executor, with one wake missing.
 *
 * Nothing here uses rewake's own runtime. The executor has its own tasks and its own wakers; it
 * sleeps in the fake host's poll (runtime/io/host.h), and reports its steps to the simulator
 * (sim/bind/foreign.h). sim/docs/tutorial.md builds this file line by line.
 *
 * The bug. In one round each woken task is polled, then the executor goes to sleep. A wake for a
 * task that the round has already passed only sets a flag: it does not ring the bell, because the
 * executor does not sleep yet; and the executor goes to sleep without checking the flags again. If
 * the host reports no further event, that task sleeps forever.
 *
 * The fix. Rounds, until one in which no task was woken.
 *
 * Here. `job` waits for what a worker thread computes, and `client` reads two lines of a
 * connection. Most of the time the worker is done while the executor sleeps, and rings the bell. It
 * has to be done just when `client` has been polled for the last line.
 *
 * Cause: coalesced in worker_main or never-fired in worker_main
 * Must end in: lost-wakeup of `job`. Fails on the baseline run: no, there the executor sleeps when
 * the worker is done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

/* ---- The executor: forty lines, as many programs have them. ---------------------------------- */

#define TASKS_MAX 8

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task); /* True: it has finished. */
    struct rt_pollable *socket;      /* The pollable that it waits for; NULL: none. */
    bool woken;
    bool finished;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell; /* Signalled by a wake while the executor sleeps. */
    struct task *tasks[TASKS_MAX];
    uint32_t count;
    bool asleep;
    bool checks_again; /* The fix. */
};

/* Called from any thread. */
static void
task_wake(struct task *task)
{
    task->woken = true;
    if (task->executor->asleep) {
        rt_host_notify(task->executor->host);
    }
}

static void
task_run(struct task *task)
{
    task->woken = false;
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    sim_foreign_polled(task, task->finished);
}

/* Polls all woken tasks; false: none was woken. */
static bool
executor_round(struct executor *executor)
{
    bool any = false;
    for (uint32_t i = 0; i < executor->count; i++) {
        if (executor->tasks[i]->woken) {
            task_run(executor->tasks[i]);
            any = true;
        }
    }
    return any;
}

static void
executor_sleep(struct executor *executor)
{
    struct rt_pollable *list[1 + TASKS_MAX] = {&executor->bell};
    struct task *whose[1 + TASKS_MAX] = {NULL};
    uint32_t ready[1 + TASKS_MAX];
    uint32_t count = 1;
    for (uint32_t i = 0; i < executor->count; i++) {
        if (executor->tasks[i]->socket != NULL) {
            whose[count] = executor->tasks[i];
            list[count++] = executor->tasks[i]->socket;
        }
    }
    executor->asleep = true;
    SIM_ALWAYS(rt_host_poll(executor->host, list, count, ready, &count) == RT_OK);
    executor->asleep = false;
    for (uint32_t i = 0; i < count; i++) {
        if (whose[ready[i]] != NULL) {
            sim_foreign_fire(list[ready[i]]);
            task_wake(whose[ready[i]]);
        }
    }
}

static bool
executor_is_done(const struct executor *executor)
{
    uint32_t finished = 0;
    for (uint32_t i = 0; i < executor->count; i++) {
        finished += executor->tasks[i]->finished;
    }
    return finished == executor->count;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    for (;;) {
        bool any = executor_round(executor);
        if (executor_is_done(executor)) {
            break;
        }
        if (!any || !executor->checks_again) {
            executor_sleep(executor);
        }
    }
    rt_pollable_drop(&executor->bell);
}

/* The oracle's question. */
static void
executor_again(void *executor, void *task)
{
    (void)executor;
    task_run(task);
}

/* ---- What tasks may wait for. ---------------------------------------------------------------- */

struct event {
    struct task *waiter; /* NULL: no task. */
};

/* Macros, so that reports name the line that waits, and the one that wakes. */
#define event_wait(event, task, what) \
    ((event)->waiter = (task), sim_foreign_store((task), (event), (what)))
#define event_fire(event) (sim_foreign_fire(event), event_wake(event))

static void
event_wake(struct event *event)
{
    struct task *waiter = event->waiter;
    event->waiter = NULL;
    if (waiter != NULL) {
        task_wake(waiter);
    }
}

/* ---- A program for it. ----------------------------------------------------------------------- */

#define LINES 2

struct program {
    struct executor executor;
    struct task job;
    struct task client;
    struct event done; /* The worker has computed it. */
    bool computed;
    struct sim_source *connection;
    struct rt_pollable readable;
    uint32_t lines;
};

static bool
job_poll(struct task *task)
{
    struct program *program = rt_container_of(task, struct program, job);
    if (program->computed) {
        return true;
    }
    event_wait(&program->done, task, "the result");
    return false;
}

static bool
client_poll(struct task *task)
{
    struct program *program = rt_container_of(task, struct program, client);
    while (program->lines < LINES && sim_source_take(program->connection) == RT_OK) {
        program->lines++;
    }
    if (program->lines < LINES) {
        task->socket = &program->readable;
        sim_foreign_store(task, &program->readable, "a line");
        return false;
    }
    task->socket = NULL;
    rt_pollable_drop(&program->readable);
    return true;
}

/* A separate thread. */
static void
worker_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    sim_sleep(world, sim_range(world, 3 * RT_MS / 2, 4 * RT_MS));
    program->computed = true;
    event_fire(&program->done);
}

/* ---- Into the simulator. --------------------------------------------------------------------- */

static void
spawn(struct executor *executor, struct sim_foreign *foreign, struct task *task, const char *name,
        bool (*poll)(struct task *task))
{
    *task = (struct task){.executor = executor, .poll = poll, .woken = true};
    executor->tasks[executor->count++] = task;
    sim_foreign_spawn(foreign, task, name);
}

static void
begin(struct sim_world *world, bool checks_again)
{
    struct program *program = sim_new(world, struct program);
    struct executor *executor = &program->executor;
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    executor->host = sim_host_seam(host);
    executor->checks_again = checks_again;
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);

    program->connection = sim_source_new(host, "connection");
    SIM_ALWAYS(sim_source_subscribe(program->connection, &program->readable) == RT_OK);
    for (uint32_t i = 0; i < LINES; i++) {
        sim_source_event_in(program->connection, (i + 1) * RT_MS, (i + 3) * RT_MS);
    }

    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    spawn(executor, foreign, &program->job, "job", job_poll);
    spawn(executor, foreign, &program->client, "client", client_poll);
    (void)sim_loop_new(world, "worker", worker_main, program);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(outside_executor_broken, .name = "foreign/executor/broken",
        .about = "A hand-written executor goes to sleep without a second check of its tasks.",
        .setup = setup_broken, .profile = SIM_PROFILE_HOSTILE, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(outside_executor_fixed, .name = "foreign/executor/fixed",
        .about = "A hand-written executor checks again before it goes to sleep.",
        .setup = setup_fixed, .profile = SIM_PROFILE_HOSTILE);
