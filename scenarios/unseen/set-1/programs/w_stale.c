/*
 * w_stale.c -- An event loop that computes its poll time-out at the top of an iteration, then
 * runs deferred callbacks, then polls. A deferred callback starts the time-out of a request.
 *
 * Cause: The poll time-out is computed before the deferred callbacks run, so a shorter timer
 * that such a callback starts is not taken into account and fires late.
 * Where: loop_main
 * Kind: deadline computed before a change
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TIMERS 4

static bool fixed;

struct timer {
    uint64_t due; /* 0: not started. */
};

struct loop {
    struct sim_world *world;
    struct sim_fds *os;
    int requests;
    struct timer timers[TIMERS];
    uint32_t started;
    uint32_t fired;
    uint32_t deferred;
};

static uint64_t
time_out(const struct loop *loop)
{
    uint64_t now = sim_now(loop->world);
    uint64_t first = SIM_NEVER;
    for (uint32_t i = 0; i < TIMERS; i++) {
        uint64_t due = loop->timers[i].due;
        if (due != 0) {
            uint64_t left = due > now ? due - now : 0;
            first = left < first ? left : first;
        }
    }
    return first;
}

static void
run_deferred(struct loop *loop)
{
    while (loop->deferred > 0 && loop->started < TIMERS) {
        loop->deferred--;
        uint64_t delay = loop->started == 0 ? 100 * RT_MS : 5 * RT_MS;
        loop->timers[loop->started++].due = sim_now(loop->world) + delay;
    }
}

static void
run_timers(struct loop *loop)
{
    for (uint32_t i = 0; i < TIMERS; i++) {
        if (loop->timers[i].due != 0 && loop->timers[i].due <= sim_now(loop->world)) {
            loop->timers[i].due = 0;
            loop->fired++;
            SIM_PROGRESS();
        }
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    struct sim_fd_event event;
    uint64_t count;
    (void)world;
    while (loop->fired < TIMERS) {
        uint64_t timeout = time_out(loop); /* Where. */
        run_deferred(loop);
        if (fixed) {
            timeout = time_out(loop);
        }
        if (sim_fd_wait(loop->os, &event, 1, timeout) == 1 &&
                sim_fd_read(loop->os, loop->requests, &count, sizeof(count)) > 0) {
            loop->deferred += (uint32_t)count;
        }
        run_timers(loop);
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    for (uint32_t i = 0; i < TIMERS; i++) {
        SIM_ALWAYS(sim_fd_notify(loop->os, loop->requests) == RT_OK);
        sim_sleep(world, sim_range(world, RT_MS, 20 * RT_MS));
    }
    sim_sleep(world, 20 * RT_MS);
    SIM_ALWAYS(sim_fd_notify(loop->os, loop->requests) == RT_OK); /* Says good-bye. */
}

static void
setup(struct sim_world *world)
{
    struct loop *loop = sim_new(world, struct loop);
    loop->world = world;
    loop->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(loop->os, "requests", &loop->requests) == RT_OK);
    SIM_ALWAYS(sim_fd_add(loop->os, loop->requests, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "loop", loop_main, loop);
    sim_loop_new(world, "client", client_main, loop);
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

SIM_SCENARIO(form_broken, .name = "unseen/w-stale/broken",
        .about = "A poll time-out and deferred callbacks.", .setup = setup_broken,
        .expect = SIM_VERDICT_LATE_WAKEUP, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/w-stale/fixed",
        .about = "A poll time-out and deferred callbacks.", .setup = setup_fixed);
