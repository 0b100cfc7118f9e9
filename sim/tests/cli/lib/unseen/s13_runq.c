/* A small executor with a run queue, whose tasks are woken by threads.
 * Cause: executor_turn() line 90: the mark `queued` is cleared after the poll, so a wake during the poll finds
 * it set, queues nothing, and is forgotten; repair: clear it before the poll. */
#include <sim/rewake.h>

#define TASKS 2
#define SENDERS 2
#define ITEMS 3

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task);
    struct rt_list link;
    bool queued, finished;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell;
    struct rt_list queue;
    unsigned live;
    bool asleep, fixed;
};

struct inbox {
    struct task task;
    struct task *waiter;
    unsigned items;
    unsigned taken;
    uint64_t looked_ns;
};

struct program {
    struct executor executor;
    struct inbox inboxes[TASKS];
};

struct sender {
    struct program *program;
    unsigned first;
};
static void
task_wake(struct task *task)
{
    struct executor *executor = task->executor;
    if (task->queued || task->finished) {
        return;
    }
    task->queued = true;
    rt_list_push_back(&executor->queue, &task->link);
    if (executor->asleep) {
        rt_host_notify(executor->host);
    }
}

static void
task_run(struct task *task)
{
    sim_foreign_poll(task);
    bool finished = task->poll(task);
    if (finished && !task->finished) {
        task->finished = true;
        task->executor->live--;
    }
    sim_foreign_polled(task, finished);
}

static void
executor_again(void *executor, void *task)
{
    (void)executor;
    task_run(task);
}

static bool
executor_turn(struct executor *executor)
{
    struct rt_list *first = rt_list_pop_front(&executor->queue);
    if (first == NULL) {
        return false;
    }
    struct task *task = rt_container_of(first, struct task, link);
    if (executor->fixed) {
        task->queued = false;
    }
    if (!task->finished) {
        task_run(task);
    }
    if (!executor->fixed) {
        task->queued = false;
    }
    return true;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    while (executor->live > 0) {
        if (executor_turn(executor)) {
            continue;
        }
        struct rt_pollable *list[1] = {&executor->bell};
        uint32_t ready[1];
        uint32_t count;
        executor->asleep = true;
        SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
        executor->asleep = false;
    }
    rt_pollable_drop(&executor->bell);
}

static bool
inbox_poll(struct task *task)
{
    struct inbox *inbox = rt_container_of(task, struct inbox, task);
    inbox->waiter = task;
    sim_foreign_store(task, &inbox->waiter, "an item");
    while (inbox->items > 0) {
        inbox->items--;
        inbox->taken++;
        SIM_PROGRESS();
    }
    inbox->looked_ns = rt_host_now(task->executor->host);
    if (inbox->taken < SENDERS * ITEMS) {
        return false;
    }
    inbox->waiter = NULL;
    sim_foreign_erase(&inbox->waiter);
    return true;
}

static void
inbox_put(struct inbox *inbox)
{
    inbox->items++;
    struct task *waiter = inbox->waiter;
    sim_foreign_fire(&inbox->waiter);
    inbox->waiter = NULL;
    if (waiter != NULL) {
        task_wake(waiter);
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct sender *sender = argument;
    for (unsigned i = 0; i < ITEMS; i++) {
        sim_sleep(world, sim_range(world, (40 + 15 * sender->first) * RT_US, 75 * RT_US));
        for (unsigned k = 0; k < TASKS; k++) {
            inbox_put(&sender->program->inboxes[(sender->first + k) % TASKS]);
        }
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[TASKS] = {"orders", "audit"};
    struct program *program = sim_new(world, struct program);
    struct executor *executor = &program->executor;
    executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    executor->fixed = fixed;
    rt_list_init(&executor->queue);
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, executor_again, executor);
    for (unsigned i = 0; i < TASKS; i++) {
        struct task *task = &program->inboxes[i].task;
        *task = (struct task){.executor = executor, .poll = inbox_poll};
        executor->live++;
        sim_foreign_spawn(foreign, task, names[i]);
        task_wake(task);
    }
    for (unsigned i = 0; i < SENDERS; i++) {
        struct sender *sender = sim_new(world, struct sender);
        *sender = (struct sender){.program = program, .first = i};
        (void)sim_loop_new(world, i == 0 ? "web" : "mail", sender_main, sender);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_runq/broken", .about = "A run queue, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP,
        .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s13_runq/fixed", .about = "A run queue.", .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
