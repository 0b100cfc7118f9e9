// SPDX-License-Identifier: Apache-2.0
/* Cause: on_writable(), line 61: the interest in OUT is taken away, but want_out stays true, so
 * flush() never asks for it again. repair: conn->want_out = false there. */
#include <string.h>

#include <sim/rewake.h>

#define ROUNDS 3
#define SIZE 6

struct conn {
    struct sim_fds *fds;
    int fd;
    char out[64];
    uint32_t length;
    bool want_out;
    bool resets;
    bool ended;
};

struct state {
    struct sim_fds *client_fds;
    int client_fd;
    struct conn conn;
};

static void
flush(struct conn *conn)
{
    if (conn->length > 0) {
        int64_t sent = sim_fd_write(conn->fds, conn->fd, conn->out, conn->length);
        if (sent > 0) {
            conn->length -= (uint32_t)sent;
            memmove(conn->out, conn->out + sent, conn->length);
        }
    }
    if (conn->length > 0 && !conn->want_out) {
        conn->want_out = true;
        SIM_ALWAYS(sim_fd_modify(conn->fds, conn->fd, SIM_FD_IN | SIM_FD_OUT, 0) == RT_OK);
    }
}

static void
on_readable(struct conn *conn)
{
    int64_t got = sim_fd_read(
            conn->fds, conn->fd, conn->out + conn->length, sizeof(conn->out) - conn->length);
    if (got == 0) {
        conn->ended = true;
    } else if (got > 0) {
        conn->length += (uint32_t)got;
        flush(conn);
    }
}

static void
on_writable(struct conn *conn)
{
    flush(conn);
    if (conn->length == 0) {
        SIM_ALWAYS(sim_fd_modify(conn->fds, conn->fd, SIM_FD_IN, 0) == RT_OK);
        if (conn->resets) {
            conn->want_out = false;
        }
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct conn *conn = &((struct state *)argument)->conn;
    (void)world;
    while (!conn->ended) {
        struct sim_fd_event event;
        if (sim_fd_wait(conn->fds, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        if (event.events & SIM_FD_OUT) {
            on_writable(conn);
        }
        if (event.events & (SIM_FD_IN | SIM_FD_HUP)) {
            on_readable(conn);
        }
    }
    SIM_ALWAYS(sim_fd_close(conn->fds, conn->fd) == RT_OK);
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        char answer[SIZE];
        uint32_t sent = 0;
        uint32_t got = 0;
        while (sent < SIZE) {
            int64_t n = sim_sys_write(
                    state->client_fds, state->client_fd, "hello\n" + sent, SIZE - sent, 0, RT_HERE);
            SIM_ALWAYS(n > 0);
            sent += (uint32_t)n;
        }
        while (got < SIZE) {
            int64_t n = sim_sys_read(
                    state->client_fds, state->client_fd, answer + got, SIZE - got, 0, RT_HERE);
            SIM_ALWAYS(n > 0);
            got += (uint32_t)n;
        }
        SIM_ALWAYS(memcmp(answer, "hello\n", SIZE) == 0);
    }
    SIM_ALWAYS(sim_fd_close(state->client_fds, state->client_fd) == RT_OK);
}

static void
begin(struct sim_world *world, bool resets)
{
    struct state *state = sim_new(world, struct state);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, "kernel", SIM_PROFILE_FD), 3);
    int pair[2];
    SIM_ALWAYS(sim_fd_pair(fds, "connection", 10 * RT_US, 50 * RT_US, pair) == RT_OK);
    SIM_ALWAYS(sim_sys_set_status(fds, pair[0], 0) == 0);
    state->client_fds = state->conn.fds = fds;
    state->client_fd = pair[0];
    state->conn.fd = pair[1];
    state->conn.resets = resets;
    SIM_ALWAYS(sim_fd_add(fds, pair[1], SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "server", server_main, state);
    (void)sim_loop_new(world, "client", client_main, state);
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

SIM_SCENARIO(echo_broken, .name = "echo/broken", .about = "A server sends back what it reads.",
        .setup = setup_broken);
SIM_SCENARIO(
        echo_fixed, .name = "echo/fixed", .about = "The same, repaired.", .setup = setup_fixed);
