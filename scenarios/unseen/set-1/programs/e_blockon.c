/*
 * e_blockon.c -- An executor with one task per connection. A handler calls block_on() to resolve
 * a name, which runs an inner loop on the same bell of the thread until the resolver thread has
 * answered.
 *
 * Cause: The inner loop of block_on() takes bell notifications that were meant for the outer
 * loop's tasks and throws them away, so a task woken meanwhile is only marked, never polled.
 * Where: block_on
 * Kind: nested loop that swallows a wake
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct program;

struct task {
    struct program *program;
    bool (*poll)(struct program *program);
    bool finished;
};

struct program {
    struct sim_fds *os;
    int bell;
    struct task lookup;
    struct task timer;
    bool queue_lookup; /* The run queue: one place a task. */
    bool queue_timer;
    bool asked;
    bool answer;
    bool ticked;
    bool nested;
};

static void
ring(struct program *p)
{
    SIM_ALWAYS(sim_fd_notify(p->os, p->bell) == RT_OK);
}

/* Runs until the name is resolved. */
static void
block_on(struct program *p)
{
    struct sim_fd_event event;
    uint64_t count;
    bool outer = false;
    while (!p->answer) {
        sim_fd_wait(p->os, &event, 1, SIM_NEVER);
        sim_fd_read(p->os, p->bell, &count, sizeof(count)); /* Where. */
        outer = true;
    }
    if (fixed && outer) {
        ring(p); /* Another may have been woken by what was read. */
    }
}

static bool
timer_poll(struct program *p)
{
    if (!p->ticked) {
        sim_foreign_store(&p->timer, &p->ticked, "a tick");
        return false;
    }
    return true;
}

static void
run(struct task *task)
{
    sim_foreign_poll(task);
    task->finished = task->poll(task->program);
    sim_foreign_polled(task, task->finished);
}

static void
again(void *program, void *task)
{
    (void)program;
    run(task);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct program *p = argument;
    struct sim_fd_event event;
    uint64_t count;
    (void)world;
    run(&p->timer);
    p->asked = true;
    block_on(p);
    while (!p->timer.finished) {
        sim_fd_wait(p->os, &event, 1, SIM_NEVER);
        sim_fd_read(p->os, p->bell, &count, sizeof(count));
        if (p->queue_timer) {
            p->queue_timer = false;
            run(&p->timer);
        }
    }
}

static void
resolver_main(struct sim_world *world, void *argument)
{
    struct program *p = argument;
    sim_sleep(world, sim_range(world, RT_MS, 3 * RT_MS));
    p->answer = true;
    ring(p);
}

static void
ticker_main(struct sim_world *world, void *argument)
{
    struct program *p = argument;
    sim_sleep(world, sim_range(world, 2 * RT_MS, 4 * RT_MS));
    p->ticked = true;
    sim_foreign_fire(&p->ticked);
    p->queue_timer = true;
    ring(p);
}

static void
setup(struct sim_world *world)
{
    struct program *p = sim_new(world, struct program);
    p->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(p->os, "bell", &p->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(p->os, p->bell, SIM_FD_IN, 0) == RT_OK);
    p->timer = (struct task){.program = p, .poll = timer_poll};
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, p);
    sim_foreign_spawn(sim_foreign_new(loop, again, p), &p->timer, "tick-task");
    sim_loop_new(world, "resolver", resolver_main, p);
    sim_loop_new(world, "ticker", ticker_main, p);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/e-blockon/broken",
        .about = "block_on() inside an executor's thread.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP,
        .slack_ns = 4 * RT_MS /* block_on() holds the thread, by design. */);
SIM_SCENARIO(form_fixed, .name = "unseen/e-blockon/fixed",
        .about = "block_on() inside an executor's thread.", .setup = setup_fixed,
        .slack_ns = 4 * RT_MS /* block_on() holds the thread, by design. */);
