/*
 * s11_rounds.c -- connections with edge events on an epoll loop: each gets so many bytes a round, and
 * one that has more to read is put into a list for the next round, which does not wait.
 *
 * Cause: serve_backlog() (line 77) keeps a connection marked as listed while it serves it, so that one which needs a third round is not listed for it
 */
#include <sim/rewake.h>

#define CONNS 2
#define QUOTA 16u
#define MESSAGE 56u

struct conn {
    int fd, peer;
    uint32_t received;
    bool listed;
    struct conn *next;
    struct server *server;
    const char *name;
};

struct server {
    struct sim_fds *fds;
    int poller;
    struct conn conns[CONNS];
    struct conn *backlog, **backlog_end;
    uint32_t open;
    bool unmarks_first;
};

static void
backlog_add(struct server *server, struct conn *conn)
{
    if (!conn->listed) {
        conn->listed = true;
        conn->next = NULL;
        *server->backlog_end = conn;
        server->backlog_end = &conn->next;
    }
}

/* Reads up to QUOTA bytes. */
static void
conn_serve(struct server *server, struct conn *conn)
{
    char buffer[QUOTA];
    uint32_t got = 0;
    while (got < QUOTA) {
        int64_t n = sim_sys_read(server->fds, conn->fd, buffer, QUOTA - got, 0, RT_HERE);
        if (n <= 0) {
            break;
        }
        got += (uint32_t)n;
    }
    conn->received += got;
    if (got > 0 && conn->received == MESSAGE) {
        server->open--;
        SIM_ALWAYS(sim_sys_epoll_remove(server->fds, server->poller, conn->fd) == 0);
    } else if (got == QUOTA) {
        backlog_add(server, conn);
    }
}

static void
serve_backlog(struct server *server)
{
    struct conn *conn = server->backlog;
    server->backlog = NULL;
    server->backlog_end = &server->backlog;
    while (conn != NULL) {
        struct conn *next = conn->next;
        if (server->unmarks_first) {
            conn->listed = false;
        }
        conn_serve(server, conn);
        if (!server->unmarks_first) {
            conn->listed = false;
        }
        conn = next;
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    (void)world;
    while (server->open > 0) {
        struct sim_fd_event events[CONNS];
        uint64_t timeout = server->backlog != NULL ? 0 : SIM_NEVER;
        int count = sim_sys_epoll_wait(server->fds, server->poller, events, CONNS, timeout, RT_HERE);
        serve_backlog(server);
        for (int i = 0; i < count; i++) {
            conn_serve(server, &server->conns[events[i].data]);
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct conn *conn = argument;
    static const char text[MESSAGE];
    for (uint32_t sent = 0; sent < MESSAGE;) {
        uint32_t rest = MESSAGE - sent;
        uint32_t size = (uint32_t)sim_range(world, 8, rest > 8 ? rest : 8);
        int64_t n = sim_sys_write(
                conn->server->fds, conn->peer, text, size < rest ? size : rest, 0, RT_HERE);
        SIM_ALWAYS(n > 0);
        sent += (uint32_t)n;
        sim_sleep(world, sim_range(world, RT_MS / 2, 2 * RT_MS));
    }
}

static void
setup_with(struct sim_world *world, bool unmarks_first)
{
    static const char *const names[CONNS] = {"alice", "bob"};
    struct server *server = sim_new(world, struct server);
    server->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    server->poller = sim_sys_epoll(server->fds, "poller");
    server->backlog_end = &server->backlog;
    server->open = CONNS;
    server->unmarks_first = unmarks_first;
    (void)sim_loop_new(world, "server", server_main, server);
    for (uint32_t i = 0; i < CONNS; i++) {
        struct conn *conn = &server->conns[i];
        int pair[2];
        SIM_ALWAYS(sim_sys_socketpair(server->fds, names[i], SIM_SYS_STREAM, pair) == 0);
        *conn = (struct conn){.fd = pair[0], .peer = pair[1], .server = server, .name = names[i]};
        SIM_ALWAYS(sim_sys_set_status(server->fds, conn->fd, SIM_SYS_NONBLOCK) == 0);
        SIM_ALWAYS(sim_sys_epoll_add(server->fds, server->poller, conn->fd, SIM_FD_IN | SIM_FD_EDGE,
                           i) == 0);
        (void)sim_loop_new(world, names[i], client_main, conn);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(rounds_broken, .name = "s11_rounds/broken",
        .about = "Edge events, and a share for each connection.", .setup = setup_broken);
SIM_SCENARIO(rounds_fixed, .name = "s11_rounds/fixed",
        .about = "Edge events, and a share for each connection.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
