// Cause: s2_requeue.c:65 the executor clears a task's `queued` mark after the poll: a wake by another thread during the poll finds the mark set and queues nothing, and the mark is then cleared without a further poll.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define LETTERS 2
#define TASKS 2

struct executor;

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task); /* true: finished */
    bool queued;
    bool finished;
};

struct executor {
    struct sim_fds *fds;
    int bell;
    bool fixed;
    struct task *ring[TASKS + 1]; /* each task is in it at most once */
    uint32_t head, tail;
    struct task *tasks[TASKS];
};

struct program {
    struct executor executor;
    uint32_t threads; /* that run */
    struct task reader, greeter;
    uint32_t inbox, letters; /* the reader's mailbox, filled by a thread */
    struct task *inbox_waiter;
    int line[2]; /* the greeter's connection */
};

/* From any thread. */
static void task_wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued || task->finished)
        return;
    task->queued = true;
    executor->ring[executor->tail] = task;
    executor->tail = (executor->tail + 1) % (TASKS + 1);
    SIM_ALWAYS(sim_fd_notify(executor->fds, executor->bell) == RT_OK);
}

static void task_poll(struct task *task)
{
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    sim_foreign_polled(task, task->finished);
}

static void run_queued(struct executor *executor)
{
    while (executor->head != executor->tail) {
        struct task *task = executor->ring[executor->head];
        executor->head = (executor->head + 1) % (TASKS + 1);
        if (executor->fixed) {
            task->queued = false;
            task_poll(task);
        } else {
            task_poll(task);
            task->queued = false;
        }
    }
}

static void executor_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    struct executor *executor = &program->executor;
    for (;;) {
        struct sim_fd_event events[4];
        run_queued(executor);
        if (program->reader.finished && program->greeter.finished)
            break;
        uint32_t count = sim_fd_wait(executor->fds, events, 4, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t rings;
            if (events[i].data == 0) {
                (void)sim_fd_read(executor->fds, executor->bell, &rings, sizeof rings);
            } else {
                sim_foreign_fire(&program->line);
                task_wake(&program->greeter);
            }
        }
    }
    while (program->threads > 0) /* joins them */
        sim_sleep(world, 100 * RT_US);
    SIM_ALWAYS(sim_fd_close(executor->fds, executor->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_close(executor->fds, program->line[1]) == RT_OK);
}

static bool reader_poll(struct task *task)
{
    struct program *program = rt_container_of(task, struct program, reader);
    while (program->inbox > 0) {
        program->inbox--;
        program->letters++;
        SIM_PROGRESS();
    }
    if (program->letters == LETTERS)
        return true;
    program->inbox_waiter = task;
    sim_foreign_store(task, &program->inbox_waiter, "a letter");
    return false;
}

static bool greeter_poll(struct task *task)
{
    struct program *program = rt_container_of(task, struct program, greeter);
    char byte;
    if (task->finished)
        return true;
    if (sim_fd_read(program->executor.fds, program->line[0], &byte, 1) == 1) {
        SIM_ALWAYS(sim_fd_close(program->executor.fds, program->line[0]) == RT_OK);
        return true;
    }
    sim_foreign_store(task, &program->line, "a greeting");
    return false;
}

static void postman_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t i = 0; i < LETTERS; i++) {
        sim_sleep(world, sim_range(world, 500 * RT_US, 2 * RT_MS));
        program->inbox++;
        struct task *waiter = program->inbox_waiter;
        if (waiter != NULL) {
            program->inbox_waiter = NULL;
            sim_foreign_fire(&program->inbox_waiter);
            task_wake(waiter);
        }
    }
    program->threads--;
}

static void executor_again(void *executor, void *task)
{
    (void)executor;
    task_poll(task);
}

static void setup(struct sim_world *world, bool fixed)
{
    struct program *program = sim_new(world, struct program);
    struct executor *executor = &program->executor;
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct sim_fds *fds = executor->fds = sim_fds_new(host, 3);
    executor->fixed = fixed;
    SIM_ALWAYS(sim_fd_event_open(fds, "bell", &executor->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(fds, "line", 100 * RT_US, 2 * RT_MS, program->line) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, executor->bell, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, program->line[0], SIM_FD_IN, 1) == RT_OK);
    SIM_ALWAYS(sim_fd_write(fds, program->line[1], "!", 1) == 1);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, program);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    program->reader = (struct task){.executor = executor, .poll = reader_poll};
    program->greeter = (struct task){.executor = executor, .poll = greeter_poll};
    sim_foreign_spawn(foreign, &program->reader, "reader");
    sim_foreign_spawn(foreign, &program->greeter, "greeter");
    task_wake(&program->reader);
    task_wake(&program->greeter);
    program->threads = 1;
    (void)sim_loop_new(world, "postman", postman_main, program);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/requeue/broken", .about = "An executor that clears a mark after the poll.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/requeue/fixed", .about = "An executor that clears the mark before the poll.",
        .setup = setup_fixed);
