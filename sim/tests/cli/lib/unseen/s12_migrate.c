/*
 * A thread greets connections and hands them to a worker; both have an epoll instance of their own.
 * Cause: worker_adopt() (line 112) waits for bytes of a connection, whose buffer may hold a whole request that came along with the greeting.
 */
#include <errno.h>
#include <string.h>

#include <sim/rewake.h>

#define CONNECTIONS 2u

struct connection {
    int fd;
    uint32_t length;
    char buffer[64];
    bool greeted;
    bool closed;
};

struct server {
    struct sim_fds *fds;
    int front, back;
    int bell; /* An eventfd: something is in `handed`. */
    struct connection connections[CONNECTIONS];
    struct connection *handed[CONNECTIONS];
    uint32_t handed_count;
    bool fixed;
};

struct client {
    struct server *server;
    int fd;
};

/* Takes a line out of the buffer, if there is a whole one. */
static bool
connection_line(struct connection *connection, char *ret_line)
{
    char *end = memchr(connection->buffer, '\n', connection->length);
    if (end == NULL) {
        return false;
    }
    uint32_t size = (uint32_t)(end - connection->buffer) + 1;
    memcpy(ret_line, connection->buffer, size);
    ret_line[size - 1] = '\0';
    connection->length -= size;
    memmove(connection->buffer, connection->buffer + size, connection->length);
    return true;
}

static void
connection_read(struct server *server, struct connection *connection)
{
    int64_t n = sim_sys_read(server->fds, connection->fd, connection->buffer + connection->length,
            sizeof connection->buffer - connection->length, SIM_SYS_DONTWAIT, RT_HERE);
    if (n > 0) {
        connection->length += (uint32_t)n;
    }
    connection->closed = n == 0;
}

/* Answers each request; after "bye" the connection is over. */
static void
connection_serve(struct server *server, struct connection *connection)
{
    char line[64];
    while (connection_line(connection, line)) {
        SIM_ALWAYS(sim_sys_write(server->fds, connection->fd, "k", 1, 0, RT_HERE) == 1);
        connection->closed = connection->closed || strcmp(line, "bye") == 0;
    }
}

static void
front_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    const uint64_t one = 1;
    uint32_t left = CONNECTIONS;
    char line[64];
    (void)world;
    while (left > 0) {
        struct sim_fd_event events[CONNECTIONS];
        int n = sim_sys_epoll_wait(
                server->fds, server->front, events, CONNECTIONS, SIM_NEVER, RT_HERE);
        for (int i = 0; i < n; i++) {
            struct connection *connection = &server->connections[events[i].data];
            if (connection->greeted) {
                continue;
            }
            connection_read(server, connection);
            if (!connection_line(connection, line)) {
                continue;
            }
            SIM_ALWAYS(strcmp(line, "hello") == 0);
            connection->greeted = true;
            sim_sys_epoll_remove(server->fds, server->front, connection->fd);
            server->handed[server->handed_count++] = connection;
            (void)sim_sys_write(server->fds, server->bell, &one, sizeof one, 0, RT_HERE);
            left--;
        }
    }
}

static void
worker_adopt(struct server *server)
{
    while (server->handed_count > 0) {
        struct connection *connection = server->handed[--server->handed_count];
        if (server->fixed) {
            connection_serve(server, connection);
        }
        sim_sys_epoll_add(server->fds, server->back, connection->fd, SIM_FD_IN,
                (uint64_t)(connection - server->connections));
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    uint32_t left = CONNECTIONS;
    (void)world;
    while (left > 0) {
        struct sim_fd_event events[CONNECTIONS + 1];
        int n = sim_sys_epoll_wait(
                server->fds, server->back, events, CONNECTIONS + 1, SIM_NEVER, RT_HERE);
        for (int i = 0; i < n; i++) {
            if (events[i].data == CONNECTIONS) {
                uint64_t rings;
                (void)sim_sys_read(server->fds, server->bell, &rings, sizeof rings,
                        SIM_SYS_DONTWAIT, RT_HERE);
                worker_adopt(server);
                continue;
            }
            struct connection *connection = &server->connections[events[i].data];
            connection_read(server, connection);
            connection_serve(server, connection);
            if (connection->closed) {
                sim_sys_epoll_remove(server->fds, server->back, connection->fd);
                left--;
            }
        }
    }
}

static void
client_say(struct client *client, const char *text)
{
    size_t size = strlen(text);
    SIM_ALWAYS(sim_sys_write(client->server->fds, client->fd, text, size, 0, RT_HERE) ==
               (int64_t)size);
}

static void
client_hear(struct client *client)
{
    char answer;
    SIM_ALWAYS(sim_sys_read(client->server->fds, client->fd, &answer, 1, 0, RT_HERE) == 1);
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct client *client = argument;
    client_say(client, "hello\n");
    sim_sleep(world, 1 * RT_MS - sim_range(world, 0, 1 * RT_MS));
    client_say(client, "get\n");
    client_hear(client);
    client_say(client, "bye\n");
    client_hear(client);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[CONNECTIONS] = {"client 1", "client 2"};
    struct server *server = sim_new(world, struct server);
    server->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    server->front = sim_sys_epoll(server->fds, "front");
    server->back = sim_sys_epoll(server->fds, "back");
    server->fixed = fixed;
    server->bell = sim_sys_eventfd(server->fds, "bell", 0, false);
    sim_sys_epoll_add(server->fds, server->back, server->bell, SIM_FD_IN, CONNECTIONS);
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        struct client *client = sim_new(world, struct client);
        int pair[2];
        SIM_ALWAYS(sim_sys_socketpair(server->fds, names[i], SIM_SYS_STREAM, pair) == 0);
        *client = (struct client){server, pair[1]};
        server->connections[i].fd = pair[0];
        sim_sys_epoll_add(server->fds, server->front, pair[0], SIM_FD_IN, i);
        sim_loop_new(world, names[i], client_main, client);
    }
    sim_loop_new(world, "front", front_main, server);
    sim_loop_new(world, "worker", worker_main, server);
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

SIM_SCENARIO(broken, .name = "s12-migrate/broken", .about = "Two clients, two loops.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-migrate/fixed", .about = "Two clients, two loops.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
