/*
 * echo.c -- the accept loop, a connection, and the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/programs/echo.h"

#include <stddef.h>

#include "runtime/base/banned.h"

static void
report(const struct echo_server *server, rt_err err, const struct rt_net_address *peer)
{
    if (server->config.report != NULL) {
        server->config.report(server->config.argument, err, peer);
    }
}

/* ---- A connection. --------------------------------------------------------------------------- */

static struct echo_connection *
connection_of(struct rt_task *task)
{
    return rt_container_of(task, struct echo_connection, task);
}

static rt_poll
read_some(struct echo_connection *connection, struct rt_cx *cx, struct rt_tcp_moved *ret_moved)
{
    RT_AWAIT(rt_tcp_read(&connection->stream, &connection->wait, cx, connection->buffer,
            sizeof(connection->buffer), ret_moved));
    connection->from = 0;
    connection->to = (uint32_t)ret_moved->size;
    return RT_READY;
}

static rt_poll
write_some(struct echo_connection *connection, struct rt_cx *cx, struct rt_tcp_moved *ret_moved)
{
    RT_AWAIT(rt_tcp_write(&connection->stream, &connection->wait, cx,
            connection->buffer + connection->from, connection->to - connection->from, ret_moved));
    connection->from += (uint32_t)ret_moved->size;
    connection->server->moved += ret_moved->size;
    return RT_READY;
}

static rt_poll
connection_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct echo_connection *connection = connection_of(task);
    struct rt_tcp_moved moved = {RT_OK, 0};
    while (moved.err == RT_OK) {
        rt_assert(connection->from <= connection->to);
        RT_AWAIT(connection->from < connection->to ? write_some(connection, cx, &moved)
                                                   : read_some(connection, cx, &moved));
    }
    if (moved.err != RT_E_CLOSED) {
        report(connection->server, moved.err, &connection->stream.peer);
    }
    return RT_READY;
}

/* The end, of whatever kind. Woken: the accept loop, which may wait for a free one, or for all. */
static void
connection_cleanup(struct rt_task *task)
{
    struct echo_connection *connection = connection_of(task);
    struct echo_server *server = connection->server;
    if (task->end == RT_TASK_CANCELLED) {
        report(server, RT_E_CANCELLED, &connection->stream.peer);
    }
    rt_io_wait_cancel(&connection->wait);
    rt_tcp_close(&connection->stream);
    rt_list_unlink(&connection->open_link);
    rt_list_push_back(&server->free, &connection->free_link);
    (void)rt_slot_wake(&server->idle);
}

static rt_err
connection_start(struct echo_connection *connection)
{
    struct echo_server *server = connection->server;
    connection->from = connection->to = 0;
    rt_task_init(&connection->task, connection_poll, connection_cleanup, "connection");
    connection->task.background = true;
    rt_list_push_back(&server->open, &connection->open_link);
    rt_err err = rt_post(&server->config.runtime->executor, &connection->task);
    if (err != RT_OK) {
        connection_cleanup(&connection->task);
    }
    return err;
}

/* ---- The accept loop. ------------------------------------------------------------------------ */

static void
sleep_for(struct echo_server *server, uint64_t duration_ns)
{
    rt_assert(!server->sleeping);
    rt_sleep_init(&server->pause, duration_ns);
    server->sleeping = true;
}

static void
stop_sleeping(struct echo_server *server)
{
    if (server->sleeping) {
        rt_sleep_cancel(&server->pause);
        server->sleeping = false;
    }
}

static rt_poll
sleep_on(struct echo_server *server, struct rt_cx *cx)
{
    RT_AWAIT(rt_sleep_poll(&server->pause, cx));
    server->sleeping = false;
    return RT_READY;
}

/* A connection that was aborted is no reason to pause: the next one is another. */
static void
accept_failed(struct echo_server *server, rt_err err)
{
    if (err == RT_E_ABORTED) {
        return;
    }
    if (!server->out_of_something) {
        report(server, err, NULL); /* Once, not at each try. */
    }
    server->out_of_something = true;
    server->pauses++;
    sleep_for(server, server->config.pause_ns);
}

static rt_poll
accept_one(struct echo_server *server, struct rt_cx *cx)
{
    struct echo_connection *next =
            rt_container_of(server->free.next, struct echo_connection, free_link);
    rt_err err = RT_OK;
    rt_assert(!rt_list_empty(&server->free));
    RT_AWAIT(rt_tcp_accept(&server->listener, &server->wait, cx, &next->stream, &err));
    if (err == RT_OK) {
        rt_list_unlink(&next->free_link);
        server->accepted++;
        server->out_of_something = false;
        err = connection_start(next);
    }
    if (err != RT_OK) {
        accept_failed(server, err);
    }
    return RT_READY;
}

