// Cause: s2_early.c:87 a worker thread wakes the task before it publishes the result: a task that is polled in between (the executor was awake for another reason) finds no result and waits again, and the result comes without a wake.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define JOBS 2

struct executor;

struct task {
    struct executor *executor;
    bool woken;
    bool finished;
    bool done;           /* the result is there: by a worker thread */
    struct task *waiter; /* the slot of the result */
    uint64_t value;
};

/* Polls all woken tasks in turn; the bell is signalled at each wake. */
struct executor {
    struct rt_host *host;
    struct rt_pollable bell;
    struct task tasks[JOBS];
    uint32_t threads; /* that run */
    bool fixed;
};

static void task_wake(struct task *task)
{
    task->woken = true;
    rt_host_notify(task->executor->host);
}

static void task_run(struct task *task)
{
    task->woken = false;
    sim_foreign_poll(task);
    if (task->done) {
        task->finished = true;
    } else {
        task->waiter = task;
        sim_foreign_store(task, &task->waiter, "the result");
    }
    sim_foreign_polled(task, task->finished);
}

static void executor_again(void *executor, void *task)
{
    (void)executor;
    task_run(task);
}

static void executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    for (;;) {
        uint32_t finished = 0, ready[1], count = 1;
        bool any = false;
        for (uint32_t i = 0; i < JOBS; i++) {
            struct task *task = &executor->tasks[i];
            if (task->woken && !task->finished) {
                task_run(task);
                any = true;
            }
            finished += task->finished;
        }
        if (finished == JOBS)
            break;
        if (any)
            continue;
        struct rt_pollable *list[1] = {&executor->bell};
        SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
    }
    while (executor->threads > 0) /* joins them */
        sim_sleep(world, 100 * RT_US);
    rt_pollable_drop(&executor->bell);
}

static void complete(struct task *task)
{
    struct task *waiter = task->waiter;
    if (task->executor->fixed)
        task->done = true;
    if (waiter != NULL) {
        task->waiter = NULL;
        sim_foreign_fire(&task->waiter);
        task_wake(waiter);
    }
    task->done = true;
}

static void worker_main(struct sim_world *world, void *argument)
{
    struct task *task = argument;
    sim_sleep(world, sim_range(world, RT_MS, 3 * RT_MS));
    task->value = 42;
    complete(task);
    task->executor->threads--;
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[JOBS] = {"resize", "hash"};
    static const char *const threads[JOBS] = {"worker 1", "worker 2"};
    struct executor *executor = sim_new(world, struct executor);
    executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    executor->fixed = fixed;
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    for (uint32_t i = 0; i < JOBS; i++) {
        struct task *task = &executor->tasks[i];
        task->executor = executor;
        task->woken = true;
        sim_foreign_spawn(foreign, task, names[i]);
        executor->threads++;
        (void)sim_loop_new(world, threads[i], worker_main, task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/early/broken", .about = "A wake is sent before the result is published.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/early/fixed", .about = "The result is published, then the wake is sent.",
        .setup = setup_fixed);
