// Cause: s3_lifo.c:92 once the limit of turns in a row is reached executor_next() answers from the queue alone: if that is empty the task in the `hot` place is left there, the executor believes that nothing is woken, and goes to sleep.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define TASKS 2
#define LINES 6
#define HOT_MAX 3

struct executor;

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task);
    bool queued;
    bool finished;
};

struct event {
    struct task *waiter;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell;
    struct task *tasks[TASKS];
    struct task *queue[2 * TASKS];
    uint32_t head;
    uint32_t tail;
    struct task *hot; /* Woken by the task before: its data is in the cache. */
    uint32_t in_a_row;
    bool asleep;
    bool fixed;
    /* The program. */
    struct task parser;
    struct task handler;
    struct event arrived;
    struct event filled;
    struct event cleared;
    uint32_t inbox;
    bool desk;
    uint32_t parsed;
    uint32_t handled;
};

static void
task_wake(struct task *task, bool local)
{
    struct executor *executor = task->executor;
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    if (local && executor->hot == NULL) {
        executor->hot = task;
    } else {
        executor->queue[executor->tail++ % (2 * TASKS)] = task;
    }
    if (executor->asleep) {
        rt_host_notify(executor->host);
    }
}

#define event_wait(event, task, what) \
    ((event)->waiter = (task), sim_foreign_store((task), (event), (what)))
#define event_fire(event, local) (sim_foreign_fire(event), event_wake((event), (local)))

static void
event_wake(struct event *event, bool local)
{
    struct task *waiter = event->waiter;
    event->waiter = NULL;
    if (waiter != NULL) {
        task_wake(waiter, local);
    }
}

static struct task *
executor_next(struct executor *executor)
{
    struct task *task = executor->hot;
    if (task != NULL && executor->in_a_row < HOT_MAX) {
        executor->hot = NULL;
        executor->in_a_row++;
        return task;
    }
    executor->in_a_row = 0;
    if (executor->head != executor->tail) {
        return executor->queue[executor->head++ % (2 * TASKS)];
    }
    if (!executor->fixed) {
        return NULL;
    }
    executor->hot = NULL;
    return task;
}

static void
task_run(struct task *task)
{
    task->queued = false;
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    sim_foreign_polled(task, task->finished);
}

static void
task_again(void *executor, void *task)
{
    (void)executor;
    task_run(task);
}

static bool
parser_poll(struct task *task)
{
    struct executor *it = rt_container_of(task, struct executor, parser);
    while (it->parsed < LINES) {
        if (it->desk) {
            event_wait(&it->cleared, task, "an empty desk");
            return false;
        }
        if (it->inbox == 0) {
            event_wait(&it->arrived, task, "a line");
            return false;
        }
        it->inbox--;
        it->desk = true;
        it->parsed++;
        SIM_PROGRESS();
        event_fire(&it->filled, true);
    }
    return true;
}

static bool
handler_poll(struct task *task)
{
    struct executor *it = rt_container_of(task, struct executor, handler);
    while (it->handled < LINES) {
        if (!it->desk) {
            event_wait(&it->filled, task, "something on the desk");
            return false;
        }
        it->desk = false;
        it->handled++;
        SIM_PROGRESS();
        event_fire(&it->cleared, true);
    }
    return true;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    struct rt_pollable *list[1] = {&executor->bell};
    (void)world;
    while (!executor->parser.finished || !executor->handler.finished) {
        struct task *task = executor_next(executor);
        if (task != NULL) {
            task_run(task);
            continue;
        }
        uint32_t ready[1];
        uint32_t count;
        executor->asleep = true;
        SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
        executor->asleep = false;
    }
    rt_pollable_drop(&executor->bell);
}

/* A separate thread. */
static void
network_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    for (uint32_t left = LINES; left > 0;) {
        sim_sleep(world, sim_range(world, RT_MS / 2, 2 * RT_MS));
        uint32_t lines = 1 + sim_pick(world, 3);
        lines = lines < left ? lines : left;
        left -= lines;
        executor->inbox += lines;
        event_fire(&executor->arrived, false);
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    struct executor *executor = sim_new(world, struct executor);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    executor->host = sim_host_seam(host);
    executor->fixed = fixed;
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, task_again, executor);
    executor->parser = (struct task){.executor = executor, .poll = parser_poll};
    executor->handler = (struct task){.executor = executor, .poll = handler_poll};
    sim_foreign_spawn(foreign, &executor->parser, "parser");
    sim_foreign_spawn(foreign, &executor->handler, "handler");
    task_wake(&executor->parser, false);
    task_wake(&executor->handler, false);
    (void)sim_loop_new(world, "network", network_main, executor);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_lifo/broken", .about = "An executor with a hot place.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_lifo/fixed", .about = "An executor with a hot place.",
        .setup = setup_fixed);
