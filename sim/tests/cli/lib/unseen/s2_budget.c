// Cause: s2_budget.c:85 after a turn that ended by its limit of polls the executor blocks in its host although tasks are still in the run queue: if more were woken at once than one turn polls, the rest waits for an event that need not come.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define TASKS 4
#define TURN 2 /* polls between two looks at the host */

struct task {
    struct executor *executor;
    struct task *next;
    struct task *waiter; /* the slot of the answer */
    bool queued, finished, answered;
};

struct executor {
    struct sim_fds *fds;
    int bell;
    bool fixed;
    struct task *head, **tail;
    struct task tasks[TASKS];
    uint32_t finished;
    uint32_t threads; /* that run */
};

/* From any thread. */
static void task_wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued)
        return;
    task->queued = true;
    task->next = NULL;
    *executor->tail = task;
    executor->tail = &task->next;
    SIM_ALWAYS(sim_fd_notify(executor->fds, executor->bell) == RT_OK);
}

static struct task *pop(struct executor *executor)
{
    struct task *task = executor->head;
    if (task != NULL) {
        executor->head = task->next;
        if (executor->head == NULL)
            executor->tail = &executor->head;
        task->queued = false;
    }
    return task;
}

static void task_run(struct task *task)
{
    if (task->finished)
        return;
    sim_foreign_poll(task);
    if (task->answered) {
        task->finished = true;
        task->executor->finished++;
    } else {
        task->waiter = task;
        sim_foreign_store(task, &task->waiter, "an answer");
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
    struct task *task;
    for (;;) {
        struct sim_fd_event event;
        uint64_t rings, timeout = SIM_NEVER;
        for (uint32_t i = 0; i < TURN && (task = pop(executor)) != NULL; i++)
            task_run(task);
        if (executor->finished == TASKS)
            break;
        if (executor->fixed && executor->head != NULL)
            timeout = 0;
        if (sim_fd_wait(executor->fds, &event, 1, timeout) > 0)
            (void)sim_fd_read(executor->fds, executor->bell, &rings, sizeof rings);
    }
    while (executor->threads > 0) /* joins them */
        sim_sleep(world, 100 * RT_US);
    SIM_ALWAYS(sim_fd_close(executor->fds, executor->bell) == RT_OK);
}

/* A thread of a driver that answers one task. */
static void driver_main(struct sim_world *world, void *argument)
{
    struct task *task = argument;
    sim_sleep(world, (uint64_t)(task - task->executor->tasks + 1) * RT_MS +
            sim_range(world, 0, 3 * RT_MS));
    task->answered = true;
    if (task->waiter != NULL) {
        struct task *waiter = task->waiter;
        task->waiter = NULL;
        sim_foreign_fire(&task->waiter);
        task_wake(waiter);
    }
    task->executor->threads--;
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[TASKS] = {"call 1", "call 2", "call 3", "call 4"};
    static const char *const threads[TASKS] = {"driver 1", "driver 2", "driver 3", "driver 4"};
    struct executor *executor = sim_new(world, struct executor);
    executor->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    executor->tail = &executor->head;
    executor->fixed = fixed;
    SIM_ALWAYS(sim_fd_event_open(executor->fds, "bell", &executor->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(executor->fds, executor->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *task = &executor->tasks[i];
        task->executor = executor;
        sim_foreign_spawn(foreign, task, names[i]);
        task_wake(task);
        executor->threads++;
        (void)sim_loop_new(world, threads[i], driver_main, task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/budget/broken", .about = "An executor that sleeps on a full run queue.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/budget/fixed", .about = "An executor that only looks when its queue is not empty.",
        .setup = setup_fixed);
