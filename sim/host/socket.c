/*
 * socket.c -- sockets as descriptors: their events, and what arrives at them.
 *
 *      what arrives        what it does                              edges
 *      bytes               can be read                               IN
 *      END                 after the bytes, the end                  IN RDHUP, HUP if we shut too
 *      RESET               the bytes are lost, an error is pending   IN OUT ERR HUP
 *      CONNECTED           it can be finished                        OUT
 *      REFUSED, TIMED_OUT  it can be finished: with an error         IN OUT ERR HUP
 *      LISTENS             it can be finished                        OUT
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/net_priv.h"

#define EVERYTHING (SIM_FD_IN | SIM_FD_OUT | SIM_FD_RDHUP | SIM_FD_ERR | SIM_FD_HUP)

static struct sim__socket *
socket_of(const struct sim__description *description)
{
    return rt_container_of(description, struct sim__socket, end.description);
}

void
sim__socket_edge(struct sim__socket *socket, uint32_t events)
{
    sim__description_edge(&socket->end.description, events);
    sim__host_changed(socket->node->host);
}

/* ---- Events. --------------------------------------------------------------------------------- */

static bool
is_pipe(const struct sim__socket *socket)
{
    return socket->ways != (SIM__READS | SIM__WRITES);
}

static uint32_t
pipe_events(const struct sim__socket *socket)
{
    const struct sim__end *end = &socket->end;
    if ((socket->ways & SIM__READS) != 0) {
        return (end->in.there > 0 ? SIM_FD_IN : 0) | (end->ended ? SIM_FD_HUP : 0);
    }
    return (sim__end_writable(end) ? SIM_FD_OUT : 0) | (end->peer == NULL ? SIM_FD_ERR : 0);
}

static uint32_t
connection_events(const struct sim__socket *socket)
{
    uint32_t events = 0;
    if (socket->end.in.there > 0 || socket->end.ended) {
        events |= SIM_FD_IN;
    }
    if (socket->shut || sim__end_writable(&socket->end)) {
        events |= SIM_FD_OUT;
    }
    if (socket->end.ended) {
        events |= socket->shut ? SIM_FD_RDHUP | SIM_FD_HUP : SIM_FD_RDHUP;
    }
    if (socket->is_local && socket->end.peer == NULL) {
        events |= SIM_FD_OUT | SIM_FD_HUP;
    }
    return events;
}

static uint32_t
socket_events(const struct sim__description *description)
{
    const struct sim__socket *socket = socket_of(description);
    switch (socket->state) {
    case SIM__SOCKET_STARTED:
    case SIM__SOCKET_CLOSED:
        return 0;
    case SIM__SOCKET_LISTENS:
        return socket->waiting > 0 ? SIM_FD_IN | SIM_FD_OUT : SIM_FD_OUT;
    case SIM__SOCKET_CONNECTED:
        return is_pipe(socket) ? pipe_events(socket) : connection_events(socket);
    case SIM__SOCKET_FAILED:
        return EVERYTHING;
    case SIM__SOCKET_DATAGRAMS:
        if (socket->error != RT_OK) {
            return SIM_FD_IN | SIM_FD_OUT | SIM_FD_ERR;
        }
        return socket->waiting > 0 ? SIM_FD_IN | SIM_FD_OUT : SIM_FD_OUT;
    }
    rt_unreached("every state has its events");
}

/* ---- Arrivals. ------------------------------------------------------------------------------- */

static void
fail(struct sim__socket *socket, rt_err error)
{
    socket->state = SIM__SOCKET_FAILED;
    socket->error = error;
    sim__end_unlink(&socket->end);
    socket->end.in.there = 0;
    sim__description_edge(&socket->end.description, EVERYTHING);
    sim__source_level(socket->end.description.source, true);
}

/* An earlier datagram has found no socket: the next call says so. */
static void
datagram_refused(struct sim__socket *socket)
{
    socket->error = RT_E_REFUSED;
    sim__description_edge(&socket->end.description, SIM_FD_IN | SIM_FD_OUT | SIM_FD_ERR);
    sim__source_level(socket->end.description.source, true);
}

