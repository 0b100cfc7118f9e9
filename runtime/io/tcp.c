/*
 * tcp.c -- the loop of io.h (attempt.h), five times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/tcp.h"

#include "runtime/io/attempt.h"

#include "runtime/base/banned.h"

/* ---- Starting and finishing. ----------------------------------------------------------------- */

rt_err
rt__may_start(enum rt_tcp_state state, const struct rt_io *io)
{
    if (state != RT_TCP_CLOSED) {
        return RT_E_BUSY;
    }
    if (io->shut_down) {
        return RT_E_SHUTDOWN;
    }
    return rt_io_has_room(io) ? RT_OK : RT_E_FULL;
}

/* Why `state` cannot be finished, or RT_OK. */
static rt_err
may_finish(enum rt_tcp_state state)
{
    switch (state) {
    case RT_TCP_CLOSED:
        return RT_E_STALE;
    case RT_TCP_STARTED:
        return RT_OK;
    case RT_TCP_OPEN:
    case RT_TCP_FAILED:
        return RT_E_FINISHED;
    }
    rt_unreached("every state can be finished or not");
}

/* Why a socket in `state` cannot be used, or RT_OK. */
rt_err
rt__may_use(enum rt_tcp_state state)
{
    switch (state) {
    case RT_TCP_CLOSED:
        return RT_E_STALE;
    case RT_TCP_STARTED:
    case RT_TCP_FAILED:
        return RT_E_INVALID;
    case RT_TCP_OPEN:
        return RT_OK;
    }
    rt_unreached("every state can be used or not");
}

/* Finishes what was started: `try` is called once the socket is reported writable. */
static rt_poll
finish(struct rt__attempt *attempt, enum rt_tcp_state *state, struct rt_io_wait *wait,
        struct rt_cx *cx, rt_err *ret_err)
{
    rt_err err = may_finish(*state);
    if (err != RT_OK) {
        return rt__attempt_refuse(wait, err, ret_err, attempt->await);
    }
    RT_AWAIT(rt__attempt_poll(attempt, wait, cx));
    /* One that was closed meanwhile stays closed; the end of all I/O finishes nothing. */
    if (*state == RT_TCP_STARTED && attempt->err != RT_E_SHUTDOWN) {
        *state = attempt->err == RT_OK ? RT_TCP_OPEN : RT_TCP_FAILED;
    }
    *ret_err = attempt->err;
    return RT_READY;
}

static void
close_source(struct rt_io_source *source, enum rt_tcp_state *state, const struct rt_site *await)
{
    if (*state == RT_TCP_CLOSED) {
        return;
    }
    struct rt_net *net = rt__net_of(source);
    int socket = source->socket;
    *state = RT_TCP_CLOSED;
    /* Before the close: the number may be another socket's right after it (E7). */
    rt_io_deregister_at(source, await);
    net->ops->close(net, socket);
}

/* ---- Listeners. ------------------------------------------------------------------------------ */

void
rt_tcp_listener_init(struct rt_tcp_listener *listener)
{
    rt_assert(listener != NULL);
    listener->state = RT_TCP_CLOSED;
    listener->has_path = false;
    rt_io_source_init(&listener->source);
}

rt_err
rt_tcp_listen_start(struct rt_tcp_listener *listener, struct rt_io *io,
        const struct rt_net_address *address, uint32_t backlog)
{
    rt_assert(listener != NULL);
    rt_assert(backlog > 0);
    int socket = -1;
    rt_err err = rt__may_start(listener->state, io);
    if (err == RT_OK) {
        err = io->net->ops->listen_start(io->net, address, backlog, &socket);
    }
    if (err == RT_OK) {
        /* Most networks listen at once; the first try is for those. */
        err = rt__adopt(io, &listener->source, socket, RT_NET_READABLE | RT_NET_WRITABLE);
    }
    if (err == RT_OK) {
        listener->state = RT_TCP_STARTED;
    }
    return err;
}

static rt_err
try_listen(struct rt__attempt *attempt)
{
    struct rt_net *net = rt__net_of(attempt->source);
    return net->ops->listen_finish(net, attempt->source->socket);
}

