/* Two threads that serve one connection by a wait set with one-shot registrations, and keep the order of its lines.
 * Cause: serve() (line 55): the registration is renewed when all has been read, before it is handled, so that the other
 * thread may handle what comes next meanwhile. Repair: handle all of it, then renew. */
#include <sim/rewake.h>

#define THREADS 2
#define LINES 4

struct server {
    struct sim_world *world;
    struct sim_fds *fds;
    int connection, peer;
    int quit;
    int journal, journal_out; /* Both ends of a pipe: what was handled. */
    uint32_t handled;
    char logged;
    bool repaired;
};

static void
rearm(struct server *server)
{
    SIM_ALWAYS(sim_fd_modify(server->fds, server->connection, SIM_FD_IN | SIM_FD_ONESHOT, 1) == RT_OK);
}

static void
handle(struct server *server, const char *lines, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        SIM_ALWAYS(sim_fd_write(server->fds, server->journal, &lines[i], 1) == 1);
        SIM_ALWAYS(lines[i] == server->logged + 1);
        server->logged = lines[i];
        server->handled++;
        SIM_PROGRESS();
    }
    if (server->handled == LINES) {
        SIM_ALWAYS(sim_fd_notify(server->fds, server->quit) == RT_OK);
    }
}

static void
serve(struct server *server)
{
    char lines[LINES];
    int64_t have = 0;
    while (have < LINES) {
        int64_t n = sim_fd_read(server->fds, server->connection, lines + have, (size_t)(LINES - have));
        if (n == RT_E_AGAIN || n == 0) {
            break;
        }
        SIM_ALWAYS(n > 0);
        have += n;
    }
    if (!server->repaired) {
        rearm(server);
    }
    handle(server, lines, have);
    if (server->repaired) {
        rearm(server);
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    (void)world;
    for (;;) {
        struct sim_fd_event event;
        if (sim_fd_wait(server->fds, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        if (event.data == 2) {
            /* Stays readable, so that the other thread ends as well. */
            return;
        }
        serve(server);
    }
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    for (char line = 1; line <= LINES; line++) {
        SIM_ALWAYS(sim_fd_write(server->fds, server->peer, &line, 1) == 1);
        sim_sleep(world, sim_range(world, 0, 2 * RT_MS));
    }
}

static void
setup(struct sim_world *world, bool repaired)
{
    struct server *server = sim_new(world, struct server);
    int pair[2];
    server->world = world;
    server->repaired = repaired;
    server->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(server->fds, "connection", RT_US, RT_MS, pair) == RT_OK);
    server->connection = pair[0];
    server->peer = pair[1];
    SIM_ALWAYS(sim_fd_pair(server->fds, "journal", RT_US, RT_MS, pair) == RT_OK);
    server->journal = pair[0];
    server->journal_out = pair[1];
    SIM_ALWAYS(sim_fd_event_open(server->fds, "quit", &server->quit) == RT_OK);
    SIM_ALWAYS(sim_fd_add(server->fds, server->connection, SIM_FD_IN | SIM_FD_ONESHOT, 1) == RT_OK);
    SIM_ALWAYS(sim_fd_add(server->fds, server->quit, SIM_FD_IN, 2) == RT_OK);
    (void)sim_loop_new(world, "thread 1", server_main, server);
    (void)sim_loop_new(world, "thread 2", server_main, server);
    (void)sim_loop_new(world, "peer", peer_main, server);
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

SIM_SCENARIO(oneshot_broken, .name = "s14_oneshot/broken", .about = "Two threads, one connection.",
        .setup = setup_broken);
SIM_SCENARIO(oneshot_fixed, .name = "s14_oneshot/fixed", .about = "Two threads, one connection, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
