// SPDX-License-Identifier: Apache-2.0
/* Cause: want() line 42: interest that equals what is registered returns early although an
 * older change of the same turn is still pending; apply() then installs the older mask and the write
 * interest is gone. Repair: store `wanted` before the early return (as with `exact`). */
#include <string.h>

#include <sim/rewake.h>

#define LINES 4
#define LINE 24

/* A descriptor, and what the loop has told, and will tell, the kernel about it. */
struct watcher {
    struct server *server;
    int fd;
    uint32_t registered;
    uint32_t wanted;
    bool changed;
    void (*callback)(struct watcher *watcher, uint32_t events);
};

struct server {
    struct sim_fds *fds;
    int epoll;
    int peer;
    bool exact;
    struct watcher connection;
    struct watcher inbox; /* An eventfd: lines to be sent. */
    struct watcher *changes[2];
    uint32_t change_count;
    uint32_t posted; /* By the producer, not fetched yet. */
    size_t unsent;
    size_t sent;
};

static void
want(struct watcher *watcher, uint32_t mask)
{
    struct server *server = watcher->server;
    if (server->exact) {
        watcher->wanted = mask;
    }
    if (mask == watcher->registered) {
        return;
    }
    watcher->wanted = mask;
    if (!watcher->changed) {
        watcher->changed = true;
        server->changes[server->change_count++] = watcher;
    }
}

/* One epoll_ctl for each watcher, however often it changed its mind. */
static void
apply(struct server *server)
{
    for (uint32_t i = 0; i < server->change_count; i++) {
        struct watcher *watcher = server->changes[i];
        watcher->changed = false;
        if (watcher->wanted != watcher->registered) {
            SIM_ALWAYS(sim_sys_epoll_modify(server->fds, server->epoll, watcher->fd,
                               watcher->wanted, (uintptr_t)watcher) == 0);
            watcher->registered = watcher->wanted;
        }
    }
    server->change_count = 0;
}

static void
on_connection(struct watcher *watcher, uint32_t events)
{
    struct server *server = watcher->server;
    static const char text[LINES * LINE] = "";
    if ((events & SIM_FD_OUT) == 0 || server->unsent == 0) {
        return;
    }
    int64_t size = sim_sys_write(server->fds, watcher->fd, text, server->unsent, 0, RT_HERE);
    if (size > 0) {
        server->unsent -= (size_t)size;
        server->sent += (size_t)size;
    }
    if (server->unsent == 0) {
        want(watcher, SIM_FD_IN);
    }
}

static void
on_inbox(struct watcher *watcher, uint32_t events)
{
    struct server *server = watcher->server;
    uint64_t count;
    (void)events;
    if (sim_sys_read(server->fds, watcher->fd, &count, sizeof(count), 0, RT_HERE) < 0) {
        return;
    }
    server->unsent += server->posted * (size_t)LINE;
    server->posted = 0;
    if (server->unsent > 0) {
        want(&server->connection, SIM_FD_IN | SIM_FD_OUT);
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    struct sim_fd_event events[4];
    (void)world;
    while (server->sent < LINES * LINE) {
        int count = sim_sys_epoll_wait(server->fds, server->epoll, events, 4, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count; i++) {
            struct watcher *watcher = (struct watcher *)(uintptr_t)events[i].data;
            watcher->callback(watcher, events[i].events);
        }
        apply(server);
    }
}

static void
producer_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    uint64_t one = 1;
    for (uint32_t i = 0; i < LINES; i++) {
        sim_sleep(world, sim_range(world, 20 * RT_US, 300 * RT_US));
        server->posted++;
        SIM_ALWAYS(sim_sys_write(server->fds, server->inbox.fd, &one, sizeof(one), 0, RT_HERE) ==
                   sizeof(one));
    }
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    char text[LINES * LINE];
    size_t got = 0;
    (void)world;
    while (got < sizeof(text)) {
        int64_t size = sim_sys_read(server->fds, server->peer, text, sizeof(text), 0, RT_HERE);
        SIM_ALWAYS(size != 0);
        got += size > 0 ? (size_t)size : 0;
    }
}

static void
watch(struct server *server, struct watcher *watcher, int fd,
        void (*callback)(struct watcher *, uint32_t))
{
    *watcher = (struct watcher){.server = server,
            .fd = fd,
            .registered = SIM_FD_IN,
            .wanted = SIM_FD_IN,
            .callback = callback};
    SIM_ALWAYS(sim_sys_set_status(server->fds, fd, SIM_SYS_NONBLOCK) == 0);
    SIM_ALWAYS(
            sim_sys_epoll_add(server->fds, server->epoll, fd, SIM_FD_IN, (uintptr_t)watcher) == 0);
}

static void
begin(struct sim_world *world, bool exact)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct server *server = sim_new(world, struct server);
    int pair[2];
    server->exact = exact;
    server->fds = sim_fds_new(host, 3);
    server->epoll = sim_sys_epoll(server->fds, "epoll");
    SIM_ALWAYS(sim_sys_socketpair(server->fds, "connection", SIM_SYS_STREAM, pair) == 0);
    server->peer = pair[1];
    watch(server, &server->connection, pair[0], on_connection);
    watch(server, &server->inbox, sim_sys_eventfd(server->fds, "inbox", 0, false), on_inbox);
    (void)sim_loop_new(world, "server", server_main, server);
    (void)sim_loop_new(world, "producer", producer_main, server);
    (void)sim_loop_new(world, "peer", peer_main, server);
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

SIM_SCENARIO(changes_broken, .name = "s10/changes/broken",
        .about = "A loop that collects changes of interest.", .setup = setup_broken);
SIM_SCENARIO(changes_fixed, .name = "s10/changes/fixed",
        .about = "A loop that collects changes of interest.", .setup = setup_fixed);