static void
take_notice(struct sim__socket *socket, enum sim__arrives what)
{
    switch (what) {
    case SIM__END:
        socket->end.ended = true;
        sim__description_edge(
                &socket->end.description, SIM_FD_IN | SIM_FD_RDHUP | SIM_FD_HUP |
                                                  (socket->is_local ? SIM_FD_OUT | SIM_FD_ERR : 0));
        sim__source_level(socket->end.description.source, true);
        return;
    case SIM__CONNECTED:
        socket->state = SIM__SOCKET_CONNECTED;
        sim__description_edge(&socket->end.description, SIM_FD_OUT);
        return;
    case SIM__LISTENS:
        socket->state = SIM__SOCKET_LISTENS;
        sim__description_edge(&socket->end.description, SIM_FD_OUT);
        return;
    case SIM__RESET: /* After the end it is EPIPE. */
        fail(socket, socket->end.ended ? RT_E_CLOSED : RT_E_RESET);
        return;
    case SIM__REFUSED:
        if (socket->state == SIM__SOCKET_DATAGRAMS) {
            datagram_refused(socket);
        } else {
            fail(socket, RT_E_REFUSED);
        }
        return;
    case SIM__TIMED_OUT:
        fail(socket, RT_E_TIMED_OUT);
        return;
    case SIM__ASK_AGAIN:
        sim__net_ask(socket);
        return;
    }
    rt_unreached("an unknown arrival");
}

/* What it has written has arrived: a write that was put off (one_at_a_time) may be tried again. */
static void
answer_writer(struct sim__socket *writer)
{
    if (writer != NULL && (writer->end.description.owed & SIM_FD_OUT) != 0 &&
            writer->node->host->terse) {
        sim__socket_edge(writer, SIM_FD_OUT);
    }
}

static void
socket_arrived(void *argument, uint64_t amount)
{
    struct sim__socket *socket = socket_of(argument);
    /* Arrivals after a reset are dropped. */
    if (socket->state == SIM__SOCKET_FAILED) {
        return;
    }
    if (amount < SIM__ARRIVES) {
        sim__end_land(&socket->end, amount);
        answer_writer(sim__socket_peer(socket));
    } else {
        take_notice(socket, (enum sim__arrives)(amount / SIM__ARRIVES));
    }
}

/* ---- Moving bytes. --------------------------------------------------------------------------- */

rt_err
sim__socket_take_error(struct sim__socket *socket)
{
    rt_err error = socket->error;
    socket->error = RT_OK;
    return error;
}

void
sim__socket_reset(struct sim__socket *socket)
{
    struct sim__socket *peer = sim__socket_peer(socket);
    fail(socket, RT_E_RESET);
    sim__host_changed(socket->node->host);
    if (peer != NULL) {
        sim__net_send(peer, SIM__RESET * SIM__ARRIVES);
    }
}

/* Why nothing can be moved `way` now, or RT_OK. `over`: the error once the pending one was
 * returned. */
static rt_err
can_move(struct sim__socket *socket, uint8_t way, rt_err over)
{
    if ((socket->ways & way) == 0) {
        return RT_E_INVALID;
    }
    if (socket->state == SIM__SOCKET_FAILED) {
        rt_err error = sim__socket_take_error(socket);
        return error != RT_OK ? error : over;
    }
    return socket->state == SIM__SOCKET_CONNECTED ? RT_OK : RT_E_INVALID;
}

/* Linux reports to the writer of a Unix socket that what it wrote was read, also where there was
 * space all the time. */
static void
read_is_an_edge(const struct sim__socket *socket)
{
    struct sim__socket *writer = sim__socket_peer(socket);
    if (socket->is_local && !is_pipe(socket) && writer != NULL && socket->end.in.there == 0) {
        sim__socket_edge(writer, SIM_FD_OUT);
    }
}

static int64_t
socket_read(struct sim__description *description, void *buffer, size_t size,
        const struct rt_site *await)
{
    struct sim__socket *socket = socket_of(description);
    rt_err err = can_move(socket, SIM__READS, RT_OK);
    if (err != RT_OK || socket->state == SIM__SOCKET_FAILED) {
        return err;
    }
    int64_t moved = sim__end_read(&socket->end, buffer, size, await);
    if (moved > 0) {
        read_is_an_edge(socket);
    }
    return moved;
}

/* It is not yet known here that the peer is closed: the bytes are lost, and answered by a reset
 * (N6). */
static void
write_to_closed(struct sim__socket *socket)
{
    if (!socket->peer_closed) {
        socket->peer_closed = true;
        sim__net_send(socket, SIM__RESET * SIM__ARRIVES);
    }
}

/* Under `hostile`: nothing more is taken until what was written before has arrived, as by a host
 * over io_uring. */
