/* A server loop of callbacks over one-shot descriptors, which reads frames with a length.
 * Cause: on_readable() line 65: with less than a header the callback returns before the descriptor is armed again,
 * so the rest is never read; repair: arm it on this path, too. */
#include <sim/rewake.h>
#include <string.h>

#define CLIENTS 2
#define FRAMES 3
#define HEADER 2u /* The length, high byte first. */
#define PAYLOAD 6
#define SPACE 64

struct server;

struct connection {
    struct server *server;
    int fd;
    int peer;
    unsigned char buffer[SPACE];
    unsigned used;
    unsigned frames;
    unsigned sum;
};

struct server {
    struct sim_fds *fds;
    struct connection connections[CLIENTS];
    unsigned finished;
    bool fixed;
};

static void
connection_arm(struct connection *connection)
{
    SIM_ALWAYS(sim_fd_modify(connection->server->fds, connection->fd, SIM_FD_IN | SIM_FD_ONESHOT,
                       (uint64_t)(connection - connection->server->connections)) == RT_OK);
}

static void
frame_handle(struct connection *connection, const unsigned char *payload, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        connection->sum += payload[i];
    }
    connection->frames++;
    SIM_PROGRESS();
}

static void
on_readable(struct connection *connection)
{
    struct server *server = connection->server;
    int64_t size = sim_fd_read(server->fds, connection->fd, connection->buffer + connection->used,
            SPACE - connection->used);
    if (size == RT_E_AGAIN) {
        connection_arm(connection);
        return;
    }
    SIM_ALWAYS(size > 0);
    connection->used += (unsigned)size;
    if (connection->used < HEADER) {
        if (server->fixed) {
            connection_arm(connection);
        }
        return;
    }

    unsigned at = 0;
    while (connection->used - at >= HEADER) {
        unsigned length = connection->buffer[at] << 8 | connection->buffer[at + 1];
        if (connection->used - at < HEADER + length) {
            break;
        }
        frame_handle(connection, connection->buffer + at + HEADER, length);
        at += HEADER + length;
    }
    memmove(connection->buffer, connection->buffer + at, connection->used - at);
    connection->used -= at;
    if (connection->frames == FRAMES) {
        SIM_ALWAYS(connection->sum == FRAMES * PAYLOAD);
        SIM_ALWAYS(sim_fd_remove(server->fds, connection->fd) == RT_OK);
        server->finished++;
        return;
    }
    connection_arm(connection);
}

static void
callback(struct connection *connection)
{
    sim_foreign_poll(connection);
    if (connection->frames < FRAMES) {
        on_readable(connection);
    }
    sim_foreign_polled(connection, connection->frames == FRAMES);
}

static void
server_again(void *server, void *connection)
{
    (void)server;
    callback(connection);
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    (void)world;
    while (server->finished < CLIENTS) {
        struct sim_fd_event events[CLIENTS];
        uint32_t count = sim_fd_wait(server->fds, events, CLIENTS, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            callback(&server->connections[events[i].data]);
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct connection *connection = argument;
    unsigned char frames[FRAMES * (HEADER + PAYLOAD)];
    size_t size = sizeof(frames);
    size_t sent = 0;
    for (unsigned i = 0; i < size; i++) {
        unsigned at = i % (HEADER + PAYLOAD);
        frames[i] = at == 0 ? 0 : at == 1 ? PAYLOAD : 1;
    }
    while (sent < size) {
        int64_t n = sim_fd_write(
                connection->server->fds, connection->peer, frames + sent, size - sent);
        SIM_ALWAYS(n > 0 || n == RT_E_AGAIN);
        sent += n > 0 ? (size_t)n : 0;
        sim_sleep(world, sim_range(world, 100 * RT_US, 1 * RT_MS));
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[CLIENTS][2] = {{"peer 1", "client 1"}, {"peer 2", "client 2"}};
    struct server *server = sim_new(world, struct server);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    server->fds = sim_fds_new(host, 3);
    server->fixed = fixed;
    struct sim_loop *loop = sim_loop_new(world, "server", server_main, server);
    struct sim_foreign *foreign = sim_foreign_new(loop, server_again, server);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct connection *connection = &server->connections[i];
        int pair[2];
        connection->server = server;
        SIM_ALWAYS(sim_fd_pair(server->fds, names[i][0], 10 * RT_US, 100 * RT_US, pair) == RT_OK);
        connection->fd = pair[0];
        connection->peer = pair[1];
        SIM_ALWAYS(sim_fd_add(server->fds, connection->fd, SIM_FD_IN | SIM_FD_ONESHOT, i) == RT_OK);
        sim_foreign_watch(foreign, connection, names[i][0], "a frame");
        (void)sim_loop_new(world, names[i][1], client_main, connection);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_frames/broken", .about = "One-shot descriptors, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP,
        .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s13_frames/fixed", .about = "One-shot descriptors.",
        .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