rt_poll
rt_tcp_listen_finish_at(struct rt_tcp_listener *listener, struct rt_io_wait *wait, struct rt_cx *cx,
        rt_err *ret_err, const struct rt_site *await)
{
    rt_assert(listener != NULL);
    struct rt__attempt attempt = {.source = &listener->source,
            .direction = RT_DIRECTION_WRITE,
            .reason = "the address",
            .once = try_listen,
            .await = await};
    return finish(&attempt, &listener->state, wait, cx, ret_err);
}

static rt_err
try_accept(struct rt__attempt *attempt)
{
    struct rt_io *io = attempt->source->io;
    /* Before one is taken: lack of capacity here must not lose it. */
    if (!rt_io_has_room(io)) {
        return RT_E_FULL;
    }
    return io->net->ops->accept(io->net, attempt->source->socket, &attempt->socket, &attempt->peer);
}

static rt_err
stream_begin(struct rt_tcp_stream *stream, struct rt_io *io, const struct rt__attempt *attempt)
{
    rt_err err = rt__adopt(io, &stream->source, attempt->socket, RT_NET_READABLE | RT_NET_WRITABLE);
    if (err == RT_OK) {
        stream->state = RT_TCP_OPEN;
        stream->peer = attempt->peer;
    }
    return err;
}

rt_poll
rt_tcp_accept_at(struct rt_tcp_listener *listener, struct rt_io_wait *wait, struct rt_cx *cx,
        struct rt_tcp_stream *stream, rt_err *ret_err, const struct rt_site *await)
{
    rt_assert(listener != NULL);
    rt_assert(stream != NULL);
    rt_err err = rt__may_use(listener->state);
    if (err == RT_OK && stream->state != RT_TCP_CLOSED) {
        err = RT_E_BUSY;
    }
    if (err != RT_OK) {
        return rt__attempt_refuse(wait, err, ret_err, await);
    }
    struct rt__attempt attempt = {.source = &listener->source,
            .direction = RT_DIRECTION_READ,
            .reason = "a connection",
            .once = try_accept,
            .await = await};
    RT_AWAIT(rt__attempt_poll(&attempt, wait, cx));
    *ret_err = attempt.err != RT_OK ? attempt.err
                                    : stream_begin(stream, listener->source.io, &attempt);
    return RT_READY;
}

void
rt_tcp_listener_close_at(struct rt_tcp_listener *listener, const struct rt_site *await)
{
    rt_assert(listener != NULL);
    if (listener->has_path && listener->state != RT_TCP_CLOSED) {
        struct rt_net *net = rt__net_of(&listener->source);
        net->ops->local_forget(net, listener->source.socket);
        listener->has_path = false;
    }
    close_source(&listener->source, &listener->state, await);
}

/* ---- Streams. -------------------------------------------------------------------------------- */

void
rt_tcp_stream_init(struct rt_tcp_stream *stream)
{
    rt_assert(stream != NULL);
    stream->state = RT_TCP_CLOSED;
    stream->peer = (struct rt_net_address){.port = 0};
    rt_io_source_init(&stream->source);
}

rt_err
rt_tcp_connect_start(
        struct rt_tcp_stream *stream, struct rt_io *io, const struct rt_net_address *address)
{
    rt_assert(stream != NULL);
    int socket = -1;
    rt_err err = rt__may_start(stream->state, io);
    if (err == RT_OK) {
        err = io->net->ops->connect_start(io->net, address, &socket);
    }
    if (err == RT_OK) {
        /* Nothing is assumed: before it is writable, "no error" would say nothing (N4). */
        err = rt__adopt(io, &stream->source, socket, 0);
    }
    if (err == RT_OK) {
        stream->state = RT_TCP_STARTED;
        stream->peer = *address;
    }
    return err;
}

static rt_err
try_connect(struct rt__attempt *attempt)
{
    struct rt_net *net = rt__net_of(attempt->source);
    return net->ops->connect_finish(net, attempt->source->socket);
}