static bool
one_at_a_time(struct sim__socket *socket)
{
    const struct sim__end *peer = socket->end.peer;
    if (!socket->node->host->terse || peer == NULL || peer->in.flying == 0) {
        return false;
    }
    struct sim_actor *actor = &socket->end.description.source->actor;
    return sim__one_in(actor, SIM_KIND_SPURIOUS, socket->node->net->world->options.spurious_one_in);
}

static int64_t
socket_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct sim__socket *socket = socket_of(description);
    rt_err err = can_move(socket, SIM__WRITES, RT_E_CLOSED);
    /* Within a machine it is known at once that the peer is closed. */
    if (err == RT_OK && (socket->shut || (socket->is_local && socket->end.peer == NULL))) {
        err = RT_E_CLOSED;
    }
    if (err == RT_OK && !socket->is_local && sim__net_fault(socket->node)) {
        sim__socket_reset(socket);
        err = sim__socket_take_error(socket);
    }
    if (err != RT_OK) {
        return err;
    }
    if (one_at_a_time(socket)) {
        return RT_E_AGAIN;
    }
    int64_t moved = sim__end_write(&socket->end, buffer, size, await);
    if (moved > 0 && socket->end.peer != NULL) {
        sim__net_send(sim__socket_peer(socket), (uint64_t)moved);
    } else if (moved > 0) {
        write_to_closed(socket);
    }
    return moved;
}

void
sim__socket_shut(struct sim__socket *socket)
{
    rt_assert(!socket->shut);
    socket->shut = true;
    if (socket->end.peer != NULL) {
        sim__net_send(sim__socket_peer(socket), SIM__END * SIM__ARRIVES);
    }
    if (socket->end.ended) {
        sim__socket_edge(socket, SIM_FD_HUP);
    }
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* Connections that were not accepted are reset. */
static void
listener_closed(struct sim__socket *listener)
{
    while (!rt_list_empty(&listener->queue)) {
        struct sim__socket *near = rt_container_of(
                rt_list_pop_front(&listener->queue), struct sim__socket, queue_link);
        if (near->state == SIM__SOCKET_CONNECTED) {
            sim__socket_reset(near);
        }
        near->state = SIM__SOCKET_CLOSED;
        sim__source_end(near->end.description.source);
    }
}

/* With unread bytes the peer is reset; else it reads the end. */
static void
connection_closed(struct sim__socket *socket)
{
    struct sim__socket *peer = sim__socket_peer(socket);
    if (peer == NULL) {
        return;
    }
    sim__end_unlink(&socket->end);
    if (!is_pipe(socket) && socket->end.in.there + socket->end.in.flying > 0) {
        peer->peer_closed = true;
        sim__net_send(peer, SIM__RESET * SIM__ARRIVES);
    } else if (!socket->shut || socket->is_local) {
        sim__net_send(peer, SIM__END * SIM__ARRIVES);
    }
}

static void
socket_closed(struct sim__description *description)
{
    struct sim__socket *socket = socket_of(description);
    if (socket->is_listener) {
        listener_closed(socket);
    } else if (socket->state == SIM__SOCKET_DATAGRAMS) {
        sim__datagrams_drop(socket);
    } else {
        connection_closed(socket);
    }
    socket->state = SIM__SOCKET_CLOSED;
    rt_list_unlink(&socket->link);
}

static const struct sim__description_ops socket_ops = {.arrived = socket_arrived,
        .events = socket_events,
        .read = socket_read,
        .write = socket_write,
        .closed = socket_closed};

struct sim__socket *
sim__socket_new(struct sim_node *node, const char *name, uint16_t port)
{
    struct sim_world *world = node->net->world;
    struct sim__socket *socket = sim_new(world, struct sim__socket);
    sim__description_init(&socket->end.description, node->fds, &socket_ops, name);
    socket->state = SIM__SOCKET_STARTED;
    socket->node = node;
    socket->owner = world->current;
    socket->ways = SIM__READS | SIM__WRITES;
    socket->port = port;
    socket->end.in.size = node->net->options.capacity;
    socket->end.in.bytes = sim_alloc(world, socket->end.in.size);
    rt_list_init(&socket->queue_link);
    rt_list_init(&socket->queue);
    rt_list_push_back(&node->sockets, &socket->link);
    return socket;
}

struct sim__socket *
sim__socket_of(const struct sim_node *node, int fd)
{
    struct sim__description *description = sim__fd_get(node->fds, fd);
    if (description == NULL) {
        sim_fail(node->net->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, node->net->world->current,
                0, "socket %d of \"%s\" was used, and is not open", fd, node->name);
    }
    rt_assert(description->ops == &socket_ops);
    return socket_of(description);
}
