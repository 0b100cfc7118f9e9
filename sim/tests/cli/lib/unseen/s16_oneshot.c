/* Cause: serve(), line 80: a request of which only a part has come is put aside without a re-arm of the one-shot registration, which only reply() does; the rest of the request is then reported to no worker; repair: serve() re-arms the descriptor before it waits for the rest. */
/*
 * s16_oneshot.c -- two workers serve connections from one epoll instance, by one-shot events.
 *
 * A request is a header of four bytes and a body of the length that the header tells.
 */
#include <string.h>

#include <sim/rewake.h>

#define WORKERS 2u
#define CLIENTS 2u
#define REQUESTS 3u
#define HEADER 4u

struct connection {
    struct server *server;
    int fd;
    char input[32];
    size_t have;
    int client; /* The other end. */
    unsigned answers;
};

struct server {
    struct sim_world *world;
    struct sim_fds *fds;
    int epoll;
    struct connection connections[CLIENTS];
    bool fixed;
};

static void
arm(struct connection *connection)
{
    struct server *server = connection->server;
    int rc = sim_sys_epoll_modify(server->fds, server->epoll, connection->fd,
            SIM_FD_IN | SIM_FD_ONESHOT, (uint64_t)(connection - server->connections));
    SIM_ALWAYS(rc == 0);
}

/* The request is complete: an answer, and on to the next one. */
static void
reply(struct connection *connection)
{
    struct server *server = connection->server;
    connection->have = 0;
    sim_work(server->world, sim_range(server->world, 1 * RT_US, 20 * RT_US));
    int64_t n = sim_sys_write(server->fds, connection->fd, "!", 1, 0, RT_HERE);
    SIM_ALWAYS(n == 1);
    arm(connection);
}

static size_t
wanted(const struct connection *connection)
{
    return connection->have < HEADER ? HEADER : HEADER + (size_t)(connection->input[0] - '0');
}

/* Reads what is there; true when it is a whole request. */
static bool
receive(struct connection *connection)
{
    while (connection->have < wanted(connection)) {
        int64_t n = sim_sys_read(connection->server->fds, connection->fd,
                connection->input + connection->have, wanted(connection) - connection->have,
                SIM_SYS_DONTWAIT, RT_HERE);
        if (n <= 0) {
            return false;
        }
        connection->have += (size_t)n;
    }
    return true;
}

static void
serve(struct connection *connection)
{
    if (!receive(connection)) {
        if (connection->server->fixed) {
            arm(connection);
        }
        return;
    }
    reply(connection);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    (void)world;
    for (;;) {
        struct sim_fd_event event;
        int n = sim_sys_epoll_wait(server->fds, server->epoll, &event, 1, SIM_NEVER, RT_HERE);
        if (n == 1) {
            serve(&server->connections[event.data]);
        }
    }
}

static void
send_all(struct connection *connection, const char *bytes)
{
    for (size_t size = strlen(bytes); size > 0;) {
        int64_t n = sim_sys_write(
                connection->server->fds, connection->client, bytes, size, 0, RT_HERE);
        SIM_ALWAYS(n > 0);
        bytes += n;
        size -= (size_t)n;
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct connection *connection = argument;
    for (unsigned i = 0; i < REQUESTS; i++) {
        char answer = 0;
        if (sim_pick(world, 6) != 5) {
            send_all(connection, "6GET/a.css");
        } else {
            send_all(connection, "6GET"); /* The body has to be made. */
            sim_sleep(world, sim_range(world, 1 * RT_US, 20 * RT_US));
            send_all(connection, "/a.css");
        }
        int64_t n = sim_sys_read(
                connection->server->fds, connection->client, &answer, 1, 0, RT_HERE);
        SIM_ALWAYS(n == 1 && answer == '!');
        connection->answers++;
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[CLIENTS] = {"client A", "client B"};
    static const char *const workers[WORKERS] = {"worker 1", "worker 2"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct server *server = sim_new(world, struct server);
    server->world = world;
    server->fixed = fixed;
    server->fds = sim_fds_new(host, 3);
    server->epoll = sim_sys_epoll(server->fds, "epoll");
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct connection *connection = &server->connections[i];
        int ends[2];
        int rc = sim_sys_socketpair(server->fds, names[i], SIM_SYS_STREAM, ends);
        SIM_ALWAYS(rc == 0);
        connection->server = server;
        connection->fd = ends[0];
        connection->client = ends[1];
        rc = sim_sys_epoll_add(
                server->fds, server->epoll, ends[0], SIM_FD_IN | SIM_FD_ONESHOT, i);
        SIM_ALWAYS(rc == 0);
        sim_loop_new(world, names[i], client_main, connection);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        sim_loop_new_background(world, workers[i], worker_main, server);
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

SIM_SCENARIO(broken, .name = "s16/oneshot/broken", .about = "Requests that come in parts.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s16/oneshot/fixed", .about = "Requests that come in parts.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