/* Waits for a connection to end, or for echo_drain. */
static rt_poll
wait_idle(struct echo_server *server, struct rt_cx *cx, const char *reason)
{
    rt_slot_replace(&server->idle, cx, reason);
    return RT_PENDING;
}

static rt_poll
accept_all(struct echo_server *server, struct rt_cx *cx)
{
    while (!server->draining) {
        if (server->sleeping) {
            RT_AWAIT(sleep_on(server, cx));
        } else if (rt_list_empty(&server->free)) {
            RT_AWAIT(wait_idle(server, cx, "a free connection"));
        } else {
            RT_AWAIT(accept_one(server, cx));
        }
    }
    return RT_READY;
}

/* Each is cancelled once: one that runs right now stays open until its poll returns. */
static void
cancel_open(struct echo_server *server)
{
    struct rt_list all;
    rt_list_init(&all);
    rt_list_splice(&all, &server->open);
    while (!rt_list_empty(&all)) {
        struct rt_list *link = rt_list_pop_front(&all);
        rt_list_push_back(&server->open, link);
        rt_task_cancel(&rt_container_of(link, struct echo_connection, open_link)->task);
    }
}

/* Draining: until no connection is open, or for so long. */
static rt_poll
drain_all(struct echo_server *server, struct rt_cx *cx)
{
    while (!rt_list_empty(&server->open)) {
        rt_slot_replace(&server->idle, cx, "the last connection");
        RT_AWAIT(sleep_on(server, cx));
        cancel_open(server);
    }
    return RT_READY;
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct echo_server *server = rt_container_of(task, struct echo_server, task);
    if (server->listener.state == RT_TCP_STARTED && !server->draining) {
        rt_err err = RT_OK;
        RT_AWAIT(rt_tcp_listen_finish(&server->listener, &server->wait, cx, &err));
        if (err != RT_OK) {
            report(server, err, &server->config.address);
            return RT_READY;
        }
    }
    RT_AWAIT(accept_all(server, cx));
    return drain_all(server, cx);
}

static void
server_cleanup(struct rt_task *task)
{
    struct echo_server *server = rt_container_of(task, struct echo_server, task);
    stop_sleeping(server);
    (void)rt_slot_clear(&server->idle);
    rt_io_wait_cancel(&server->wait);
    rt_tcp_listener_close(&server->listener);
    cancel_open(server);
}

/* ---- Beginning and end. ---------------------------------------------------------------------- */

static void
make_free(struct echo_server *server, struct echo_connection *connection)
{
    connection->server = server;
    rt_tcp_stream_init(&connection->stream);
    rt_io_wait_init(&connection->wait);
    rt_list_init(&connection->free_link);
    rt_list_init(&connection->open_link);
    rt_list_push_back(&server->free, &connection->free_link);
}

static void
prepare(struct echo_server *server, const struct echo_config *config)
{
    *server = (struct echo_server){.config = *config};
    server->config.pause_ns = config->pause_ns != 0 ? config->pause_ns : 10 * RT_MS;
    server->config.drain_ns = config->drain_ns != 0 ? config->drain_ns : 5 * RT_SECOND;
    rt_task_init(&server->task, server_poll, server_cleanup, "accept loop");
    rt_tcp_listener_init(&server->listener);
    rt_io_wait_init(&server->wait);
    rt_slot_init(&server->idle);
    rt_list_init(&server->free);
    rt_list_init(&server->open);
    for (uint32_t i = 0; i < config->capacity; i++) {
        make_free(server, &config->connections[i]);
    }
}

rt_err
echo_start(struct echo_server *server, const struct echo_config *config)
{
    rt_assert(server != NULL);
    rt_assert(config->capacity > 0);
    prepare(server, config);
    rt_err err = rt_tcp_listen_start(
            &server->listener, &config->runtime->io, &config->address, config->backlog);
    if (err == RT_OK) {
        err = rt_post(&config->runtime->executor, &server->task);
    }
    if (err != RT_OK) {
        rt_tcp_listener_close(&server->listener);
    }
    return err;
}

void
echo_drain(struct echo_server *server)
{
    rt_assert(server != NULL);
    if (server->draining || !rt_task_posted(&server->task)) {
        return;
    }
    server->draining = true;
    stop_sleeping(server);
    sleep_for(server, server->config.drain_ns);
    rt_io_wait_cancel(&server->wait);
    rt_tcp_listener_close(&server->listener);
    rt_task_wake(&server->task);
}

bool
echo_is_over(const struct echo_server *server)
{
    rt_assert(server != NULL);
    return !rt_task_posted(&server->task) && rt_list_empty(&server->open);
}
