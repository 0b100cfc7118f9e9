/*
 * tcp.h -- listeners and streams, polled like futures.
 *
 *      rt_tcp_listen_start ─▶ rt_tcp_listen_finish ─▶ rt_tcp_accept ─▶ stream
 *      rt_tcp_connect_start ─▶ rt_tcp_connect_finish ─▶ stream ─▶ read, write, shutdown, close
 *
 * Each polled call is the loop of io.h (N1): it answers PENDING with its task registered in `wait`,
 * or READY with the result. A call that answers PENDING has taken nothing, so it may be dropped at
 * any point by rt_io_wait_cancel.
 *
 * Two phases (N5). A start begins what takes time and never waits; a finish is polled until it is
 * done. A stream that connects is finished when it is writable and no error is pending (N4).
 *
 * An accept loop.
 *
 *      for (;;) {
 *          RT_AWAIT(rt_tcp_accept(&listener, &wait, cx, stream, &err));
 *          if (err == RT_OK) { serve(stream); }
 *          else if (err == RT_E_ABORTED) { continue; }        that one is gone, the next is not
 *          else { pause, then try again }                     RT_E_NO_DESCRIPTOR, RT_E_FULL
 *      }
 *
 * One connection a READY. After any answer the listener stays usable, and is known to be ready
 * until it has reported an empty backlog (N2): a call right after RT_E_NO_DESCRIPTOR answers at
 * once, so a loop has to pause, or it spins until a descriptor is closed.
 *
 * Streams of one machine (Unix sockets, pipes) are the same streams: see local.h.
 *
 * Several tasks may accept from one listener, or write to one stream, each with a separate wait.
 *
 * Ownership. Listener and stream are the caller's, pinned from start or accept to close. Buffers
 * are borrowed for the call only: readiness, not completion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_TCP_H
#define RT_IO_TCP_H

#include "runtime/io/io.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rt_tcp_state {
    RT_TCP_CLOSED,  /* No socket. */
    RT_TCP_STARTED, /* Not finished. */
    RT_TCP_OPEN,
    RT_TCP_FAILED /* It could not be finished; to be closed. */
};

struct rt_tcp_listener {
    struct rt_io_source source;
    enum rt_tcp_state state;
    bool has_path; /* It was started by local.h: its path is freed with it. */
};

struct rt_tcp_stream {
    struct rt_io_source source;
    enum rt_tcp_state state;
    struct rt_net_address peer;
};

/* The result of a read or a write. */
struct rt_tcp_moved {
    rt_err err;
    size_t size; /* Bytes moved; 0 unless err is RT_OK, and never 0 then. */
};

/* Prepares one that is closed. Of one that is not: not detected. */
void rt_tcp_listener_init(struct rt_tcp_listener *listener);
void rt_tcp_stream_init(struct rt_tcp_stream *stream);

/*
 * Starts to listen. `backlog` (> 0): connections that wait to be accepted. RT_E_BUSY: `listener` is
 * not closed. RT_E_FULL: `io` holds as many sources as it can, or the network is full.
 * RT_E_ADDRESS_IN_USE, RT_E_NO_DESCRIPTOR, RT_E_SHUTDOWN. It is still closed in these cases.
 */
RT_MUST_CHECK rt_err rt_tcp_listen_start(struct rt_tcp_listener *listener, struct rt_io *io,
        const struct rt_net_address *address, uint32_t backlog);

/* READY with RT_OK once it listens, or with the network's error; then it is to be closed.
 * RT_E_STALE when it is closed, RT_E_FINISHED when it was finished before. */
#define rt_tcp_listen_finish(listener, wait, cx, ret_err) \
    rt_tcp_listen_finish_at((listener), (wait), (cx), (ret_err), RT_HERE)
rt_poll rt_tcp_listen_finish_at(struct rt_tcp_listener *listener, struct rt_io_wait *wait,
        struct rt_cx *cx, rt_err *ret_err, const struct rt_site *await);

/*
 * READY with RT_OK and `stream` (closed before, now open), or with an error and `stream` as it was.
 * RT_E_ABORTED: the peer closed before it was accepted. RT_E_NO_DESCRIPTOR, RT_E_FULL (`io` holds
 * as many sources as it can): the connection keeps waiting; but it is lost when the network
 * cannot watch any more sockets (RT_E_FULL as well). RT_E_BUSY: `stream` is not closed. RT_E_STALE:
 * the listener is closed; RT_E_INVALID: it does not listen yet. RT_E_SHUTDOWN.
 */
