/*
 * slow_livelock.c -- a shutdown that waits for a task in a queue that it never empties.
 *
 * tokio-rs/tokio#1892.
 *
 * The bug. An executor has a local queue, and a remote one for wakes from other threads. Its
 * shutdown cancels idle tasks at once and queued ones when it takes them out, but it takes them
 * out of the local queue only. A task that another thread has woken stays in the remote queue, and
 * the shutdown yields its thread, again and again, until no task is left.
 *
 * The fix. The shutdown empties both queues.
 *
 * Here. The producer hands over two results, after which the root ends, and right then an item for
 * the second worker. Where its wake is sent between the root's end and the shutdown, the shutdown
 * runs until the limit on steps without progress. A poll of the worker would have taken the item:
 * a lost wake, found after more than ten thousand steps. `explain` has to end on such a run too.
 *
 * broken-idle: the second worker is woken without an item. A poll would only store its waker
 * again, so no task could make progress: a livelock and no lost wake.
 *
 * Guards: at a limit, only completion or consumption inside the extra poll counts, and a changed
 * wait does not; `explain` is bounded by the last step of the failing run.
 * Cause: coalesced in producer_main
 * Must end in: lost-wakeup of the second worker; broken-idle: livelock; fixed: pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TASKS 3 /* The root and two workers. */
#define QUEUE_MAX 16
#define RESULTS 2

/* ---- The executor. --------------------------------------------------------------------------- */

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task); /* True: it has finished. */
    uint32_t items;
    bool waits;
    bool queued;
    bool finished;
};

struct queue {
    struct task *tasks[QUEUE_MAX];
    uint32_t head;
    uint32_t tail;
};

struct executor {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_pollable bell;
    struct queue local;
    struct queue remote;
    struct task tasks[TASKS];
    uint32_t unfinished;
    uint32_t results;
    bool fixed; /* Both queues are emptied. */
    bool idle;  /* The second worker is woken without an item. */
    bool asleep;
    bool polling; /* A wake comes from the executor's own thread. */
};

static void
queue_push(struct queue *queue, struct task *task)
{
    queue->tasks[queue->tail++ % QUEUE_MAX] = task;
}

/* NULL: it is empty. */
static struct task *
queue_pop(struct queue *queue)
{
    return queue->head == queue->tail ? NULL : queue->tasks[queue->head++ % QUEUE_MAX];
}

static void
task_wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    queue_push(executor->polling ? &executor->local : &executor->remote, task);
    if (executor->asleep) {
        rt_host_notify(executor->host);
    }
}

static void
task_run(struct task *task, bool cancel)
{
    struct executor *executor = task->executor;
    bool was_finished = task->finished;
    task->queued = false;
    sim_foreign_poll(task);
    executor->polling = true;
    task->finished = cancel || task->poll(task);
    executor->polling = false;
    executor->unfinished -= task->finished && !was_finished;
    sim_foreign_polled(task, task->finished);
}

static void
executor_sleep(struct executor *executor)
{
    struct rt_pollable *list[] = {&executor->bell};
    uint32_t ready[1];
    uint32_t count;
    executor->asleep = true;
    if (executor->remote.head == executor->remote.tail) {
        SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
    }
    executor->asleep = false;
}

/* Until the root has finished. */
static void
executor_serve(struct executor *executor)
{
    struct task *task;
    while (!executor->tasks[0].finished) {
        while ((task = queue_pop(&executor->remote)) != NULL) {
            queue_push(&executor->local, task);
        }
        if ((task = queue_pop(&executor->local)) != NULL) {
            task_run(task, false);
        } else {
            executor_sleep(executor);
        }
    }
}

static void
cancel_all(struct queue *queue)
{
    struct task *task;
    while ((task = queue_pop(queue)) != NULL) {
        task_run(task, true);
    }
}

static void
executor_shut_down(struct executor *executor)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *task = &executor->tasks[i];
        if (!task->finished && !task->queued) {
            task_run(task, true);
        }
    }
    while (executor->unfinished > 0) {
        cancel_all(&executor->local);
        if (executor->fixed) {
            cancel_all(&executor->remote);
        }
        sim_loop_pause(executor->world); /* sched_yield() */
    }
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    executor_serve(executor);
    executor_shut_down(executor);
    rt_pollable_drop(&executor->bell);
}

/* The oracle's question. */
static void
executor_again(void *executor, void *task)
{
    (void)executor;
    task_run(task, false);
}

/* ---- The program. ---------------------------------------------------------------------------- */

static bool
root_poll(struct task *task)
{
    if (task->executor->results >= RESULTS) {
        return true;
    }
    task->waits = true;
    sim_foreign_store(task, &task->waits, "the results");
    return false;
}

/* A server: it does not finish. */
static bool
worker_poll(struct task *task)
{
    while (task->items > 0) {
        task->items--;
        SIM_PROGRESS();
    }
    task->waits = true;
    sim_foreign_store(task, &task->waits, "an item");
    return false;
}

static void
task_fire(struct task *task)
{
    if (task->waits) {
        task->waits = false;
        sim_foreign_fire(&task->waits);
        task_wake(task);
    }
}

/* A separate thread. */
static void
producer_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    for (uint32_t i = 0; i < RESULTS; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 2 * RT_MS));
        executor->tasks[1].items++;
        task_fire(&executor->tasks[1]);
        executor->results++;
        task_fire(&executor->tasks[0]);
    }
    sim_loop_pause(world);
    executor->tasks[2].items += !executor->idle;
    task_fire(&executor->tasks[2]);
}

static void
begin(struct sim_world *world, bool fixed, bool idle)
{
    static const char *const names[] = {"root", "first worker", "second worker"};
    struct executor *executor = sim_new(world, struct executor);
    executor->world = world;
    executor->fixed = fixed;
    executor->idle = idle;
    executor->unfinished = TASKS;
    executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *task = &executor->tasks[i];
        *task = (struct task){
                .executor = executor, .poll = i == 0 ? root_poll : worker_poll, .queued = true};
        sim_foreign_spawn(foreign, task, names[i]);
        queue_push(&executor->local, task);
    }
    (void)sim_loop_new_background(world, "producer", producer_main, executor);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false, false);
}

static void
setup_broken_idle(struct sim_world *world)
{
    begin(world, false, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true, false);
}

SIM_SCENARIO(oracle_slow_livelock_broken, .name = "oracle/slow-livelock/broken",
        .about = "A shutdown waits for a task in a queue that it never empties.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(oracle_slow_livelock_broken_idle, .name = "oracle/slow-livelock/broken-idle",
        .about = "A shutdown waits for a task that was woken, and that has nothing to do.",
        .setup = setup_broken_idle, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(oracle_slow_livelock_fixed, .name = "oracle/slow-livelock/fixed",
        .about = "A shutdown empties both queues.", .setup = setup_fixed);
