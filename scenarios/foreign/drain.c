/*
 * drain.c -- a loop of callbacks checks its queue first, and drains its eventfd after that.
 *
 * The most common lost event of hand-written loops. Other threads put an item into a queue and
 * write to an eventfd; the loop sleeps in the fake host's sim_fd_wait (sim/host/fd.h), and its
 * callback empties both.
 *
 * The bug. The callback checks the queue before it reads the eventfd. An item that arrives between
 * the two is not seen, and the read takes its notification: the loop sleeps with a full queue.
 *
 * The fix. The callback reads the eventfd before it checks the queue.
 *
 * Here. A worker puts three items, at most two microseconds apart. The third one has to arrive
 * between two statements of the callback: a loop gives way before it calls the host
 * (sim_loop_switch), which makes that possible.
 *
 * Cause: fired-early in worker_main
 * Must end in: lost-wakeup of `items`. Fails on the baseline run: no, no loop gives way there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ITEMS 3u

struct program {
    struct sim_fds *fds;
    int eventfd;
    uint32_t posted;   /* By the worker. */
    uint32_t handled;  /* By the loop. */
    bool drains_first; /* The fix. */
};

static void
check_queue(struct program *program)
{
    program->handled = program->posted;
}

static void
drain(struct program *program)
{
    uint64_t times = 0;
    (void)sim_fd_read(program->fds, program->eventfd, &times, sizeof(times));
}

/* The callback of the eventfd. */
static void
on_items(struct program *program)
{
    sim_foreign_poll(program);
    if (program->drains_first) {
        drain(program);
        check_queue(program);
    } else {
        check_queue(program);
        drain(program);
    }
    sim_foreign_polled(program, program->handled == ITEMS);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    (void)world;
    while (program->handled < ITEMS) {
        struct sim_fd_event event;
        if (sim_fd_wait(program->fds, &event, 1, SIM_NEVER) > 0) {
            on_items(program);
        }
    }
}

/* A second thread. */
static void
worker_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t i = 0; i < ITEMS; i++) {
        sim_sleep(world, sim_range(world, 0, 2 * RT_US));
        program->posted++;
        SIM_ALWAYS(sim_fd_notify(program->fds, program->eventfd) == RT_OK);
    }
}

/* The oracle's question: an event for nothing. */
static void
loop_again(void *argument, void *watcher)
{
    (void)argument;
    on_items(watcher);
}

static void
begin(struct sim_world *world, bool drains_first)
{
    struct program *program = sim_new(world, struct program);
    program->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    program->drains_first = drains_first;
    SIM_ALWAYS(sim_fd_event_open(program->fds, "eventfd", &program->eventfd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(program->fds, program->eventfd, SIM_FD_IN, 0) == RT_OK);

    struct sim_loop *loop = sim_loop_new(world, "loop", loop_main, program);
    struct sim_foreign *foreign = sim_foreign_new(loop, loop_again, program);
    sim_foreign_watch(foreign, program, "items", "an item");
    (void)sim_loop_new(world, "worker", worker_main, program);
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

SIM_SCENARIO(outside_drain_broken, .name = "foreign/drain/broken",
        .about = "A loop of callbacks checks its queue, then drains its eventfd.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD,
        .survives = SIM_FAULT_EINTR | SIM_FAULT_CLOCK, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(outside_drain_fixed, .name = "foreign/drain/fixed",
        .about = "A loop of callbacks drains its eventfd, then checks its queue.",
        .setup = setup_fixed, .profile = SIM_PROFILE_FD,
        .survives = SIM_FAULT_EINTR | SIM_FAULT_CLOCK);
