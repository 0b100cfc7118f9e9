/*
 * d_oneshot.c -- A thread-pool style server: its sockets are registered one-shot, so that only
 * one thread handles a socket, and are armed again after the handler. A request is a line of
 * eight bytes.
 *
 * Cause: After a short read the handler returns to wait for the rest of the line without arming
 * the one-shot registration again.
 * Where: handle
 * Kind: missing re-arm
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define LINE 8
#define LINES 3

static bool fixed;

struct server {
    struct sim_fds *os;
    int fd;
    int peer;
    char line[LINE];
    uint32_t have;
    uint32_t served;
};

static void
rearm(struct server *server)
{
    SIM_ALWAYS(sim_fd_modify(server->os, server->fd, SIM_FD_IN | SIM_FD_ONESHOT, 1) == RT_OK);
}

static void
handle(struct server *server)
{
    int64_t n =
            sim_fd_read(server->os, server->fd, server->line + server->have, LINE - server->have);
    if (n > 0) {
        server->have += (uint32_t)n;
    }
    if (server->have < LINE) {
        if (fixed) {
            rearm(server);
        }
        return; /* Not a whole line yet. */ /* Where. */
    }
    server->have = 0;
    server->served++;
    rearm(server);
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    struct sim_fd_event event;
    (void)world;
    while (server->served < LINES) {
        if (sim_fd_wait(server->os, &event, 1, SIM_NEVER) == 1) {
            handle(server);
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    static const char text[LINE * LINES] = "PING 01\nPING 02\nPING 03";
    uint32_t sent = 0;
    while (sent < sizeof(text)) {
        uint32_t size = sim_pick(world, 4) == 3 ? 5 : LINE - sent % LINE;
        if (size > sizeof(text) - sent) {
            size = sizeof(text) - sent;
        }
        int64_t n = sim_fd_write(server->os, server->peer, text + sent, size);
        sent += n > 0 ? (uint32_t)n : 0;
        sim_sleep(world, 200 * RT_US);
    }
}

static void
setup(struct sim_world *world)
{
    struct server *server = sim_new(world, struct server);
    int pair[2];
    server->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(server->os, "socket", 0, 100 * RT_US, pair) == RT_OK);
    server->fd = pair[0];
    server->peer = pair[1];
    SIM_ALWAYS(sim_fd_add(server->os, server->fd, SIM_FD_IN | SIM_FD_ONESHOT, 1) == RT_OK);
    sim_loop_new(world, "server", server_main, server);
    sim_loop_new(world, "client", client_main, server);
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

SIM_SCENARIO(form_broken, .name = "unseen/d-oneshot/broken",
        .about = "One-shot registrations and short reads.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/d-oneshot/fixed",
        .about = "One-shot registrations and short reads.", .setup = setup_fixed);
