/*
 * with_libevent.c -- the server over libevent: plain events, which are faster than its buffers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <errno.h>
#include <event2/event.h>

#include "runtime/tests/bench/host/peer.h"

struct connection {
    struct event *reads;
    struct event *writes;
    size_t from;
    size_t size; /* Of an answer that waits for space. */
    char *rest;
};

static struct peer peer;
static struct event_base *base;
static const struct timeval timeout = {PEER_TIMEOUT_MS / 1000, 0};

static void
drop(int fd, struct connection *connection)
{
    event_free(connection->reads);
    event_free(connection->writes);
    (void)close(fd);
    free(connection->rest);
    free(connection);
}

static void
read_on(struct connection *connection)
{
    (void)event_add(connection->reads, peer.timeouts ? &timeout : NULL);
}

static void
on_writable(evutil_socket_t fd, short events, void *argument)
{
    struct connection *connection = argument;
    (void)events;
    ssize_t sent = send(fd, connection->rest + connection->from, connection->size, MSG_NOSIGNAL);
    connection->from += sent > 0 ? (size_t)sent : 0;
    connection->size -= sent > 0 ? (size_t)sent : 0;
    if (connection->size == 0) {
        read_on(connection);
    } else {
        (void)event_add(connection->writes, NULL);
    }
}

static void
on_readable(evutil_socket_t fd, short events, void *argument)
{
    struct connection *connection = argument;
    char buffer[PEER_BUFFER];
    ssize_t size = (events & EV_READ) != 0 ? recv(fd, buffer, sizeof(buffer), 0) : 0;
    if (size < 0 && errno == EAGAIN) {
        return;
    }
    if (size <= 0) {
        drop(fd, connection);
        return;
    }
    size_t length = peer_answer(&peer, buffer, (size_t)size);
    ssize_t sent = send(fd, buffer, length, MSG_NOSIGNAL);
    if (sent == (ssize_t)length) {
        return; /* A persistent event starts its timeout again by itself. */
    }
    connection->from = 0;
    connection->size = length - (sent > 0 ? (size_t)sent : 0);
    free(connection->rest);
    connection->rest = malloc(PEER_BUFFER);
    memcpy(connection->rest, buffer + (length - connection->size), connection->size);
    (void)event_del(connection->reads);
    (void)event_add(connection->writes, NULL);
}

static void
on_accept(evutil_socket_t listener, short events, void *argument)
{
    int fd;
    (void)events;
    (void)argument;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct connection *connection = calloc(1, sizeof(*connection));
        peer_no_delay(fd);
        connection->reads = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, connection);
        connection->writes = event_new(base, fd, EV_WRITE, on_writable, connection);
        read_on(connection);
    }
}

int
main(int argc, char **argv)
{
    peer = peer_arguments(argc, argv);
    base = event_base_new();
    struct event *listener =
            event_new(base, peer_listen(&peer), EV_READ | EV_PERSIST, on_accept, NULL);
    (void)event_add(listener, NULL);
    return event_base_dispatch(base);
}
