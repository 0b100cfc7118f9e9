// Cause: s3_again.c:35 the loop remembers one connection that has not been read to the end; when two of a batch use up their share the second overwrites the first, whose edge is consumed, so its remaining bytes are never read.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define CONNECTIONS 3
#define TOTAL 18
#define PIECE 4
#define SHARE 2

struct server;

struct connection {
    struct server *server;
    int fd;
    int peer;
    uint32_t got;
    bool again; /* Its share is used up, and there may be more. */
};

struct server {
    struct sim_fds *fds;
    struct connection connections[CONNECTIONS];
    struct connection *again;
    uint32_t complete;
    bool fixed;
};

static void
connection_defer(struct connection *connection)
{
    if (connection->server->fixed) {
        connection->again = true;
    } else {
        connection->server->again = connection;
    }
}

static void
connection_readable(struct connection *connection)
{
    struct server *server = connection->server;
    char buffer[PIECE];
    if (connection->got == TOTAL) {
        return;
    }
    sim_foreign_poll(connection);
    for (uint32_t share = SHARE;; share--) {
        if (share == 0) {
            connection_defer(connection);
            break;
        }
        int64_t size = sim_fd_read(server->fds, connection->fd, buffer, sizeof buffer);
        if (size <= 0) {
            break;
        }
        connection->got += (uint32_t)size;
        if (connection->got == TOTAL) {
            server->complete++;
            break;
        }
    }
    sim_foreign_polled(connection, connection->got == TOTAL);
}

static void
connection_again(void *server, void *connection)
{
    (void)server;
    connection_readable(connection);
}

static bool
server_has_more(const struct server *server)
{
    bool more = server->again != NULL;
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        more = more || server->connections[i].again;
    }
    return more;
}

static void
server_continue(struct server *server)
{
    struct connection *connection = server->again;
    server->again = NULL;
    if (connection != NULL) {
        connection_readable(connection);
    }
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        if (server->connections[i].again) {
            server->connections[i].again = false;
            connection_readable(&server->connections[i]);
        }
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    struct sim_fd_event events[CONNECTIONS];
    (void)world;
    while (server->complete < CONNECTIONS) {
        uint64_t timeout = server_has_more(server) ? 0 : SIM_NEVER;
        uint32_t count = sim_fd_wait(server->fds, events, CONNECTIONS, timeout);
        server_continue(server);
        for (uint32_t i = 0; i < count; i++) {
            connection_readable(&server->connections[events[i].data]);
        }
    }
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct connection *connection = argument;
    static const char text[TOTAL] = "seventeen letters";
    for (uint32_t sent = 0; sent < TOTAL;) {
        sim_sleep(world, sim_range(world, RT_MS, 3 * RT_MS));
        uint32_t size = PIECE + PIECE * sim_pick(world, 4);
        size = size < TOTAL - sent ? size : TOTAL - sent;
        int64_t written = sim_fd_write(
                connection->server->fds, connection->peer, text + sent, size);
        SIM_ALWAYS(written > 0);
        sent += (uint32_t)written;
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[CONNECTIONS] = {"connection A", "connection B", "connection C"};
    static const char *const peers[CONNECTIONS] = {"peer A", "peer B", "peer C"};
    struct server *server = sim_new(world, struct server);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct sim_loop *loop = sim_loop_new(world, "server", server_main, server);
    struct sim_foreign *foreign = sim_foreign_new(loop, connection_again, server);
    server->fds = sim_fds_new(host, 3);
    server->fixed = fixed;
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        struct connection *connection = &server->connections[i];
        int pair[2];
        SIM_ALWAYS(sim_fd_pair(server->fds, names[i], RT_US, RT_MS, pair) == RT_OK);
        SIM_ALWAYS(sim_fd_add(server->fds, pair[0], SIM_FD_IN | SIM_FD_EDGE, i) == RT_OK);
        connection->server = server;
        connection->fd = pair[0];
        connection->peer = pair[1];
        sim_foreign_watch(foreign, connection, names[i], "bytes");
        (void)sim_loop_new(world, peers[i], peer_main, connection);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_again/broken", .about = "Connections with a share each.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_again/fixed", .about = "Connections with a share each.",
        .setup = setup_fixed);