#define rt_tcp_accept(listener, wait, cx, stream, ret_err) \
    rt_tcp_accept_at((listener), (wait), (cx), (stream), (ret_err), RT_HERE)
rt_poll rt_tcp_accept_at(struct rt_tcp_listener *listener, struct rt_io_wait *wait,
        struct rt_cx *cx, struct rt_tcp_stream *stream, rt_err *ret_err,
        const struct rt_site *await);

/* Closes it; a task that waits to accept is woken and gets RT_E_STALE. Closed: no-op. */
#define rt_tcp_listener_close(listener) rt_tcp_listener_close_at((listener), RT_HERE)
void rt_tcp_listener_close_at(struct rt_tcp_listener *listener, const struct rt_site *await);

/* Starts to connect. Errors as rt_tcp_listen_start, but RT_E_ADDRESS_IN_USE. */
RT_MUST_CHECK rt_err rt_tcp_connect_start(
        struct rt_tcp_stream *stream, struct rt_io *io, const struct rt_net_address *address);

/* READY with RT_OK once it is connected, or RT_E_REFUSED (also where a listener is started later),
 * RT_E_RESET, RT_E_TIMED_OUT: then it is to be closed. RT_E_STALE, RT_E_FINISHED as
 * rt_tcp_listen_finish. RT_E_SHUTDOWN. */
#define rt_tcp_connect_finish(stream, wait, cx, ret_err) \
    rt_tcp_connect_finish_at((stream), (wait), (cx), (ret_err), RT_HERE)
rt_poll rt_tcp_connect_finish_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait,
        struct rt_cx *cx, rt_err *ret_err, const struct rt_site *await);

/*
 * READY with bytes moved, often fewer than `size`, or an error. Read: RT_E_CLOSED at the end, at
 * every call (N3). Write: RT_E_CLOSED when the peer reads no more, without a signal (N6).
 * RT_E_RESET: the connection is gone. RT_E_STALE: the stream is closed here. RT_E_INVALID: `size`
 * is 0, or the stream is not connected. RT_E_SHUTDOWN.
 */
#define rt_tcp_read(stream, wait, cx, buffer, size, ret_moved) \
    rt_tcp_read_at((stream), (wait), (cx), (buffer), (size), (ret_moved), RT_HERE)
rt_poll rt_tcp_read_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait, struct rt_cx *cx,
        void *buffer, size_t size, struct rt_tcp_moved *ret_moved, const struct rt_site *await);
#define rt_tcp_write(stream, wait, cx, buffer, size, ret_moved) \
    rt_tcp_write_at((stream), (wait), (cx), (buffer), (size), (ret_moved), RT_HERE)
rt_poll rt_tcp_write_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait, struct rt_cx *cx,
        const void *buffer, size_t size, struct rt_tcp_moved *ret_moved,
        const struct rt_site *await);
/* Writes the bytes of `count` parts (at most RT_NET_PARTS), in order, as if they were one buffer: a
 * header and a body without a copy. What was moved may end within a part (N7). RT_E_INVALID: too
 * many parts, or all are empty. Otherwise as rt_tcp_write. */
#define rt_tcp_writev(stream, wait, cx, parts, count, ret_moved) \
    rt_tcp_writev_at((stream), (wait), (cx), (parts), (count), (ret_moved), RT_HERE)
rt_poll rt_tcp_writev_at(struct rt_tcp_stream *stream, struct rt_io_wait *wait, struct rt_cx *cx,
        const struct rt_net_part *parts, uint32_t count, struct rt_tcp_moved *ret_moved,
        const struct rt_site *await);

/* Nothing more will be written; the peer reads the end, and can still be read from. RT_E_CLOSED:
 * called before, or the connection is gone; RT_E_STALE: the stream is closed here; RT_E_INVALID:
 * not connected. */
RT_MUST_CHECK rt_err rt_tcp_shutdown(struct rt_tcp_stream *stream);

/* Closes it, in any state; its waiters are woken and get RT_E_STALE. Closed: no-op. */
#define rt_tcp_close(stream) rt_tcp_close_at((stream), RT_HERE)
void rt_tcp_close_at(struct rt_tcp_stream *stream, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
