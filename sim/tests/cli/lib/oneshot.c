/*
 * oneshot.c -- a reactor of callbacks over one-shot registrations, as around EPOLLONESHOT.
 *
 * The bug. A callback reads what fits into its buffer. A full buffer means that there may be more,
 * and it asks to be called again; after a short read it takes the socket for finished with, and
 * does not. What arrives later is not reported: the registration is used up.
 *
 * The fix. It asks again after each read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BYTES 6u
#define BUFFER 4

struct reactor {
    struct sim_fds *fds;
    int fd;
    uint32_t received;
    bool closed;
    bool asks_always; /* The fix. */
};

static void
ask_again(struct reactor *reactor)
{
    SIM_ALWAYS(sim_fd_modify(reactor->fds, reactor->fd, SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
}

static void
on_readable(struct reactor *reactor)
{
    char buffer[BUFFER];
    int64_t size = sim_fd_read(reactor->fds, reactor->fd, buffer, sizeof(buffer));
    reactor->received += size > 0 ? (uint32_t)size : 0;
    reactor->closed = reactor->received == BYTES;
    if (reactor->closed) {
        SIM_ALWAYS(sim_fd_close(reactor->fds, reactor->fd) == RT_OK);
    } else if (size == RT_E_AGAIN || size == BUFFER || reactor->asks_always) {
        ask_again(reactor);
    }
}

static void
call(struct reactor *reactor)
{
    sim_foreign_poll(reactor);
    on_readable(reactor);
    sim_foreign_polled(reactor, reactor->closed);
}

static void
again(void *reactor, void *watcher)
{
    (void)watcher;
    call(reactor);
}

static void
reactor_main(struct sim_world *world, void *argument)
{
    struct reactor *reactor = argument;
    (void)world;
    while (!reactor->closed) {
        struct sim_fd_event event;
        if (sim_fd_wait(reactor->fds, &event, 1, SIM_NEVER) > 0) {
            call(reactor);
        }
    }
}

/* The bytes come in two pieces, if they like. */
static void
send_in_pieces(struct reactor *reactor, int peer)
{
    for (uint32_t sent = 0; sent < BYTES;) {
        int64_t size =
                sim_fd_write(reactor->fds, peer, "abcdef", sent < 3 ? 3 - sent : BYTES - sent);
        SIM_ALWAYS(size > 0);
        sent += (uint32_t)size;
    }
}

static void
begin(struct sim_world *world, bool asks_always)
{
    struct reactor *reactor = sim_new(world, struct reactor);
    int ends[2] = {-1, -1};
    reactor->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    reactor->asks_always = asks_always;
    SIM_ALWAYS(sim_fd_pair(reactor->fds, "socket", RT_MS, 3 * RT_MS, ends) == RT_OK);
    reactor->fd = ends[0];
    send_in_pieces(reactor, ends[1]);
    SIM_ALWAYS(sim_fd_add(reactor->fds, reactor->fd, SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "reactor", reactor_main, reactor);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, reactor);
    sim_foreign_watch(foreign, reactor, "download", "bytes");
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

SIM_SCENARIO(oneshot_broken, .name = "oneshot/broken",
        .about = "After a short read it does not ask again.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD, .survives = SIM_FAULT_EINTR | SIM_FAULT_CLOCK,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(oneshot_fixed, .name = "oneshot/fixed", .about = "After each read it asks again.",
        .setup = setup_fixed, .profile = SIM_PROFILE_FD,
        .survives = SIM_FAULT_EINTR | SIM_FAULT_CLOCK);
