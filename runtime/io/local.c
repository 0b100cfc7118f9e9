/*
 * local.c -- how streams within a machine begin; tcp.c has the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/local.h"

#include <string.h>

#include "runtime/io/attempt.h"

#include "runtime/base/banned.h"

#define BOTH (RT_NET_READABLE | RT_NET_WRITABLE)

static rt_err
check_path(const char *path)
{
    rt_assert(path != NULL);
    size_t size = strlen(path);
    return size > 0 && size <= RT_LOCAL_PATH ? RT_OK : RT_E_INVALID;
}

rt_err
rt_local_listen_start(
        struct rt_tcp_listener *listener, struct rt_io *io, const char *path, uint32_t backlog)
{
    rt_assert(listener != NULL);
    rt_assert(backlog > 0);
    int socket = -1;
    rt_err err = rt__may_start(listener->state, io);
    err = err == RT_OK ? check_path(path) : err;
    err = err == RT_OK ? io->net->ops->local_listen(io->net, path, backlog, &socket) : err;
    err = err == RT_OK ? rt__adopt(io, &listener->source, socket, BOTH) : err;
    if (err == RT_OK) {
        listener->state = RT_TCP_STARTED;
        listener->has_path = true;
    }
    return err;
}

rt_err
rt_local_connect_start(struct rt_tcp_stream *stream, struct rt_io *io, const char *path)
{
    rt_assert(stream != NULL);
    int socket = -1;
    rt_err err = rt__may_start(stream->state, io);
    err = err == RT_OK ? check_path(path) : err;
    err = err == RT_OK ? io->net->ops->local_connect(io->net, path, &socket) : err;
    err = err == RT_OK ? rt__adopt(io, &stream->source, socket, 0) : err;
    if (err == RT_OK) {
        stream->state = RT_TCP_STARTED;
        stream->peer = (struct rt_net_address){.port = 0};
    }
    return err;
}

static void
open_end(struct rt_tcp_stream *stream)
{
    stream->state = RT_TCP_OPEN;
    stream->peer = (struct rt_net_address){.port = 0};
}

rt_err
rt_pipe_open(struct rt_io *io, struct rt_tcp_stream *reader, struct rt_tcp_stream *writer)
{
    rt_assert(reader != writer);
    int sockets[2] = {-1, -1};
    rt_err err = rt__may_start(reader->state, io);
    err = err == RT_OK ? rt__may_start(writer->state, io) : err;
    err = err == RT_OK ? io->net->ops->pipe(io->net, sockets) : err;
    if (err != RT_OK) {
        return err;
    }
    err = rt__adopt(io, &reader->source, sockets[0], BOTH);
    if (err != RT_OK) {
        io->net->ops->close(io->net, sockets[1]);
        return err;
    }
    open_end(reader);
    err = rt__adopt(io, &writer->source, sockets[1], BOTH);
    if (err != RT_OK) {
        rt_tcp_close(reader);
        return err;
    }
    open_end(writer);
    return RT_OK;
}
