/*
 * spins_on_the_clock.c -- a step that ends by the clock alone: a pass over timers that never ends.
 *
 * redis/redis 67b70a1.
 *
 * The bug. A periodic timer is set to the start of its callback plus its period, and the pass over
 * the timers begins again at the front after each callback. A callback that takes longer than the
 * period is due again at once, so the pass never ends, and the server never reads its clients.
 *
 * The fix. The timer is set to the end of its callback plus its period, and gets a new number; a
 * pass skips timers with numbers from after its beginning.
 *
 * Here. The callback takes up to 2 ms, the period is 1 ms. The pass makes no call that gives way,
 * so one step spins while virtual time advances: the limit on virtual time ends it, and not the
 * time limit for a hanging process.
 *
 * Must end in: time-limit. fixed: pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define TIMERS 2

struct timer {
    uint64_t deadline_ns;
    uint64_t period_ns;
    uint32_t number; /* A later start has a greater number. */
};

struct server {
    struct sim_world *world;
    struct sim_fds *fds;
    int socket;
    int peer;
    struct timer timers[TIMERS];
    uint64_t callback_ns;
    uint32_t next_number;
    bool fixed;
    bool stops;
};

static void
timer_restart(struct server *server, struct timer *timer, uint64_t started_ns)
{
    if (server->fixed) {
        timer->deadline_ns = sim_now(server->world) + timer->period_ns;
        timer->number = server->next_number++;
    } else {
        timer->deadline_ns = started_ns + timer->period_ns;
    }
}

/* Calls what is due, from the front again after each callback, which may have changed the list. */
static void
run_timers(struct server *server)
{
    uint32_t last_number = server->next_number - 1;
    uint32_t i = 0;
    while (i < TIMERS) {
        struct timer *timer = &server->timers[i];
        uint64_t now_ns = sim_now(server->world);
        bool skipped = server->fixed && timer->number > last_number;
        if (timer->deadline_ns > now_ns || skipped) {
            i++;
            continue;
        }
        sim_work(server->world, server->callback_ns);
        timer_restart(server, timer, now_ns);
        i = 0;
    }
}

static uint64_t
timeout_ns(const struct server *server)
{
    uint64_t now_ns = sim_now(server->world);
    uint64_t first_ns = SIM_NEVER;
    for (uint32_t i = 0; i < TIMERS; i++) {
        if (server->timers[i].deadline_ns < first_ns) {
            first_ns = server->timers[i].deadline_ns;
        }
    }
    return first_ns > now_ns ? first_ns - now_ns : 0;
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    char request;
    (void)world;
    while (!server->stops) {
        struct sim_fd_event batch[BATCH_MAX];
        uint32_t count = sim_fd_wait(server->fds, batch, BATCH_MAX, timeout_ns(server));
        for (uint32_t i = 0; i < count; i++) {
            if (sim_fd_read(server->fds, server->socket, &request, 1) == 1 && request == 'q') {
                server->stops = true;
            }
        }
        run_timers(server);
    }
}

/* One request, then the command to stop. */
static void
client_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    sim_sleep(world, sim_range(world, 5 * RT_MS, 20 * RT_MS));
    SIM_ALWAYS(sim_fd_write(server->fds, server->peer, "g", 1) == 1);
    sim_sleep(world, sim_range(world, 5 * RT_MS, 20 * RT_MS));
    SIM_ALWAYS(sim_fd_write(server->fds, server->peer, "q", 1) == 1);
}

static void
begin(struct sim_world *world, bool fixed)
{
    struct server *server = sim_new(world, struct server);
    int ends[2] = {-1, -1};
    server->world = world;
    server->fixed = fixed;
    server->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(server->fds, "client", 0, RT_MS, ends) == RT_OK);
    server->socket = ends[0];
    server->peer = ends[1];
    SIM_ALWAYS(sim_fd_add(server->fds, server->socket, SIM_FD_IN, 0) == RT_OK);
    server->timers[0] = (struct timer){.deadline_ns = RT_MS, .period_ns = RT_MS, .number = 1};
    server->timers[1] =
            (struct timer){.deadline_ns = 10 * RT_MS, .period_ns = 10 * RT_MS, .number = 2};
    server->next_number = 3;
    server->callback_ns = sim_range(world, 100 * RT_US, 2 * RT_MS);
    (void)sim_loop_new(world, "server", server_main, server);
    (void)sim_loop_new(world, "client", client_main, server);
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

SIM_SCENARIO(oracle_spins_on_the_clock_broken, .name = "oracle/spins-on-the-clock/broken",
        .about = "A pass over timers does not end, as each callback outlasts the period.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_TIME_LIMIT);
SIM_SCENARIO(oracle_spins_on_the_clock_fixed, .name = "oracle/spins-on-the-clock/fixed",
        .about = "A pass over timers skips those that it has called.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
