/*
 * s11_compact.c -- an executor that keeps its tasks side by side: the last one moves into the place
 * of one that has finished. Woken tasks are in a ring of places.
 *
 * Cause: executor_remove() (line 69) gives the moved task its new place, and leaves the old one in the ring of woken places
 */
#include <sim/rewake.h>

#define TASKS 4

struct task {
    const char *name;
    uint32_t place;
    bool woken;
    bool listens; /* Its feed is in the list of the next poll. */
    uint32_t left;
    struct sim_source *feed;
    struct rt_pollable readable;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell; /* For other threads; there are none yet. */
    struct task *tasks[TASKS];
    uint32_t count;
    uint32_t ring[TASKS]; /* Places. */
    uint32_t head, tail;
    bool renames;
};

static void
task_wake(struct executor *executor, struct task *task)
{
    if (!task->woken) {
        task->woken = true;
        executor->ring[executor->tail++ % TASKS] = task->place;
    }
}

static bool
task_poll(struct task *task)
{
    while (task->left > 0 && sim_source_take(task->feed) == RT_OK) {
        task->left--;
    }
    if (task->left > 0) {
        task->listens = true;
        sim_foreign_store(task, &task->readable, "an item");
        return false;
    }
    rt_pollable_drop(&task->readable);
    return true;
}

static void
executor_remove(struct executor *executor, struct task *task)
{
    struct task *last = executor->tasks[--executor->count];
    if (last == task) {
        return;
    }
    if (executor->renames) {
        for (uint32_t i = executor->head; i != executor->tail; i++) {
            if (executor->ring[i % TASKS] == last->place) {
                executor->ring[i % TASKS] = task->place;
            }
        }
    }
    last->place = task->place;
    executor->tasks[last->place] = last;
}

static void
executor_poll(struct executor *executor, struct task *task)
{
    task->woken = false;
    sim_foreign_poll(task);
    bool finished = task_poll(task);
    if (finished) {
        executor_remove(executor, task);
    }
    sim_foreign_polled(task, finished);
}

static void
executor_round(struct executor *executor)
{
    while (executor->head != executor->tail) {
        uint32_t place = executor->ring[executor->head++ % TASKS];
        if (place < executor->count && executor->tasks[place]->woken) {
            executor_poll(executor, executor->tasks[place]);
        }
    }
}

static void
executor_wait(struct executor *executor)
{
    struct rt_pollable *list[TASKS + 1] = {&executor->bell};
    struct task *whose[TASKS + 1] = {NULL};
    uint32_t ready[TASKS + 1], count = 1;
    for (uint32_t i = 0; i < executor->count; i++) {
        if (executor->tasks[i]->listens) {
            whose[count] = executor->tasks[i];
            list[count++] = &executor->tasks[i]->readable;
        }
    }
    SIM_ALWAYS(rt_host_poll(executor->host, list, count, ready, &count) == RT_OK);
    for (uint32_t i = 0; i < count; i++) {
        struct task *task = whose[ready[i]];
        if (task == NULL) {
            continue;
        }
        task->listens = false;
        sim_foreign_fire(&task->readable);
        task_wake(executor, task);
    }
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    for (;;) {
        executor_round(executor);
        if (executor->count == 0) {
            break;
        }
        executor_wait(executor);
    }
    rt_pollable_drop(&executor->bell);
}

/* The oracle's question. */
static void
executor_again(void *executor, void *task)
{
    executor_poll(executor, task);
}

static void
setup_with(struct sim_world *world, bool renames)
{
    static const char *const names[TASKS] = {"prices", "trades", "news", "clock"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct executor *executor = sim_new(world, struct executor);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    executor->host = sim_host_seam(host);
    executor->renames = renames;
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *task = sim_new(world, struct task);
        task->name = names[i];
        task->left = 1 + i % 2;
        task->feed = sim_source_new(host, names[i]);
        SIM_ALWAYS(sim_source_subscribe(task->feed, &task->readable) == RT_OK);
        for (uint32_t j = 0; j < task->left; j++) {
            sim_source_event_in(task->feed, (4 * j + i + 1) * RT_MS, (4 * j + i + 3) * RT_MS);
        }
        task->place = executor->count;
        executor->tasks[executor->count++] = task;
        sim_foreign_spawn(foreign, task, names[i]);
        task_wake(executor, task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(compact_broken, .name = "s11_compact/broken",
        .about = "An executor without gaps between its tasks.", .setup = setup_broken);
SIM_SCENARIO(compact_fixed, .name = "s11_compact/fixed",
        .about = "An executor without gaps between its tasks.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
