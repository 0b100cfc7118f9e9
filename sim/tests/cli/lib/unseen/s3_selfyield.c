// Cause: s3_selfyield.c:56 the executor takes `queued` back after the poll, so a task that wakes itself during its poll (it has used up its share and yields) finds the flag still set, is not queued, and its own wake is dropped.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define TASKS 2
#define LINES 6
#define SHARE 2

struct executor;

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task);
    struct rt_pollable *socket; /* What it waits for; NULL: nothing on the host. */
    char turn;                  /* Its address is where it waits for its next turn. */
    bool queued;
    bool finished;
};

struct executor {
    struct rt_host *host;
    struct task *tasks[TASKS];
    struct task *queue[2 * TASKS];
    uint32_t head;
    uint32_t tail;
    bool fixed;
};

struct reader {
    struct task task;
    struct sim_source *source;
    struct rt_pollable readable;
    uint32_t lines;
};

static void
task_wake(struct task *task)
{
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    task->executor->queue[task->executor->tail++ % (2 * TASKS)] = task;
}

static void
task_run(struct task *task)
{
    if (task->executor->fixed) {
        task->queued = false;
    }
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    if (!task->executor->fixed) {
        task->queued = false;
    }
    sim_foreign_polled(task, task->finished);
}

static void
task_again(void *executor, void *task)
{
    (void)executor;
    task_run(task);
}

static bool
reader_poll(struct task *task)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    uint32_t taken = 0;
    task->socket = NULL;
    while (reader->lines < LINES) {
        if (taken == SHARE) {
            sim_foreign_store(task, &task->turn, "its next turn");
            sim_foreign_fire(&task->turn);
            task_wake(task);
            return false;
        }
        if (sim_source_take(reader->source) != RT_OK) {
            task->socket = &reader->readable;
            sim_foreign_store(task, &reader->readable, "a line");
            return false;
        }
        reader->lines++;
        taken++;
    }
    rt_pollable_drop(&reader->readable);
    return true;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    for (;;) {
        while (executor->head != executor->tail) {
            task_run(executor->queue[executor->head++ % (2 * TASKS)]);
        }
        struct rt_pollable *list[TASKS + 1];
        struct task *whose[TASKS + 1];
        uint32_t ready[TASKS + 1];
        struct rt_pollable late = {.host = NULL};
        uint32_t count = 0;
        uint32_t finished = 0;
        for (uint32_t i = 0; i < TASKS; i++) {
            finished += executor->tasks[i]->finished;
            if (!executor->tasks[i]->finished && executor->tasks[i]->socket != NULL) {
                whose[count] = executor->tasks[i];
                list[count++] = executor->tasks[i]->socket;
            }
        }
        if (finished == TASKS) {
            return;
        }
        if (count == 0) {
            SIM_ALWAYS(rt_subscribe_instant(executor->host, RT_NEVER, &late) == RT_OK);
            whose[count] = NULL;
            list[count++] = &late;
        }
        SIM_ALWAYS(rt_host_poll(executor->host, list, count, ready, &count) == RT_OK);
        for (uint32_t i = 0; i < count; i++) {
            if (whose[ready[i]] != NULL) {
                sim_foreign_fire(list[ready[i]]);
                task_wake(whose[ready[i]]);
            }
        }
        rt_pollable_drop(&late);
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[TASKS] = {"reader A", "reader B"};
    struct executor *executor = sim_new(world, struct executor);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, task_again, executor);
    executor->host = sim_host_seam(host);
    executor->fixed = fixed;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct reader *reader = sim_new(world, struct reader);
        reader->task.executor = executor;
        reader->task.poll = reader_poll;
        reader->source = sim_source_new(host, i == 0 ? "socket A" : "socket B");
        SIM_ALWAYS(sim_source_subscribe(reader->source, &reader->readable) == RT_OK);
        for (uint32_t j = 0; j < LINES; j++) {
            sim_source_event_in(reader->source, (j + 1) * RT_MS, (j + 3) * RT_MS);
        }
        executor->tasks[i] = &reader->task;
        sim_foreign_spawn(foreign, &reader->task, names[i]);
        task_wake(&reader->task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_selfyield/broken", .about = "Readers that share a thread.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_selfyield/fixed", .about = "Readers that share a thread.",
        .setup = setup_fixed);
