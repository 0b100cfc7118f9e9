/*
 * d_async.c -- A uv_async-like handle: async_send() from any thread sets `pending` and writes
 * the eventfd only if it was not pending; the loop's callback drains a list of log records.
 *
 * Cause: The loop clears `pending` after its callback has drained the list, so a record that is
 * sent between the drain and the clear writes no eventfd.
 * Where: loop_main
 * Kind: flag checked before the drain / reset too late
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define RECORDS 4

static bool fixed;

struct async {
    struct sim_fds *os;
    int eventfd;
    bool pending;
    int listed;
    int written;
    int log_fd;
};

static void
async_send(struct async *async)
{
    async->listed++;
    if (!async->pending) {
        async->pending = true;
        SIM_ALWAYS(sim_fd_notify(async->os, async->eventfd) == RT_OK);
    }
}

static void
on_async(struct async *async)
{
    while (async->written < async->listed) {
        async->written++;
        SIM_PROGRESS();
    }
    (void)sim_fd_write(async->os, async->log_fd, "record\n", 7); /* The log file. */
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct async *async = argument;
    struct sim_fd_event event;
    uint64_t count;
    (void)world;
    while (async->written < RECORDS) {
        sim_fd_wait(async->os, &event, 1, SIM_NEVER);
        sim_fd_read(async->os, async->eventfd, &count, sizeof(count));
        if (fixed) {
            async->pending = false;
        }
        on_async(async);
        if (!fixed) {
            async->pending = false; /* Where. */
        }
    }
}

static void
thread_main(struct sim_world *world, void *argument)
{
    for (int i = 0; i < RECORDS / 2; i++) {
        sim_sleep(world, sim_range(world, 0, 800));
        async_send(argument);
    }
}

static void
setup(struct sim_world *world)
{
    struct async *async = sim_new(world, struct async);
    int pair[2];
    async->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(async->os, "async", &async->eventfd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(async->os, async->eventfd, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(async->os, "log", 0, 10 * RT_US, pair) == RT_OK);
    async->log_fd = pair[0];
    sim_loop_new(world, "loop", loop_main, async);
    sim_loop_new(world, "thread-1", thread_main, async);
    sim_loop_new(world, "thread-2", thread_main, async);
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

SIM_SCENARIO(form_broken, .name = "unseen/d-async/broken",
        .about = "An async handle with a pending flag.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/d-async/fixed",
        .about = "An async handle with a pending flag.", .setup = setup_fixed);
