/*
 * An executor with a short ring of ready tasks, and a list for those that do not fit.
 * Cause: ready_push() (line 52) puts a task on the overflow list and does not count it in `ready`, so that executor_main() sleeps while it is there.
 */
#include <sim/rewake.h>

#define RING 2u
#define TASKS 4u

struct task {
    struct executor *executor;
    struct task *next;
    bool (*poll)(struct task *task);
    bool queued;
    bool finished;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell;
    struct task *ring[RING];
    uint32_t head, used;
    struct task *overflow;
    uint32_t ready;
    uint32_t live;
    struct task *tasks[TASKS];
    bool asleep;
    bool fixed;
};

struct order {
    struct task task;
    struct task *waiter;
    uint32_t stamps; /* Given so far. */
    uint32_t taken;
};

struct office {
    struct executor executor;
    struct order orders[TASKS];
};

static void
ready_push(struct executor *executor, struct task *task)
{
    if (executor->used < RING) {
        executor->ring[(executor->head + executor->used++) % RING] = task;
        executor->ready++;
        return;
    }
    task->next = executor->overflow;
    executor->overflow = task;
    if (executor->fixed) {
        executor->ready++;
    }
}

/* The oldest of the ring; one of the list moves up when the ring is empty. */
static struct task *
ready_pop(struct executor *executor)
{
    struct task *task = executor->overflow;
    if (executor->used > 0) {
        task = executor->ring[executor->head];
        executor->head = (executor->head + 1) % RING;
        executor->used--;
    } else if (task != NULL) {
        executor->overflow = task->next;
    }
    executor->ready--;
    return task;
}

/* From any thread. */
static void
task_wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    ready_push(executor, task);
    if (executor->asleep) {
        rt_host_notify(executor->host);
    }
}

static void
task_run(struct task *task)
{
    if (task->finished) {
        return;
    }
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    task->executor->live -= task->finished;
    sim_foreign_polled(task, task->finished);
}

static void
executor_again(void *executor, void *task)
{
    (void)executor;
    task_run(task);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    struct rt_pollable *list[] = {&executor->bell};
    uint32_t ready, count;
    (void)world;
    for (uint32_t i = 0; i < TASKS; i++) {
        task_run(executor->tasks[i]);
    }
    while (executor->live > 0) {
        while (executor->ready > 0) {
            struct task *task = ready_pop(executor);
            task->queued = false;
            task_run(task);
        }
        if (executor->live == 0) {
            break;
        }
        executor->asleep = true;
        SIM_ALWAYS(rt_host_poll(executor->host, list, 1, &ready, &count) == RT_OK);
        executor->asleep = false;
    }
    rt_pollable_drop(&executor->bell);
}

static void
order_stamp(struct order *order)
{
    struct task *waiter = order->waiter;
    order->stamps++;
    order->waiter = NULL;
    if (waiter != NULL) {
        sim_foreign_fire(&order->waiter);
        task_wake(waiter);
    }
}

static bool
order_poll(struct task *task)
{
    struct order *order = rt_container_of(task, struct order, task);
    while (order->taken < order->stamps) {
        order->taken++;
        SIM_PROGRESS();
    }
    if (order->taken == 2) {
        return true;
    }
    order->waiter = task;
    sim_foreign_store(task, &order->waiter, "a stamp");
    return false;
}

/* A thread that stamps the orders of two clients, twice. */
static void
clerk_main(struct sim_world *world, void *argument)
{
    struct order *orders = argument;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < TASKS / 2; i++) {
            sim_sleep(world, sim_range(world, 1 * RT_MS, 3 * RT_MS));
            order_stamp(&orders[i]);
        }
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[TASKS] = {"order 1", "order 2", "order 3", "order 4"};
    struct office *office = sim_new(world, struct office);
    struct executor *executor = &office->executor;
    executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    executor->fixed = fixed;
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct task *task = &office->orders[i].task;
        *task = (struct task){.executor = executor, .poll = order_poll};
        sim_foreign_spawn(foreign, task, names[i]);
        executor->tasks[executor->live++] = task;
    }
    sim_loop_new(world, "clerk 1", clerk_main, &office->orders[0]);
    sim_loop_new(world, "clerk 2", clerk_main, &office->orders[TASKS / 2]);
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

SIM_SCENARIO(broken, .name = "s12-overflow/broken", .about = "Four orders, two clerks.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-overflow/fixed", .about = "Four orders, two clerks.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
