/*
 * ours.c -- the server over this runtime: one task for each connection, on either host.
 *
 *      ours PORT echo|http|timeouts epoll|io_uring
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include "runtime/host/epoll.h"
#include "runtime/host/machine.h"
#include "runtime/tests/bench/host/peer.h"
#ifdef RT_URING
#include "runtime/host/uring.h"
#endif

#define CONNECTIONS 16384u

struct connection {
    struct rt_task task;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_sleep *timeout; /* NULL: none. */
    char *rest;               /* An answer that waits for space: rest[from .. from+size-1]. */
    uint32_t from;
    uint32_t size;
};

static struct peer peer;
static struct rt_machine machine;

static rt_poll
write_rest(struct connection *connection, struct rt_cx *cx, struct rt_tcp_moved *ret_moved)
{
    while (connection->size > 0) {
        RT_AWAIT(rt_tcp_write(&connection->stream, &connection->wait, cx,
                connection->rest + connection->from, connection->size, ret_moved));
        if (ret_moved->err != RT_OK) {
            return RT_READY;
        }
        connection->from += (uint32_t)ret_moved->size;
        connection->size -= (uint32_t)ret_moved->size;
    }
    free(connection->rest);
    connection->rest = NULL;
    return RT_READY;
}

/* Writes the answer; what does not fit is kept. */
static rt_poll
answer(struct connection *connection, struct rt_cx *cx, char *buffer, struct rt_tcp_moved *moved)
{
    size_t length = peer_answer(&peer, buffer, moved->size);
    bool sent = rt_tcp_write(&connection->stream, &connection->wait, cx, buffer, length, moved) ==
                RT_READY;
    size_t size = sent ? moved->size : 0;
    if (size == length || (sent && moved->err != RT_OK)) {
        return RT_READY;
    }
    moved->err = RT_OK;
    connection->rest = malloc(length - size);
    connection->from = 0;
    connection->size = (uint32_t)(length - size);
    memcpy(connection->rest, buffer + size, length - size);
    return write_rest(connection, cx, moved);
}

/* READY: too long without a byte. */
static rt_poll
wait_for_timeout(struct connection *connection, struct rt_cx *cx)
{
    return connection->timeout != NULL ? rt_sleep_poll(connection->timeout, cx) : RT_PENDING;
}

static void
restart_timeout(struct connection *connection)
{
    if (connection->timeout != NULL) {
        rt_sleep_cancel(connection->timeout);
        rt_sleep_init(connection->timeout, PEER_TIMEOUT_MS * RT_MS);
    }
}

static rt_poll
connection_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct connection *connection = rt_container_of(task, struct connection, task);
    struct rt_tcp_moved moved = {RT_OK, 0};
    char buffer[PEER_BUFFER];
    if (connection->rest != NULL) {
        RT_AWAIT(write_rest(connection, cx, &moved));
    }
    while (moved.err == RT_OK) {
        if (rt_tcp_read(&connection->stream, &connection->wait, cx, buffer, sizeof(buffer),
                    &moved) == RT_PENDING) {
            return wait_for_timeout(connection, cx);
        }
        if (moved.err == RT_OK) {
            restart_timeout(connection);
            RT_AWAIT(answer(connection, cx, buffer, &moved));
        }
    }
    return RT_READY;
}

static void
connection_cleanup(struct rt_task *task)
{
    struct connection *connection = rt_container_of(task, struct connection, task);
    if (connection->timeout != NULL) {
        rt_sleep_cancel(connection->timeout);
        free(connection->timeout);
    }
    rt_io_wait_cancel(&connection->wait);
    rt_tcp_close(&connection->stream);
    free(connection->rest);
    free(connection);
}

static struct connection *
connection_new(void)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    rt_task_init(&connection->task, connection_poll, connection_cleanup, "connection");
    rt_tcp_stream_init(&connection->stream);
    rt_io_wait_init(&connection->wait);
    if (peer.timeouts) {
        connection->timeout = malloc(sizeof(*connection->timeout));
        rt_sleep_init(connection->timeout, PEER_TIMEOUT_MS * RT_MS);
    }
    return connection;
}

static struct rt_tcp_listener listener;
static struct rt_io_wait listener_wait;
static struct connection *next;

static rt_poll
accept_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    for (;;) {
        rt_err err = RT_OK;
        next = next != NULL ? next : connection_new();
        if (listener.state == RT_TCP_STARTED) {
            RT_AWAIT(rt_tcp_listen_finish(&listener, &listener_wait, cx, &err));
        }
        RT_AWAIT(rt_tcp_accept(&listener, &listener_wait, cx, &next->stream, &err));
        if (err == RT_OK && rt_post(&machine.runtime.executor, &next->task) == RT_OK) {
            next = NULL;
        }
    }
}

static int
serve(struct rt_host *host, struct rt_net *net)
{
    struct rt_task task;
    struct rt_net_address address = rt_net_address_v4(127, 0, 0, 1, peer.port);
    struct rt_machine_config config = {
            .host = host, .net = net, .tasks = CONNECTIONS, .sockets = CONNECTIONS};
    rt_tcp_listener_init(&listener);
    rt_io_wait_init(&listener_wait);
    rt_task_init(&task, accept_poll, NULL, "accept loop");
    if (rt_machine_init(&machine, &config) != RT_OK ||
            rt_tcp_listen_start(&listener, &machine.runtime.io, &address, PEER_BACKLOG) != RT_OK) {
        return 1;
    }
    return rt_block_on(&machine.runtime, &task) == RT_OK ? 0 : 1;
}

int
main(int argc, char **argv)
{
    static struct rt_epoll epoll;
    peer = peer_arguments(argc - 1, argv);
    if (strcmp(argv[3], "epoll") == 0) {
        return rt_epoll_init(&epoll, NULL) == RT_OK ? serve(&epoll.base.host, &epoll.base.net) : 1;
    }
#ifdef RT_URING
    static struct rt_uring uring;
    return rt_uring_init(&uring, NULL) == RT_OK ? serve(&uring.base.host, &uring.base.net) : 1;
#else
    return 1;
#endif
}
