// Cause: on_client(): when it closes a client it does not go back to accept_clients(). The listener is registered
// for edges, and accept_clients() leaves connections in the backlog while MAX clients are served; their edge is
// used up, so after the last close nothing reports them and they are never accepted.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define CLIENTS 5u
#define MAX 2u

struct server {
    struct sim_fds *fds;
    int listener;
    int peers[64];
    uint32_t active;
    uint32_t served;
    bool accepts_after_close;
};

static void
accept_clients(struct server *server)
{
    int fd = -1;
    int peer = -1;
    while (server->active < MAX &&
            sim_fd_accept(server->fds, server->listener, &fd, &peer) == RT_OK) {
        server->active++;
        server->peers[fd] = peer;
        SIM_ALWAYS(sim_fd_add(server->fds, fd, SIM_FD_IN, (uint64_t)fd) == RT_OK);
        SIM_ALWAYS(sim_fd_write(server->fds, peer, "?", 1) == 1); /* The client's request. */
    }
}

static void
on_client(struct server *server, int fd)
{
    char request = 0;
    if (sim_fd_read(server->fds, fd, &request, 1) != 1) {
        return;
    }
    SIM_ALWAYS(sim_fd_close(server->fds, fd) == RT_OK);
    SIM_ALWAYS(sim_fd_close(server->fds, server->peers[fd]) == RT_OK);
    server->active--;
    server->served++;
    SIM_PROGRESS();
    if (server->accepts_after_close) {
        accept_clients(server);
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    (void)world;
    while (server->served < CLIENTS) {
        struct sim_fd_event event;
        if (sim_fd_wait(server->fds, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        if (event.data == (uint64_t)server->listener) {
            accept_clients(server);
        } else {
            on_client(server, (int)event.data);
        }
    }
}

static void
begin(struct sim_world *world, bool accepts_after_close)
{
    struct server *server = sim_new(world, struct server);
    server->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    server->accepts_after_close = accepts_after_close;
    SIM_ALWAYS(sim_fd_listen(server->fds, "listener", CLIENTS, RT_MS, 8 * RT_MS,
                       &server->listener) == RT_OK);
    SIM_ALWAYS(sim_fd_add(server->fds, server->listener, SIM_FD_IN | SIM_FD_EDGE,
                       (uint64_t)server->listener) == RT_OK);
    (void)sim_loop_new(world, "server", server_main, server);
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

SIM_SCENARIO(limit_broken, .name = "set7/s7_limit/broken",
        .about = "A server that serves two clients at a time.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD);
SIM_SCENARIO(limit_fixed, .name = "set7/s7_limit/fixed",
        .about = "A server that serves two clients at a time.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
