/*
 * with_libev.c -- the server over libev.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <errno.h>
#include <ev.h>

#include "runtime/tests/bench/host/peer.h"

struct connection {
    ev_io io;
    ev_timer timer;
    size_t from;
    size_t size; /* Of an answer that waits for space. */
    char *rest;
};

static struct peer peer;

static void
drop(struct ev_loop *loop, struct connection *connection)
{
    ev_io_stop(loop, &connection->io);
    ev_timer_stop(loop, &connection->timer);
    (void)close(connection->io.fd);
    free(connection->rest);
    free(connection);
}

static void
on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    drop(loop, timer->data);
}

static void
watch(struct ev_loop *loop, struct connection *connection, int events)
{
    ev_io_stop(loop, &connection->io);
    ev_io_set(&connection->io, connection->io.fd, events);
    ev_io_start(loop, &connection->io);
}

static void
send_rest(struct ev_loop *loop, struct connection *connection)
{
    ssize_t sent = send(
            connection->io.fd, connection->rest + connection->from, connection->size, MSG_NOSIGNAL);
    connection->from += sent > 0 ? (size_t)sent : 0;
    connection->size -= sent > 0 ? (size_t)sent : 0;
    if (connection->size == 0) {
        watch(loop, connection, EV_READ);
    }
}

static void
on_io(struct ev_loop *loop, ev_io *io, int events)
{
    struct connection *connection = io->data;
    char buffer[PEER_BUFFER];
    if ((events & EV_WRITE) != 0) {
        send_rest(loop, connection);
        return;
    }
    ssize_t size = recv(io->fd, buffer, sizeof(buffer), 0);
    if (size == 0 || (size < 0 && errno != EAGAIN)) {
        drop(loop, connection);
        return;
    }
    if (size < 0) {
        return;
    }
    if (peer.timeouts) {
        ev_timer_again(loop, &connection->timer);
    }
    size_t length = peer_answer(&peer, buffer, (size_t)size);
    ssize_t sent = send(io->fd, buffer, length, MSG_NOSIGNAL);
    if (sent == (ssize_t)length) {
        return;
    }
    connection->from = 0;
    connection->size = length - (sent > 0 ? (size_t)sent : 0);
    free(connection->rest);
    connection->rest = malloc(PEER_BUFFER);
    memcpy(connection->rest, buffer + (length - connection->size), connection->size);
    watch(loop, connection, EV_WRITE);
}

static void
on_accept(struct ev_loop *loop, ev_io *io, int events)
{
    int fd;
    (void)events;
    while ((fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct connection *connection = calloc(1, sizeof(*connection));
        peer_no_delay(fd);
        ev_io_init(&connection->io, on_io, fd, EV_READ);
        ev_init(&connection->timer, on_timeout);
        connection->timer.repeat = PEER_TIMEOUT_MS / 1e3;
        connection->io.data = connection->timer.data = connection;
        ev_io_start(loop, &connection->io);
    }
}

int
main(int argc, char **argv)
{
    ev_io listener;
    peer = peer_arguments(argc, argv);
    struct ev_loop *loop = ev_default_loop(EVBACKEND_EPOLL);
    ev_io_init(&listener, on_accept, peer_listen(&peer), EV_READ);
    ev_io_start(loop, &listener);
    ev_run(loop, 0);
    return 0;
}
