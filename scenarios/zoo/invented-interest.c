/*
 * invented-interest.c -- arming a descriptor for writing disarms it for reading.
 *
 * A relative of D03, D05 and D06, invented: no public issue.
 *
 * The bug. A descriptor is registered once, with a mask of the directions to report; a report
 * removes its direction from the mask. To wait again, a task arms its direction, and arming set
 * the mask to that one direction. This is right only as long as no task waits for the other.
 *
 * The fix. Arming adds its direction to the mask: socket_arm() below.
 *
 * Here. One task reads commands, another writes lines to the same connection. The peer takes lines
 * from the buffer now and then, and the buffer has space for all lines but one, so the writer
 * seldom waits. When it does, the reader waits for a command whose arrival is not reported to it.
 *
 * Cause: never-fired in socket_report or erased in socket_arm
 * Must end in: lost-wakeup of the reader. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

enum { READ = 1, WRITE = 2 };
enum { COMMANDS = 3, LINES = 4, SPACE = 3 };

/* ---- The connection, and the poller's side of it. -------------------------------------------- */

struct socket {
    bool broken;
    uint32_t armed; /* The directions that the next report may contain, once. */
    uint32_t commands;
    uint32_t space;
    struct rt_slot reader;
    struct rt_slot writer;
};

static void
socket_report(struct socket *socket)
{
    uint32_t ready = (socket->commands > 0 ? READ : 0u) | (socket->space > 0 ? WRITE : 0u);
    uint32_t events = socket->armed & ready;
    socket->armed &= ~events;
    if ((events & READ) != 0) {
        rt_slot_wake(&socket->reader);
    }
    if ((events & WRITE) != 0) {
        rt_slot_wake(&socket->writer);
    }
}

/* As EPOLL_CTL_MOD: reports at once what is ready already. */
static void
socket_arm(struct socket *socket, uint32_t direction)
{
    socket->armed = socket->broken ? direction : socket->armed | direction;
    socket_report(socket);
}

static rt_poll
socket_read_poll(struct socket *socket, struct rt_cx *cx)
{
    if (socket->commands > 0) {
        socket->commands--;
        SIM_PROGRESS();
        return RT_READY;
    }
    rt_slot_replace(&socket->reader, cx, "a command");
    socket_arm(socket, READ);
    return RT_PENDING;
}

static rt_poll
socket_write_poll(struct socket *socket, struct rt_cx *cx)
{
    if (socket->space > 0) {
        socket->space--;
        SIM_PROGRESS();
        return RT_READY;
    }
    rt_slot_replace(&socket->writer, cx, "space for a line");
    socket_arm(socket, WRITE);
    return RT_PENDING;
}

/* ---- The users of the connection. ------------------------------------------------------------ */

struct state {
    struct socket socket;
    struct rt_task reader;
    uint32_t heard;
    struct rt_task writer;
    uint32_t writer_at;
    uint32_t written;
    uint64_t pauses[LINES];
    struct rt_sleep pause;
    struct rt_task peer;
    uint32_t peer_at;
    uint32_t said;
    uint32_t seen;
    uint64_t round_ns;
    struct rt_sleep round;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, reader);
    while (state->heard < COMMANDS) {
        RT_AWAIT(socket_read_poll(&state->socket, cx));
        state->heard++;
    }
    return RT_READY;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, writer);
    RT_BEGIN(state->writer_at);
    for (state->written = 0; state->written < LINES; state->written++) {
        rt_sleep_init(&state->pause, state->pauses[state->written]);
        RT_AWAIT_HERE(state->writer_at, rt_sleep_poll(&state->pause, cx));
        RT_AWAIT_HERE(state->writer_at, socket_write_poll(&state->socket, cx));
    }
    RT_END(state->writer_at);
}

static rt_poll
peer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, peer);
    RT_BEGIN(state->peer_at);
    while (state->said < COMMANDS || state->seen < LINES) {
        rt_sleep_init(&state->round, state->round_ns);
        RT_AWAIT_HERE(state->peer_at, rt_sleep_poll(&state->round, cx));
        state->seen += SPACE - state->socket.space;
        state->socket.space = SPACE;
        if (state->said < COMMANDS) {
            state->said++;
            state->socket.commands++;
        }
        socket_report(&state->socket);
    }
    RT_END(state->peer_at);
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    state->socket.broken = broken;
    state->socket.space = SPACE;
    rt_slot_init(&state->socket.reader);
    rt_slot_init(&state->socket.writer);
    for (uint32_t i = 0; i < LINES; i++) {
        state->pauses[i] = RT_MS - sim_range(world, 0, RT_MS);
    }
    state->round_ns = sim_range(world, RT_MS / 2, RT_MS);
    rt_task_init(&state->reader, reader_poll, NULL, "reader");
    rt_task_init(&state->writer, writer_poll, NULL, "writer");
    rt_task_init(&state->peer, peer_poll, NULL, "peer");
    sim_spawn(rt, &state->reader);
    sim_spawn(rt, &state->writer);
    sim_spawn(rt, &state->peer);
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

SIM_SCENARIO(zoo_invented_interest_broken, .name = "zoo/invented-interest/broken", .bug = "R03",
        .reference = "relative of D03, D05, D06",
        .about = "Arming one direction of a descriptor disarms the other.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_invented_interest_fixed, .name = "zoo/invented-interest/fixed",
        .about = "Arming one direction of a descriptor leaves the other armed.",
        .setup = setup_fixed);
