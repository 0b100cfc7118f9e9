/*
 * tokio-8054.c -- one tick for both directions.
 *
 * tokio-rs/tokio#8054 (fixes proposed in #8066 and #8221).
 *
 * The bug. The readiness of a socket has one tick, which every event increments, also one that only
 * reports "writable". A reader whose read would block clears the readiness to read if the tick has
 * not changed. On Windows a read that would block arms the poller again, and the poller then
 * reports "writable" once more. If the driver's thread handles that before the reader clears, the
 * clear has no effect, the socket stays "readable", and the reader reads again, in vain.
 *
 * The fix. A tick for each direction: event_moves below.
 *
 * Here. A client's loop first runs its driver and then its reader. The reader reads the server's
 * greeting until nothing is left, and then sends its request. Its reads are made at once, or by a
 * helper whose answer is there in the next turn; then the driver runs between the read and the
 * clear.
 *
 * Cause: not-a-wake in event_moves or driver_turn or client_main
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4

/* ---- Driver and socket. ---------------------------------------------------------------------- */

struct socket {
    bool broken;
    struct sim_fds *fds;
    int fd;
    bool readable;
    bool writable;
    uint32_t tick;
};

/* Whether an event moves the tick by which reads clear. */
static bool
event_moves(const struct socket *socket, uint32_t events)
{
    return socket->broken || (events & SIM_FD_IN) != 0;
}

static void
socket_event(struct socket *socket, uint32_t events)
{
    if (event_moves(socket, events)) {
        socket->tick++;
    }
    socket->writable = socket->writable || (events & SIM_FD_OUT) != 0;
    socket->readable = socket->readable || (events & SIM_FD_IN) != 0;
}

static void
driver_turn(struct socket *socket, bool block)
{
    struct sim_fd_event batch[BATCH_MAX];
    uint32_t count = sim_fd_wait(socket->fds, batch, BATCH_MAX, block ? SIM_NEVER : 0);
    for (uint32_t i = 0; i < count; i++) {
        socket_event(socket, batch[i].events);
    }
}

static void
socket_clear_readable(struct socket *socket, uint32_t tick)
{
    if (socket->tick == tick) {
        socket->readable = false;
    }
}

/* True when a message was there. If not, arms the poller again, for both directions. */
static bool
socket_read(struct socket *socket)
{
    char byte = 0;
    if (sim_fd_read(socket->fds, socket->fd, &byte, 1) == 1) {
        return true;
    }
    uint32_t interest = SIM_FD_IN | SIM_FD_OUT | SIM_FD_EDGE;
    SIM_ALWAYS(sim_fd_modify(socket->fds, socket->fd, interest, 0) == RT_OK);
    return false;
}

/* ---- Client and server. ---------------------------------------------------------------------- */

enum expects { GREETING, NOTHING, ANSWER, NO_MORE };

struct state {
    struct socket socket;
    int peer;
    bool helper; /* Makes the reads. */
    bool reading;
    bool got;
    uint32_t tick;
    enum expects expects;
    struct sim_loop *server;
    bool requested;
};

static void
read_begin(struct state *state)
{
    state->tick = state->socket.tick;
    state->got = socket_read(&state->socket);
    state->reading = true;
}

static void
read_end(struct state *state)
{
    state->reading = false;
    if (state->got) {
        state->expects++;
    } else {
        socket_clear_readable(&state->socket, state->tick);
    }
}

/* All messages that were there have been read. */
static void
send_request(struct state *state)
{
    state->expects = ANSWER;
    state->requested = true;
    sim_loop_wake(state->server);
}

static void
reader_turn(struct state *state)
{
    if (state->reading) {
        read_end(state);
    }
    if (state->socket.readable) {
        read_begin(state);
    }
    if (state->reading && !state->helper) {
        read_end(state);
    }
    if (state->expects == NOTHING && !state->reading && !state->socket.readable) {
        send_request(state);
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    while (state->expects != NO_MORE) {
        driver_turn(&state->socket, !state->reading && !state->socket.readable);
        reader_turn(state);
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    SIM_ALWAYS(sim_fd_write(state->socket.fds, state->peer, "*", 1) == 1);
    while (!state->requested) {
        sim_loop_block(world, 0, "the request", RT_HERE);
    }
    SIM_ALWAYS(sim_fd_write(state->socket.fds, state->peer, "*", 1) == 1);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct socket *socket = &state->socket;
    int ends[2] = {-1, -1};
    socket->broken = broken;
    socket->fds = sim_fds_new(sim_host_new(world, "poller", SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(socket->fds, "socket", 0, RT_MS, ends) == RT_OK);
    socket->fd = ends[0];
    state->peer = ends[1];
    uint32_t interest = SIM_FD_IN | SIM_FD_OUT | SIM_FD_EDGE;
    SIM_ALWAYS(sim_fd_add(socket->fds, socket->fd, interest, 0) == RT_OK);
    state->helper = sim_pick(world, 2) != 0;
    state->server = sim_loop_new_background(world, "server", server_main, state);
    (void)sim_loop_new(world, "client", client_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_tokio_8054_broken, .name = "zoo/tokio-8054/broken", .bug = "D03",
        .reference = "tokio-rs/tokio#8054",
        .about = "Events for writing keep the readiness to read from being cleared.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_tokio_8054_fixed, .name = "zoo/tokio-8054/fixed",
        .about = "Each direction has a separate tick.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
