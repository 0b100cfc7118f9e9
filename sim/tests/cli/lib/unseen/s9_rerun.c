// Cause: wake_idle() wakes a task only in state IDLE. A letter that comes while the session is RUNNING (it has stored
// its reader, and calls rt_host_now) finds RUNNING: the reader is taken out of the inbox and the wake is dropped;
// run() then sets IDLE. A wake of a running task must be remembered (RUNNING_AGAIN), so that run() queues it again.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* An executor with a run queue: a session counts the letters that two senders (threads) drop into
 * its inbox, and asks the host for the time to stamp its log. */
#include <sim/rewake.h>

#define TASKS 2
#define LETTERS 2

enum state { IDLE, QUEUED, RUNNING, RUNNING_AGAIN, FINISHED };

struct task {
    struct executor *executor;
    bool (*poll)(struct task *task);
    enum state state;
};

struct executor {
    struct rt_host *host;
    struct rt_pollable bell;
    struct task *queue[TASKS];
    uint32_t queued;
    uint32_t unfinished;
    void (*wake)(struct task *task);
};

struct inbox {
    struct task *reader;
    uint32_t letters;
};

struct session {
    struct task task;
    struct inbox inbox;
    uint32_t read;
    uint64_t stamp_ns;
};

struct sender {
    struct session *to;
    uint64_t after_ns;
};

static void
enqueue(struct task *task)
{
    struct executor *executor = task->executor;
    task->state = QUEUED;
    executor->queue[executor->queued++] = task;
    rt_host_notify(executor->host);
}

static void
wake_idle(struct task *task)
{
    if (task->state == IDLE) {
        enqueue(task);
    }
}

static void
wake_any(struct task *task)
{
    if (task->state == IDLE) {
        enqueue(task);
    } else if (task->state == RUNNING) {
        task->state = RUNNING_AGAIN;
    }
}

static void
run(struct task *task)
{
    task->state = RUNNING;
    sim_foreign_poll(task);
    bool finished = task->poll(task);
    if (finished) {
        task->state = FINISHED;
        task->executor->unfinished--;
    } else if (task->state == RUNNING_AGAIN) {
        enqueue(task);
    } else {
        task->state = IDLE;
    }
    sim_foreign_polled(task, finished);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    struct rt_pollable *list[1] = {&executor->bell};
    (void)world;
    while (executor->unfinished > 0) {
        if (executor->queued == 0) {
            uint32_t ready[1];
            uint32_t count;
            SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
            continue;
        }
        struct task *task = executor->queue[0];
        executor->queued--;
        for (uint32_t i = 0; i < executor->queued; i++) {
            executor->queue[i] = executor->queue[i + 1];
        }
        run(task);
    }
    rt_pollable_drop(&executor->bell);
}

static void
again(void *runtime, void *of)
{
    struct task *task = of;
    (void)runtime;
    if (task->state == IDLE) {
        run(task);
    }
}

static bool
session_poll(struct task *task)
{
    struct session *session = rt_container_of(task, struct session, task);
    while (session->inbox.letters > 0) {
        session->inbox.letters--;
        session->read++;
        SIM_PROGRESS();
    }
    if (session->read == LETTERS) {
        return true;
    }
    session->inbox.reader = task;
    sim_foreign_store(task, &session->inbox.reader, "a letter");
    session->stamp_ns = rt_host_now(task->executor->host);
    return false;
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct sender *sender = argument;
    struct inbox *inbox = &sender->to->inbox;
    sim_sleep(world, sender->after_ns);
    inbox->letters++;
    struct task *reader = inbox->reader;
    if (reader != NULL) {
        inbox->reader = NULL;
        sim_foreign_fire(&inbox->reader);
        reader->executor->wake(reader);
    }
}

static void
setup_executor(struct sim_world *world, void (*wake)(struct task *))
{
    static const char *const names[] = {"sender A", "sender B"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct executor *executor = sim_new(world, struct executor);
    struct session *session = sim_new(world, struct session);
    executor->host = sim_host_seam(host);
    executor->wake = wake;
    executor->unfinished = 1;
    SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) == RT_OK);
    session->task = (struct task){.executor = executor, .poll = session_poll};
    session->task.state = QUEUED;
    executor->queue[executor->queued++] = &session->task;
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, executor);
    sim_foreign_spawn(foreign, &session->task, "session");
    for (uint32_t i = 0; i < 2; i++) {
        struct sender *sender = sim_new(world, struct sender);
        sender->to = session;
        sender->after_ns = sim_range(world, 1 * RT_MS, 3 * RT_MS);
        (void)sim_loop_new(world, names[i], sender_main, sender);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_executor(world, wake_idle);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_executor(world, wake_any);
}

SIM_SCENARIO(rerun_broken, .name = "rerun/broken", .about = "A session on an executor with a queue.",
        .setup = setup_broken);
SIM_SCENARIO(rerun_fixed, .name = "rerun/fixed", .about = "A session on an executor with a queue.",
        .setup = setup_fixed);
