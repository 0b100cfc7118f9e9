/*
 * d_reuse.c -- A server keeps its connections by descriptor number. An administrator can kick
 * one; fetched batches have up to four events.
 *
 * Cause: An event of a connection that was closed earlier in the same batch is dispatched by its
 * number, which a new connection has by then, so the new connection is closed for the old one's
 * hang-up.
 * Where: server_main
 * Kind: event delivered to the wrong connection
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

enum { ADMIN = 1000, LISTENER = 1001 };

static bool fixed;

struct server {
    struct sim_fds *os;
    int admin;
    int listener;
    int first;
    int first_peer;
    uint64_t generation[64];
    struct sim_fds *client_os;
    int accepted_fd; /* Tells the client that it is connected. */
    int client_peer;
    bool served;
};

static void
close_connection(struct server *server, int fd)
{
    if (sim_fd_close(server->os, fd) == RT_OK) {
        server->generation[fd]++;
        if (fd == server->first) {
            server->first = -1;
        }
    }
}

static void
accept_connection(struct server *server)
{
    int fd;
    if (sim_fd_accept(server->os, server->listener, &fd, &server->client_peer) != RT_OK) {
        return;
    }
    SIM_ALWAYS(sim_fd_add(server->os, fd, SIM_FD_IN | SIM_FD_RDHUP,
                       server->generation[fd] << 16 | (uint64_t)fd) == RT_OK);
    SIM_ALWAYS(sim_fd_notify(server->client_os, server->accepted_fd) == RT_OK);
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    struct sim_fd_event events[4];
    uint64_t count;
    char byte;
    while (!server->served) {
        sim_sleep(world, 200 * RT_US); /* Other work. */
        uint32_t n = sim_fd_wait(server->os, events, 4, SIM_NEVER);
        for (uint32_t i = 0; i < n; i++) {
            int fd = (int)(events[i].data & 0xffff);
            if (fd == ADMIN) {
                sim_fd_read(server->os, server->admin, &count, sizeof(count));
                if (server->first >= 0) {
                    close_connection(server, server->first);
                }
                continue;
            }
            if (fd == LISTENER) {
                accept_connection(server);
                continue;
            }
            if (fixed && events[i].data >> 16 != server->generation[fd]) {
                continue; /* Of an earlier connection. */
            }
            if (events[i].events & (SIM_FD_HUP | SIM_FD_RDHUP)) {
                close_connection(server, fd); /* Where. */
            } else if (sim_fd_read(server->os, fd, &byte, 1) == 1 && byte == 'c') {
                server->served = true;
            }
        }
    }
}

static void
first_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    sim_sleep(world, sim_range(world, 0, RT_MS));
    SIM_ALWAYS(sim_fd_close(server->os, server->first_peer) == RT_OK);
}

static void
admin_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    sim_sleep(world, sim_range(world, 0, RT_MS));
    SIM_ALWAYS(sim_fd_notify(server->os, server->admin) == RT_OK);
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    struct sim_fd_event event;
    (void)world;
    sim_fd_wait(server->client_os, &event, 1, SIM_NEVER);
    (void)sim_fd_write(server->os, server->client_peer, "c", 1);
}

static void
setup(struct sim_world *world)
{
    struct server *server = sim_new(world, struct server);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    int pair[2];
    server->os = sim_fds_new(host, 3);
    server->client_os = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_event_open(server->os, "admin", &server->admin) == RT_OK);
    SIM_ALWAYS(sim_fd_listen(server->os, "port", 1, 0, RT_MS, &server->listener) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(server->os, "first", 0, 1000, pair) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(server->client_os, "connected", &server->accepted_fd) == RT_OK);
    server->first = pair[0];
    server->first_peer = pair[1];
    SIM_ALWAYS(sim_fd_add(server->os, server->admin, SIM_FD_IN, ADMIN) == RT_OK);
    SIM_ALWAYS(sim_fd_add(server->os, server->listener, SIM_FD_IN, LISTENER) == RT_OK);
    SIM_ALWAYS(
            sim_fd_add(server->os, pair[0], SIM_FD_IN | SIM_FD_RDHUP, (uint64_t)pair[0]) == RT_OK);
    SIM_ALWAYS(sim_fd_add(server->client_os, server->accepted_fd, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "server", server_main, server);
    sim_loop_new(world, "first-client", first_main, server);
    sim_loop_new(world, "administrator", admin_main, server);
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

SIM_SCENARIO(form_broken, .name = "unseen/d-reuse/broken",
        .about = "A descriptor number that is reused within a batch.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/d-reuse/fixed",
        .about = "A descriptor number that is reused within a batch.", .setup = setup_fixed);
