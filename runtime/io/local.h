/*
 * local.h -- streams within a machine: Unix sockets with a path, and pipes.
 *
 *      rt_local_listen_start ─▶ the calls of tcp.h for a listener
 *      rt_local_connect_start ─▶ the calls of tcp.h for a stream
 *      rt_pipe_open ─▶ two streams, open at once
 *
 * Everything else is tcp.h: finish, accept, read, write, shutdown, close, with the same waits and
 * the same answers. The `peer` of these streams is all zero.
 *
 * Paths (N8). A listener makes its path, and its close removes it. A program that ended without a
 * close leaves the path: RT_E_ADDRESS_IN_USE until it is removed. Abstract addresses, which have no
 * path, cannot be named.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_LOCAL_H
#define RT_IO_LOCAL_H

#include "runtime/io/tcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The longest path, without its end. */
#define RT_LOCAL_PATH 107u

/* As rt_tcp_listen_start, at `path` (borrowed for the call). RT_E_INVALID: it is empty, or longer
 * than RT_LOCAL_PATH. RT_E_ADDRESS_IN_USE: there is something at `path`. RT_E_SYSTEM: for example
 * there is no such folder. */
RT_MUST_CHECK rt_err rt_local_listen_start(
        struct rt_tcp_listener *listener, struct rt_io *io, const char *path, uint32_t backlog);

/* As rt_tcp_connect_start. RT_E_REFUSED: no listener has `path`. RT_E_FULL: its backlog is full (or
 * as rt_tcp_listen_start): nothing waits for that, the caller tries later. RT_E_INVALID. */
RT_MUST_CHECK rt_err rt_local_connect_start(
        struct rt_tcp_stream *stream, struct rt_io *io, const char *path);

/*
 * Opens a pipe: what is written to `writer` is read from `reader`; both are closed before, and are
 * open now. To read the writer, to write the reader, and to shut down either is RT_E_INVALID (N10).
 * Reading ends (RT_E_CLOSED) when the writer is closed; writing is RT_E_CLOSED when the reader is,
 * without a signal. RT_E_BUSY, RT_E_FULL, RT_E_NO_DESCRIPTOR, RT_E_SHUTDOWN: both are still closed.
 */
RT_MUST_CHECK rt_err rt_pipe_open(
        struct rt_io *io, struct rt_tcp_stream *reader, struct rt_tcp_stream *writer);

#ifdef __cplusplus
}
#endif
#endif
