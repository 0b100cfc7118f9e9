/*
 * d_edge.c -- A server loop reads requests from a client's socket, which is registered edge-
 * triggered.
 *
 * Cause: The read callback reads one buffer for each edge instead of reading until RT_E_AGAIN,
 * so bytes that are left in the socket are never reported again.
 * Where: on_readable
 * Kind: edge-triggered descriptor not drained
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TOTAL 24

static bool fixed;

struct server {
    struct sim_fds *os;
    int fd;
    int peer;
    uint32_t received;
};

static void
on_readable(struct server *server)
{
    char buffer[8];
    int64_t n;
    do {
        n = sim_fd_read(server->os, server->fd, buffer, sizeof(buffer));
        if (n <= 0) {
            break;
        }
        server->received += (uint32_t)n;
    } while (fixed); /* Where. */
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    struct sim_fd_event events[4];
    (void)world;
    while (server->received < TOTAL) {
        uint32_t count = sim_fd_wait(server->os, events, 4, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].events & SIM_FD_IN) {
                on_readable(server);
            }
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    static const char request[TOTAL] = "GET / HTTP/1.0 12345678";
    uint32_t sent = 0;
    while (sent < TOTAL) {
        uint32_t size = (uint32_t)sim_range(world, 8, 16);
        if (size > TOTAL - sent) {
            size = TOTAL - sent;
        }
        int64_t n = sim_fd_write(server->os, server->peer, request + sent, size);
        sent += n > 0 ? (uint32_t)n : 0;
        sim_sleep(world, sim_range(world, 10 * RT_US, 500 * RT_US));
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
    SIM_ALWAYS(sim_fd_add(server->os, server->fd, SIM_FD_IN | SIM_FD_EDGE, 0) == RT_OK);
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

SIM_SCENARIO(form_broken, .name = "unseen/d-edge/broken", .about = "An edge-triggered socket.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/d-edge/fixed", .about = "An edge-triggered socket.",
        .setup = setup_fixed);
