/*
 * edge_echo.c -- an echo over edge-triggered descriptors.
 *
 * Both ends are served by one loop. An edge is reported once, so each end works until its
 * descriptor says RT_E_AGAIN: the server writes what it holds, then reads more, and stops only when
 * a write or a read would block; the client does the same. Each event of either kind makes the end
 * try all it has to do, as an edge does not say how much there is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BYTES 64u

struct end {
    struct sim_fds *fds;
    int fd;
    char held[8]; /* Server: read and not yet written back. */
    size_t held_size;
    uint32_t sent; /* Client: written, and read back. */
    uint32_t received;
    bool closed;
};

struct echo {
    struct sim_fds *fds;
    struct end server;
    struct end client;
};

static void
server_work(struct end *server)
{
    while (!server->closed) {
        if (server->held_size > 0) {
            int64_t size = sim_fd_write(server->fds, server->fd, server->held, server->held_size);
            if (size == RT_E_AGAIN) {
                return;
            }
            SIM_ALWAYS(size > 0);
            server->held_size -= (size_t)size;
            continue;
        }
        int64_t size = sim_fd_read(server->fds, server->fd, server->held, sizeof(server->held));
        if (size == RT_E_AGAIN) {
            return;
        }
        SIM_ALWAYS(size >= 0);
        server->held_size = (size_t)size;
        server->closed = size == 0;
    }
    SIM_ALWAYS(sim_fd_close(server->fds, server->fd) == RT_OK);
}

static void
client_work(struct end *client)
{
    static const char bytes[BYTES];
    char buffer[16];
    int64_t size = 0;
    while (client->sent < BYTES && size != RT_E_AGAIN) {
        size = sim_fd_write(client->fds, client->fd, bytes, BYTES - client->sent);
        client->sent += size > 0 ? (uint32_t)size : 0;
    }
    for (size = 0; client->received < BYTES && size != RT_E_AGAIN;) {
        size = sim_fd_read(client->fds, client->fd, buffer, sizeof(buffer));
        client->received += size > 0 ? (uint32_t)size : 0;
    }
    if (client->received == BYTES) {
        client->closed = true;
        SIM_ALWAYS(sim_fd_close(client->fds, client->fd) == RT_OK);
    }
}

static void
echo_main(struct sim_world *world, void *argument)
{
    struct echo *echo = argument;
    (void)world;
    while (!echo->server.closed || !echo->client.closed) {
        struct sim_fd_event events[2];
        uint32_t count = sim_fd_wait(echo->fds, events, 2, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].data == 0 && !echo->server.closed) {
                server_work(&echo->server);
            } else if (events[i].data == 1 && !echo->client.closed) {
                client_work(&echo->client);
            }
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct echo *echo = sim_new(world, struct echo);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    const uint32_t events = SIM_FD_IN | SIM_FD_OUT | SIM_FD_EDGE;
    int fd[2];
    echo->fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_pair(echo->fds, "connection", 0, 2 * RT_MS, fd) == RT_OK);
    echo->server.fds = echo->client.fds = echo->fds;
    echo->server.fd = fd[0];
    echo->client.fd = fd[1];
    SIM_ALWAYS(sim_fd_add(echo->fds, fd[0], events, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(echo->fds, fd[1], events, 1) == RT_OK);
    (void)sim_loop_new(world, "loop", echo_main, echo);
}

SIM_SCENARIO(correct_edge_echo, .name = "correct/edge-echo",
        .about = "Edges, and reading and writing until it would block.", .setup = setup);
