/*
 * with_libuv.c -- the server over libuv's streams; uv_try_write first, as its manual recommends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <uv.h>

#include "runtime/tests/bench/host/peer.h"

struct connection {
    uv_tcp_t tcp;
    uv_timer_t timer;
    uint32_t open; /* Handles that are not closed yet. */
};

struct rest {
    uv_write_t request;
    char bytes[PEER_BUFFER];
};

static struct peer peer;
static char buffer[PEER_BUFFER];

static void
on_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    if (--connection->open == 0) {
        free(connection);
    }
}

static void
drop(struct connection *connection)
{
    if (!uv_is_closing((uv_handle_t *)&connection->tcp)) {
        uv_close((uv_handle_t *)&connection->tcp, on_closed);
        uv_close((uv_handle_t *)&connection->timer, on_closed);
    }
}

static void
on_timeout(uv_timer_t *timer)
{
    drop(timer->data);
}

/* One for all: what is read is answered before the next read. */
static void
on_space(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    (void)handle;
    (void)suggested;
    *ret = uv_buf_init(buffer, sizeof(buffer));
}

static void
on_written(uv_write_t *request, int status)
{
    (void)status;
    free(request);
}

static void
on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *into)
{
    struct connection *connection = stream->data;
    if (size < 0) {
        drop(connection);
        return;
    }
    if (size == 0) {
        return;
    }
    if (peer.timeouts) {
        (void)uv_timer_start(&connection->timer, on_timeout, PEER_TIMEOUT_MS, 0);
    }
    size_t length = peer_answer(&peer, into->base, (size_t)size);
    uv_buf_t out = uv_buf_init(into->base, (unsigned)length);
    int sent = uv_try_write(stream, &out, 1);
    if (sent == (int)length) {
        return;
    }
    struct rest *rest = malloc(sizeof(*rest));
    size_t left = length - (sent > 0 ? (size_t)sent : 0);
    memcpy(rest->bytes, into->base + (length - left), left);
    out = uv_buf_init(rest->bytes, (unsigned)left);
    (void)uv_write(&rest->request, stream, &out, 1, on_written);
}

static void
on_connection(uv_stream_t *listener, int status)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    (void)status;
    connection->open = 2;
    (void)uv_tcp_init(listener->loop, &connection->tcp);
    (void)uv_timer_init(listener->loop, &connection->timer);
    connection->tcp.data = connection->timer.data = connection;
    if (uv_accept(listener, (uv_stream_t *)&connection->tcp) != 0) {
        drop(connection);
        return;
    }
    (void)uv_tcp_nodelay(&connection->tcp, 1);
    (void)uv_read_start((uv_stream_t *)&connection->tcp, on_space, on_read);
}

int
main(int argc, char **argv)
{
    uv_tcp_t listener;
    peer = peer_arguments(argc, argv);
    struct sockaddr_in address = peer_address(&peer);
    uv_loop_t *loop = uv_default_loop();
    (void)uv_tcp_init(loop, &listener);
    (void)uv_tcp_bind(&listener, (const struct sockaddr *)&address, 0);
    if (uv_listen((uv_stream_t *)&listener, PEER_BACKLOG, on_connection) != 0) {
        return 1;
    }
    return uv_run(loop, UV_RUN_DEFAULT);
}
