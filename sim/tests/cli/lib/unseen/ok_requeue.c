// Correct.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* Edge-triggered reads with a budget: of each connection one piece a turn; one that may have more
 * stays in a list of the loop, which then does not wait. */
#include <sim/rewake.h>

#define CONNECTIONS 2
#define PIECE 8
#define PIECES 4

struct connection {
    int fd;
    int peer;
    bool maybe_more;
    bool ended;
    struct server *server;
};

struct server {
    struct sim_fds *fds;
    struct connection connections[CONNECTIONS];
    uint32_t open;
};

static void
read_piece(struct server *server, struct connection *connection)
{
    char bytes[PIECE];
    int64_t size = sim_fd_read(server->fds, connection->fd, bytes, sizeof(bytes));
    if (size == RT_E_AGAIN) {
        connection->maybe_more = false;
        return;
    }
    if (size <= 0) {
        connection->maybe_more = false;
        connection->ended = true;
        server->open--;
        (void)!sim_fd_close(server->fds, connection->fd);
        return;
    }
    SIM_PROGRESS();
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    (void)world;
    while (server->open > 0) {
        bool busy = false;
        for (uint32_t i = 0; i < CONNECTIONS; i++) {
            busy |= server->connections[i].maybe_more;
        }
        struct sim_fd_event events[CONNECTIONS];
        uint32_t count = sim_fd_wait(server->fds, events, CONNECTIONS, busy ? 0 : SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            struct connection *connection = &server->connections[events[i].data];
            connection->maybe_more = !connection->ended;
        }
        for (uint32_t i = 0; i < CONNECTIONS; i++) {
            if (server->connections[i].maybe_more) {
                read_piece(server, &server->connections[i]);
            }
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct connection *connection = argument;
    static const char bytes[PIECE * 2] = "a line, and one";
    for (uint32_t i = 0; i < PIECES / 2; i++) {
        sim_sleep(world, sim_range(world, 10 * RT_US, 300 * RT_US));
        uint32_t sent = 0;
        while (sent < sizeof(bytes)) {
            int64_t size = sim_fd_write(
                    connection->server->fds, connection->peer, bytes + sent, sizeof(bytes) - sent);
            if (size > 0) {
                sent += (uint32_t)size;
            } else {
                sim_sleep(world, 10 * RT_US);
            }
        }
    }
    (void)!sim_fd_close(connection->server->fds, connection->peer);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CONNECTIONS] = {"alice", "bob"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct server *server = sim_new(world, struct server);
    server->fds = sim_fds_new(host, 3);
    server->open = CONNECTIONS;
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        struct connection *connection = &server->connections[i];
        int pair[2];
        SIM_ALWAYS(sim_fd_pair(server->fds, names[i], 1 * RT_US, 200 * RT_US, pair) == RT_OK);
        connection->server = server;
        connection->fd = pair[0];
        connection->peer = pair[1];
        SIM_ALWAYS(sim_fd_add(server->fds, connection->fd, SIM_FD_IN | SIM_FD_EDGE, i) == RT_OK);
        (void)sim_loop_new(world, names[i], client_main, connection);
    }
    (void)sim_loop_new(world, "server", server_main, server);
}

SIM_SCENARIO(requeue, .name = "requeue/ok", .about = "Edge-triggered reads with a budget.",
        .setup = setup);
