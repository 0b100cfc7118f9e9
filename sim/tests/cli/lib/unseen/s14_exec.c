/* A small executor with its own run queue and deadlines, on a loop that sleeps in the host until the nearest deadline.
 * Cause: executor_main() (line 104): the time to sleep is computed before the woken tasks are polled, who may set nearer
 * deadlines. Repair: poll the tasks first, then compute it. */
#include <sim/rewake.h>

#define TASKS 2
#define NEVER UINT64_MAX

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task);
    struct task *next; /* In the run queue. */
    bool queued;
    bool finished;
    uint64_t deadline_ns; /* NEVER: none. */
    char timer;           /* Its address is the slot of the deadline. */
};

struct executor {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    struct task *head, **tail;
    struct task *tasks[TASKS];
    bool repaired;
};

struct job {
    struct task task;
    uint64_t step_ns, due_ns;
    uint32_t steps;
    uint32_t left;
    bool ordered; /* It begins when it is ordered. */
    char order;
};

static void
enqueue(struct task *task)
{
    if (!task->queued && !task->finished) {
        task->queued = true;
        task->next = NULL;
        *task->executor->tail = task;
        task->executor->tail = &task->next;
    }
}

static void
run_task(struct task *task)
{
    sim_foreign_poll(task);
    task->finished = task->poll(task) || task->finished;
    sim_foreign_polled(task, task->finished);
}

static void
run_queue(struct executor *executor)
{
    while (executor->head != NULL) {
        struct task *task = executor->head;
        executor->head = task->next;
        if (executor->head == NULL) {
            executor->tail = &executor->head;
        }
        task->queued = false;
        run_task(task);
    }
}

static uint64_t
nearest(const struct executor *executor)
{
    uint64_t due = NEVER;
    for (uint32_t i = 0; i < TASKS; i++) {
        if (executor->tasks[i]->deadline_ns < due) {
            due = executor->tasks[i]->deadline_ns;
        }
    }
    return due;
}

static void
fire_deadlines(struct executor *executor)
{
    uint64_t now = sim_now(executor->world);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *task = executor->tasks[i];
        if (task->deadline_ns <= now) {
            task->deadline_ns = NEVER;
            sim_foreign_fire(&task->timer);
            enqueue(task);
        }
    }
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    while (!executor->tasks[0]->finished || !executor->tasks[1]->finished) {
        if (executor->repaired) {
            run_queue(executor);
        }
        uint64_t due = nearest(executor);
        run_queue(executor);
        if (executor->tasks[0]->finished && executor->tasks[1]->finished) {
            break;
        }
        uint64_t now = sim_now(world);
        struct sim_fd_event event;
        if (sim_fd_wait(executor->fds, &event, 1, due == NEVER ? SIM_NEVER : due > now ? due - now : 0) > 0) {
            uint64_t count;
            (void)sim_fd_read(executor->fds, executor->bell, &count, sizeof count);
        }
        fire_deadlines(executor);
    }
}

static bool
job_poll(struct task *task)
{
    struct job *job = rt_container_of(task, struct job, task);
    uint64_t now = sim_now(task->executor->world);
    if (!job->ordered) {
        sim_foreign_store(task, &job->order, "an order");
        return false;
    }
    if (job->due_ns != 0 && now < job->due_ns) {
        task->deadline_ns = job->due_ns;
        sim_foreign_store(task, &task->timer, "its next step");
        return false;
    }
    if (job->due_ns != 0) {
        SIM_ALWAYS(now <= job->due_ns + 3 * RT_MS);
    }
    if (job->left-- == 0) {
        return true;
    }
    SIM_PROGRESS();
    job->due_ns = now + job->step_ns;
    task->deadline_ns = job->due_ns;
    sim_foreign_store(task, &task->timer, "its next step");
    return false;
}

/* Another thread: orders the second job. */
static void
orders_main(struct sim_world *world, void *argument)
{
    struct job *job = argument;
    sim_sleep(world, sim_range(world, 0, 12 * RT_MS));
    job->ordered = true;
    sim_foreign_fire(&job->order);
    enqueue(&job->task);
    SIM_ALWAYS(sim_fd_notify(job->task.executor->fds, job->task.executor->bell) == RT_OK);
}

static void
again(void *executor, void *task)
{
    (void)executor;
    run_task(task);
}

static struct job *
make_job(struct executor *executor, uint32_t number, uint64_t step_ns, uint32_t steps)
{
    struct job *job = sim_new(executor->world, struct job);
    job->task = (struct task){.executor = executor, .poll = job_poll, .deadline_ns = NEVER};
    job->step_ns = step_ns;
    job->left = steps;
    job->ordered = number == 0;
    executor->tasks[number] = &job->task;
    return job;
}

static void
setup(struct sim_world *world, bool repaired)
{
    struct executor *executor = sim_new(world, struct executor);
    executor->world = world;
    executor->repaired = repaired;
    executor->tail = &executor->head;
    executor->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(executor->fds, "bell", &executor->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(executor->fds, executor->bell, SIM_FD_IN, 0) == RT_OK);
    struct job *slow = make_job(executor, 0, 10 * RT_MS, 1);
    struct job *quick = make_job(executor, 1, sim_range(world, 4 * RT_MS, 6 * RT_MS), 2);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, executor);
    sim_foreign_spawn(foreign, &slow->task, "slow");
    sim_foreign_spawn(foreign, &quick->task, "quick");
    enqueue(&slow->task);
    enqueue(&quick->task);
    (void)sim_loop_new(world, "orders", orders_main, quick);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(exec_broken, .name = "s14_exec/broken", .about = "Deadlines on a run queue.",
        .setup = setup_broken);
SIM_SCENARIO(exec_fixed, .name = "s14_exec/fixed", .about = "Deadlines on a run queue, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
