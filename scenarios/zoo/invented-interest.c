/*
 * invented-interest.c -- who waits to write takes the registration away from who waits to read.
 *
 * A relative of D03, D05 and D06, invented: no public issue.
 *
 * The bug. A descriptor is registered once, with a mask of the directions that are to be reported;
 * a report takes its direction out of the mask. To wait again the direction is armed, and arming
 * set the mask to that one direction. It was right for as long as nobody waited for the other.
 *
 * The fix. Arming adds its direction to the mask: socket_arm() below.
 *
 * Here. One task hears commands, another writes lines into the same connection. The peer takes the
 * lines from the buffer now and then, and the buffer has room for all lines but one, so that the
 * writer seldom has to wait. When it does, the reader waits for a command and is not told of it.
 *
 * Cause: never-fired in socket_report or erased in socket_arm
 * Must end in: lost-wakeup of the reader. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

enum { READ = 1, WRITE = 2 };
enum { COMMANDS = 3, LINES = 4, ROOM = 3 };

/* ---- The connection, and the poller's side of it. -------------------------------------------- */

struct socket {
    bool broken;
    uint32_t armed; /* What the next report may tell, once. */
    uint32_t commands;
    uint32_t room;
    struct rt_slot reader;
    struct rt_slot writer;
};

static void
socket_report(struct socket *socket)
{
    uint32_t ready = (socket->commands > 0 ? READ : 0u) | (socket->room > 0 ? WRITE : 0u);
    uint32_t events = socket->armed & ready;
    socket->armed &= ~events;
    if ((events & READ) != 0) {
        rt_slot_wake(&socket->reader);
    }
    if ((events & WRITE) != 0) {
        rt_slot_wake(&socket->writer);
    }
}

/* As EPOLL_CTL_MOD: what is ready already is reported at once. */
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
    if (socket->room > 0) {
        socket->room--;
        SIM_PROGRESS();
        return RT_READY;
    }
    rt_slot_replace(&socket->writer, cx, "room for a line");
    socket_arm(socket, WRITE);
    return RT_PENDING;
}

/* ---- Who uses it. ---------------------------------------------------------------------------- */

struct story {
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
    struct story *story = rt_container_of(task, struct story, reader);
    while (story->heard < COMMANDS) {
        RT_AWAIT(socket_read_poll(&story->socket, cx));
        story->heard++;
    }
    return RT_READY;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, writer);
    RT_BEGIN(story->writer_at);
    for (story->written = 0; story->written < LINES; story->written++) {
        rt_sleep_init(&story->pause, story->pauses[story->written]);
        RT_AWAIT_HERE(story->writer_at, rt_sleep_poll(&story->pause, cx));
        RT_AWAIT_HERE(story->writer_at, socket_write_poll(&story->socket, cx));
    }
    RT_END(story->writer_at);
}

static rt_poll
peer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, peer);
    RT_BEGIN(story->peer_at);
    while (story->said < COMMANDS || story->seen < LINES) {
        rt_sleep_init(&story->round, story->round_ns);
        RT_AWAIT_HERE(story->peer_at, rt_sleep_poll(&story->round, cx));
        story->seen += ROOM - story->socket.room;
        story->socket.room = ROOM;
        if (story->said < COMMANDS) {
            story->said++;
            story->socket.commands++;
        }
        socket_report(&story->socket);
    }
    RT_END(story->peer_at);
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct story *story = sim_new(world, struct story);
    story->socket.broken = broken;
    story->socket.room = ROOM;
    rt_slot_init(&story->socket.reader);
    rt_slot_init(&story->socket.writer);
    for (uint32_t i = 0; i < LINES; i++) {
        story->pauses[i] = RT_MS - sim_range(world, 0, RT_MS);
    }
    story->round_ns = sim_range(world, RT_MS / 2, RT_MS);
    rt_task_init(&story->reader, reader_poll, NULL, "reader");
    rt_task_init(&story->writer, writer_poll, NULL, "writer");
    rt_task_init(&story->peer, peer_poll, NULL, "peer");
    sim_spawn(rt, &story->reader);
    sim_spawn(rt, &story->writer);
    sim_spawn(rt, &story->peer);
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
