// Cause: executor_sleep(): it blocks in the host although tasks are on the list `deferred`, which is moved to the
// run queue only after the host has reported something. A task that yields while nothing else is ready waits until
// the next line of the other task, and forever if there is none.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define LINES 2u
#define CHUNKS 6u

struct executor;

struct task {
    bool (*poll)(struct executor *executor, struct task *task);
    struct task *next;
    bool queued;
    bool finished;
};

struct executor {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_pollable bell;
    struct task *first;
    struct task *last;
    struct task *deferred;
    struct task cruncher;
    struct task client;
    struct sim_source *connection;
    struct rt_pollable readable;
    bool waits_for_line;
    uint32_t lines;
    uint32_t chunks;
    bool minds_deferred;
};

static void
make_ready(struct executor *executor, struct task *task)
{
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    task->next = NULL;
    if (executor->first == NULL) {
        executor->first = task;
    } else {
        executor->last->next = task;
    }
    executor->last = task;
}

/* Works chunk by chunk, and gives way when its share of time is used up. */
static bool
cruncher_poll(struct executor *executor, struct task *task)
{
    while (executor->chunks < CHUNKS) {
        executor->chunks++;
        SIM_PROGRESS();
        if (executor->chunks < CHUNKS && sim_pick(executor->world, 5) == 4) {
            executor->deferred = task;
            sim_foreign_store(task, &executor->deferred, "its next turn");
            return false;
        }
    }
    return true;
}

static bool
client_poll(struct executor *executor, struct task *task)
{
    while (executor->lines < LINES && sim_source_take(executor->connection) == RT_OK) {
        executor->lines++;
    }
    executor->waits_for_line = executor->lines < LINES;
    if (executor->waits_for_line) {
        sim_foreign_store(task, &executor->readable, "a line");
        return false;
    }
    rt_pollable_drop(&executor->readable);
    return true;
}

static void
run_task(struct executor *executor, struct task *task)
{
    sim_foreign_poll(task);
    task->finished = task->poll(executor, task);
    sim_foreign_polled(task, task->finished);
}

static void
run_ready(struct executor *executor)
{
    while (executor->first != NULL) {
        struct task *task = executor->first;
        executor->first = task->next;
        task->queued = false;
        run_task(executor, task);
    }
}

static void
take_deferred(struct executor *executor)
{
    if (executor->deferred != NULL) {
        sim_foreign_fire(&executor->deferred);
        make_ready(executor, executor->deferred);
        executor->deferred = NULL;
    }
}

static void
executor_sleep(struct executor *executor)
{
    struct rt_pollable *list[2] = {&executor->bell, &executor->readable};
    uint32_t ready[2];
    uint32_t count = executor->waits_for_line ? 2 : 1;
    if (executor->minds_deferred && executor->deferred != NULL) {
        count = executor->waits_for_line && rt_pollable_ready(&executor->readable) ? 1 : 0;
        ready[0] = 1;
    } else {
        SIM_ALWAYS(rt_host_poll(executor->host, list, count, ready, &count) == RT_OK);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ready[i] == 1) {
            sim_foreign_fire(&executor->readable);
            make_ready(executor, &executor->client);
        }
    }
    take_deferred(executor);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    for (;;) {
        run_ready(executor);
        if (executor->cruncher.finished && executor->client.finished) {
            break;
        }
        executor_sleep(executor);
    }
    rt_pollable_drop(&executor->bell);
}

static void
executor_again(void *argument, void *task)
{
    run_task(argument, task);
}

static void
begin(struct sim_world *world, bool minds_deferred)
{
    struct executor *executor = sim_new(world, struct executor);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    executor->world = world;
    executor->host = sim_host_seam(host);
    executor->minds_deferred = minds_deferred;
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    executor->connection = sim_source_new(host, "connection");
    SIM_ALWAYS(sim_source_subscribe(executor->connection, &executor->readable) == RT_OK);
    for (uint32_t i = 0; i < LINES; i++) {
        sim_source_event_in(executor->connection, 0, RT_MS);
    }
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    executor->cruncher.poll = cruncher_poll;
    executor->client.poll = client_poll;
    sim_foreign_spawn(foreign, &executor->cruncher, "cruncher");
    sim_foreign_spawn(foreign, &executor->client, "client");
    make_ready(executor, &executor->client);
    make_ready(executor, &executor->cruncher);
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

SIM_SCENARIO(defer_broken, .name = "set7/s7_defer/broken",
        .about = "An executor with tasks that yield and tasks that wait.", .setup = setup_broken);
SIM_SCENARIO(defer_fixed, .name = "set7/s7_defer/fixed",
        .about = "An executor with tasks that yield and tasks that wait.", .setup = setup_fixed);
