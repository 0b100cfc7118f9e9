/*
 * callback_loop.c -- an event loop over descriptors: an eventfd, timers and deferred callbacks.
 *
 * A worker thread puts jobs into a list and adds to the eventfd. The loop empties the eventfd first
 * and takes the list afterwards: a job that arrives in between is in the list, or its count is
 * still in the eventfd. The timeout of the wait is 0 while callbacks are deferred, else the time to
 * the next timer, rounded up by nothing, as the wait takes nanoseconds. Callbacks that a callback
 * defers run in the next round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define JOBS 5u
#define TICKS 3u
#define TICK_NS (2 * RT_MS)

struct app {
    struct rt_host *host;
    struct sim_fds *fds;
    int event_fd;
    uint32_t posted;   /* Jobs that the loop has not taken. */
    uint32_t deferred; /* Jobs that run in the next round. */
    uint32_t done;
    uint32_t ticks;
    uint64_t tick_ns; /* When the next one is due. */
};

static void
app_take_jobs(struct app *app)
{
    uint64_t count;
    int64_t size = sim_fd_read(app->fds, app->event_fd, &count, sizeof(count));
    SIM_ALWAYS(size == sizeof(count) || size == RT_E_AGAIN);
    app->deferred += app->posted;
    app->posted = 0;
}

static void
app_run_deferred(struct app *app)
{
    uint32_t now = app->deferred;
    app->deferred = 0;
    app->done += now;
}

static void
app_run_timers(struct app *app)
{
    while (app->ticks < TICKS && rt_host_now(app->host) >= app->tick_ns) {
        app->ticks++;
        app->tick_ns += TICK_NS;
    }
}

static uint64_t
app_timeout(const struct app *app)
{
    if (app->deferred > 0) {
        return 0;
    }
    if (app->ticks == TICKS) {
        return SIM_NEVER;
    }
    uint64_t now_ns = rt_host_now(app->host);
    return app->tick_ns > now_ns ? app->tick_ns - now_ns : 0;
}

static void
app_main(struct sim_world *world, void *argument)
{
    struct app *app = argument;
    (void)world;
    while (app->done < JOBS || app->ticks < TICKS) {
        struct sim_fd_event events[4];
        uint32_t count = sim_fd_wait(app->fds, events, 4, app_timeout(app));
        app_run_deferred(app);
        for (uint32_t i = 0; i < count; i++) {
            app_take_jobs(app);
        }
        app_run_timers(app);
    }
    SIM_ALWAYS(app->done == JOBS);
}

/* A separate thread. */
static void
worker_main(struct sim_world *world, void *argument)
{
    struct app *app = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 0, 2 * RT_MS));
        app->posted++;
        SIM_ALWAYS(sim_fd_notify(app->fds, app->event_fd) == RT_OK);
    }
}

static void
setup(struct sim_world *world)
{
    struct app *app = sim_new(world, struct app);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    app->host = sim_host_seam(host);
    app->fds = sim_fds_new(host, 3);
    app->tick_ns = TICK_NS;
    SIM_ALWAYS(sim_fd_event_open(app->fds, "jobs", &app->event_fd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(app->fds, app->event_fd, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "loop", app_main, app);
    (void)sim_loop_new(world, "worker", worker_main, app);
}

SIM_SCENARIO(correct_callback_loop, .name = "correct/callback-loop",
        .about = "A loop with an eventfd, timers and deferred callbacks.", .setup = setup);