rt_poll
rt_tcp_connect_finish_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait, struct rt_cx *cx,
        rt_err *ret_err, const struct rt_site *await)
{
    rt_assert(stream != NULL);
    struct rt__attempt attempt = {.source = &stream->source,
            .direction = RT_DIRECTION_WRITE,
            .reason = "the connection",
            .once = try_connect,
            .await = await};
    return finish(&attempt, &stream->state, wait, cx, ret_err);
}

static rt_err
try_read(struct rt__attempt *attempt)
{
    struct rt_net *net = rt__net_of(attempt->source);
    rt_err err = rt_net_read(net, attempt->source->socket, attempt->into, attempt->size,
            &attempt->moved, attempt->await);
    attempt->emptied = err == RT_OK && attempt->moved < attempt->size && net->short_reads_empty;
    /* No bytes are not the end (N3): the end is RT_E_CLOSED. */
    return err == RT_OK && attempt->moved == 0 ? RT_E_AGAIN : err;
}

static rt_err
try_write(struct rt__attempt *attempt)
{
    return rt_net_writev(rt__net_of(attempt->source), attempt->source->socket, attempt->parts,
            attempt->count, &attempt->moved, attempt->await);
}

/* Reads or writes, if the stream is connected. */
static rt_poll
move(struct rt__attempt *attempt, const struct rt_tcp_stream *stream, struct rt_io_wait *wait,
        struct rt_cx *cx, struct rt_tcp_moved *ret_moved)
{
    rt_err err = rt__may_use(stream->state);
    if (err == RT_OK && attempt->size == 0) {
        err = RT_E_INVALID;
    }
    if (err != RT_OK) {
        ret_moved->size = 0;
        return rt__attempt_refuse(wait, err, &ret_moved->err, attempt->await);
    }
    RT_AWAIT(rt__attempt_poll(attempt, wait, cx));
    ret_moved->err = attempt->err;
    ret_moved->size = attempt->err == RT_OK ? attempt->moved : 0;
    return RT_READY;
}

rt_poll
rt_tcp_read_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait, struct rt_cx *cx,
        void *buffer, size_t size, struct rt_tcp_moved *ret_moved, const struct rt_site *await)
{
    rt_assert(stream != NULL);
    struct rt__attempt attempt = {.source = &stream->source,
            .direction = RT_DIRECTION_READ,
            .reason = "something to read",
            .once = try_read,
            .into = buffer,
            .size = size,
            .await = await};
    return move(&attempt, stream, wait, cx, ret_moved);
}

rt_poll
rt_tcp_writev_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait, struct rt_cx *cx,
        const struct rt_net_part *parts, uint32_t count, struct rt_tcp_moved *ret_moved,
        const struct rt_site *await)
{
    rt_assert(stream != NULL);
    struct rt__attempt attempt = {.source = &stream->source,
            .direction = RT_DIRECTION_WRITE,
            .reason = "buffer space",
            .once = try_write,
            .parts = parts,
            .count = count,
            .size = count <= RT_NET_PARTS ? rt_net_size(parts, count) : 0,
            .await = await};
    return move(&attempt, stream, wait, cx, ret_moved);
}

rt_poll
rt_tcp_write_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait, struct rt_cx *cx,
        const void *buffer, size_t size, struct rt_tcp_moved *ret_moved,
        const struct rt_site *await)
{
    struct rt_net_part part = {buffer, size};
    return rt_tcp_writev_at(stream, wait, cx, &part, 1, ret_moved, await);
}

rt_err
rt_tcp_shutdown(struct rt_tcp_stream *stream)
{
    rt_assert(stream != NULL);
    rt_err err = rt__may_use(stream->state);
    if (err != RT_OK) {
        return err;
    }
    struct rt_net *net = rt__net_of(&stream->source);
    return net->ops->shutdown(net, stream->source.socket);
}

void
rt_tcp_close_at(struct rt_tcp_stream *stream, const struct rt_site *await)
{
    rt_assert(stream != NULL);
    close_source(&stream->source, &stream->state, await);
}
