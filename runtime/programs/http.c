/*
 * http.c -- the accept loop, a connection, and the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/programs/http.h"

#include <string.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define HEAD_MAX 256u
#define ROUNDS_MAX 16u /* Of one poll: then it is the others' turn. */

static const char continue_text[] = "HTTP/1.1 100 Continue\r\n\r\n";

static const struct {
    int status;
    const char *reason;
} reasons[] = {
        {200, "OK"},
        {204, "No Content"},
        {400, "Bad Request"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
};

const char *
http_reason(int status)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "Status";
}

/* ---- Responses. ------------------------------------------------------------------------------ */

static void
append(struct http_connection *connection, const void *bytes, size_t size)
{
    rt_assert(size <= HTTP_OUTPUT - connection->filled);
    memcpy(connection->output + connection->filled, bytes, size);
    connection->filled += (uint32_t)size;
}

static void
append_text(struct http_connection *connection, const char *text)
{
    append(connection, text, strlen(text));
}

static void
append_number(struct http_connection *connection, size_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    append(connection, digits + at, sizeof(digits) - at);
}

/* `with_body` false: its size alone (HEAD). */
static void
respond(struct http_connection *connection, const struct http_response *response, bool with_body)
{
    int status = response->status != 0 ? response->status : 200;
    uint32_t before = connection->filled;
    rt_assert(status >= 100 && response->body.size <= HTTP_BODY_MAX);
    append_text(connection, "HTTP/1.1 ");
    append_number(connection, (size_t)status);
    append_text(connection, " ");
    append_text(connection, http_reason(status));
    append_text(connection, "\r\nContent-Type: ");
    append_text(connection, response->type != NULL ? response->type : "text/plain");
    append_text(connection, "\r\nContent-Length: ");
    append_number(connection, response->body.size);
    append_text(connection, connection->closing ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    rt_assert(connection->filled - before <= HEAD_MAX);
    if (with_body && response->body.size > 0) {
        append(connection, response->body.at, response->body.size);
    }
}

/* The last response of a connection: what follows cannot be understood, or comes too late. */
static void
refuse(struct http_connection *connection, int status)
{
    const char *reason = http_reason(status);
    connection->closing = true;
    connection->server->counters.refused++;
    respond(connection, &(struct http_response){.status = status, .body = {reason, strlen(reason)}},
            true);
}

static void
say_hello(struct http_response *response)
{
    static const char hello[] = "hello\n";
    response->body = (struct http_text){hello, sizeof(hello) - 1};
}

static void
answer(struct http_connection *connection, const struct http_request *request)
{
    struct http_server *server = connection->server;
    struct http_response response = {.status = 0};
    bool head = http_text_is(request->method, "HEAD");
    connection->closing = !request->keep_alive || server->draining;
    server->counters.requests++;
    if (!head && !http_text_is(request->method, "GET") && !http_text_is(request->method, "POST")) {
        response.status = 501;
    } else if (server->config.handle != NULL) {
        server->config.handle(server->config.argument, request, &response);
    } else {
        say_hello(&response);
    }
    respond(connection, &response, !head);
}

/* ---- Requests. ------------------------------------------------------------------------------- */

/* An empty line before a request is passed over (RFC 9112, 2.2). */
static void
skip_empty_line(struct http_connection *connection)
{
    if (connection->to - connection->from >= 2 &&
            memcmp(connection->input + connection->from, "\r\n", 2) == 0) {
        connection->from += 2;
    }
}

static void
expect_body(struct http_connection *connection, const struct http_request *request)
{
    if (request->expects && !connection->continued) {
        connection->continued = true;
        append(connection, continue_text, sizeof(continue_text) - 1);
    }
}

/* Answers the next request; false: it has not arrived. */
static bool
take_request(struct http_connection *connection)
{
    struct http_request request;
    skip_empty_line(connection);
    int status = http_request_parse(connection->input + connection->from,
            connection->to - connection->from, HTTP_BUFFER, &request);
    switch (status) {
    case HTTP_COMPLETE:
        answer(connection, &request);
        connection->from += (uint32_t)request.size;
        connection->continued = false;
        return true;
    case HTTP_MORE_BODY:
        expect_body(connection, &request);
        return false;
    case HTTP_MORE:
        return false;
    default:
        refuse(connection, status);
        return true;
    }
}

/* Answers what has arrived, as long as any response fits. */
static void
take_requests(struct http_connection *connection)
{
    while (!connection->closing && connection->from < connection->to &&
            HTTP_OUTPUT - connection->filled >= HEAD_MAX + HTTP_BODY_MAX &&
            take_request(connection)) {
    }
    /* The rest moves to the front, where a whole request fits. */
    uint32_t rest = connection->to - connection->from;
    memmove(connection->input, connection->input + connection->from, rest);
    connection->from = 0;
    connection->to = rest;
}

/* ---- A connection. --------------------------------------------------------------------------- */

static uint64_t
limit_of(const struct http_connection *connection)
{
    const struct http_config *config = &connection->server->config;
    switch (connection->phase) {
    case HTTP_IDLE:
        return config->idle_ns;
    case HTTP_REQUEST:
        return config->request_ns;
    case HTTP_WRITE:
        return config->write_ns;
    case HTTP_LINGER:
        return config->linger_ns;
    }
    rt_unreached("a phase is one of these");
}

static void
enter(struct http_connection *connection, enum http_phase phase)
{
    if (connection->phase != phase) {
        rt_sleep_cancel(&connection->limit);
        connection->limited = false;
        connection->phase = phase;
    }
}

/* READY: the phase has taken too long. Its time begins when it first waits. */
static rt_poll
poll_limit(struct http_connection *connection, struct rt_cx *cx)
{
    if (!connection->limited) {
        rt_sleep_init(&connection->limit, limit_of(connection));
        connection->limited = true;
    }
    return rt_sleep_poll(&connection->limit, cx);
}

/* Writes what is there. READY with *ret_err: all of it, or the connection is gone. */
static rt_poll
flush(struct http_connection *connection, struct rt_cx *cx, rt_err *ret_err)
{
    struct rt_tcp_moved moved = {RT_OK, 0};
    enter(connection, HTTP_WRITE);
    while (connection->sent < connection->filled && moved.err == RT_OK) {
        if (rt_tcp_write(&connection->stream, &connection->wait, cx,
                    connection->output + connection->sent, connection->filled - connection->sent,
                    &moved) == RT_PENDING) {
            RT_AWAIT(poll_limit(connection, cx));
            connection->server->counters.timeouts++;
            moved = (struct rt_tcp_moved){RT_E_TIMED_OUT, 0};
        }
        connection->sent += (uint32_t)moved.size;
    }
    *ret_err = moved.err;
    if (moved.err == RT_OK) {
        connection->sent = connection->filled = 0;
    }
    return RT_READY;
}

/* Reads more of a request. READY with *ret_err: RT_OK also where there is a 408 to be written. */
static rt_poll
read_more(struct http_connection *connection, struct rt_cx *cx, rt_err *ret_err)
{
    struct rt_tcp_moved moved = {RT_OK, 0};
    enter(connection, connection->to > 0 ? HTTP_REQUEST : HTTP_IDLE);
    rt_assert(connection->to < HTTP_BUFFER);
    rt_poll answered = rt_tcp_read(&connection->stream, &connection->wait, cx,
            connection->input + connection->to, HTTP_BUFFER - connection->to, &moved);
    *ret_err = moved.err;
    if (answered == RT_READY) {
        connection->to += (uint32_t)moved.size;
        return RT_READY;
    }
    if (connection->phase == HTTP_IDLE && connection->server->draining) {
        *ret_err = RT_E_CLOSED;
        return RT_READY;
    }
    RT_AWAIT(poll_limit(connection, cx));
    *ret_err = connection->phase == HTTP_IDLE ? RT_E_TIMED_OUT : RT_OK;
    if (connection->phase == HTTP_REQUEST) {
        connection->server->counters.timeouts++;
        refuse(connection, 408);
    }
    return RT_READY;
}

/* Reads once and drops it. READY with an error: the client has ended, or takes too long. */
static rt_poll
linger(struct http_connection *connection, struct rt_cx *cx, rt_err *ret_err)
{
    struct rt_tcp_moved moved;
    if (connection->phase != HTTP_LINGER) {
        enter(connection, HTTP_LINGER);
        (void)!rt_tcp_shutdown(&connection->stream); /* Gone already: the read says so too. */
    }
    if (poll_limit(connection, cx) == RT_READY) {
        *ret_err = RT_E_TIMED_OUT;
        return RT_READY;
    }
    RT_AWAIT(rt_tcp_read(
            &connection->stream, &connection->wait, cx, connection->input, HTTP_BUFFER, &moved));
    *ret_err = moved.err;
    return RT_READY;
}

/* One of: writes what is there; waits for the client to end; reads more, and answers it. */
static rt_poll
step(struct http_connection *connection, struct rt_cx *cx, rt_err *ret_err)
{
    if (connection->filled > 0) {
        RT_AWAIT(flush(connection, cx, ret_err));
    } else if (connection->closing) {
        return linger(connection, cx, ret_err);
    } else {
        RT_AWAIT(read_more(connection, cx, ret_err));
    }
    if (*ret_err == RT_OK) {
        take_requests(connection);
    }
    return RT_READY;
}

static rt_poll
connection_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct http_connection *connection = rt_container_of(task, struct http_connection, task);
    for (uint32_t rounds = 0; rounds < ROUNDS_MAX; rounds++) {
        rt_err err = RT_OK;
        RT_AWAIT(step(connection, cx, &err));
        if (err != RT_OK) {
            return RT_READY;
        }
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
connection_cleanup(struct rt_task *task)
{
    struct http_connection *connection = rt_container_of(task, struct http_connection, task);
    struct http_server *server = connection->server;
    rt_sleep_cancel(&connection->limit);
    rt_io_wait_cancel(&connection->wait);
    rt_tcp_close(&connection->stream);
    rt_list_unlink(&connection->link);
    rt_list_push_back(&server->free, &connection->link);
    (void)rt_slot_wake(&server->changed);
}

static struct http_connection *
connection_of(struct rt_list *link)
{
    return rt_container_of(link, struct http_connection, link);
}

static void
connection_init(struct http_server *server, struct http_connection *connection)
{
    connection->server = server;
    rt_task_init(&connection->task, connection_poll, connection_cleanup, "http connection");
    rt_tcp_stream_init(&connection->stream);
    rt_io_wait_init(&connection->wait);
    rt_sleep_init(&connection->limit, 0);
    rt_list_init(&connection->link);
    rt_list_push_back(&server->free, &connection->link);
}

/* Its stream has just been accepted. RT_E_FULL, RT_E_CLOSED: it is closed again. */
static rt_err
connection_start(struct http_server *server, struct http_connection *connection)
{
    rt_task_init(&connection->task, connection_poll, connection_cleanup, "http connection");
    connection->from = connection->to = connection->sent = connection->filled = 0;
    connection->closing = connection->continued = connection->limited = false;
    connection->phase = HTTP_IDLE;
    rt_sleep_init(&connection->limit, 0);
    rt_err err = rt_post(&server->config.runtime->executor, &connection->task);
    if (err != RT_OK) {
        rt_tcp_close(&connection->stream);
        return err;
    }
    rt_list_unlink(&connection->link);
    rt_list_push_back(&server->open, &connection->link);
    server->counters.accepted++;
    return RT_OK;
}

/* ---- The accept loop. ------------------------------------------------------------------------ */

static void
begin_pause(struct http_server *server, uint64_t duration_ns)
{
    rt_sleep_init(&server->pause, duration_ns);
    server->pausing = true;
}

static rt_poll
pause_a_little(struct http_server *server, struct rt_cx *cx)
{
    RT_AWAIT(rt_sleep_poll(&server->pause, cx));
    server->pausing = false;
    return RT_READY;
}

static rt_poll
wait_for_change(struct http_server *server, struct rt_cx *cx, const char *reason)
{
    rt_slot_replace(&server->changed, cx, reason);
    return RT_PENDING;
}

/* READY: one was accepted, or is not to be. */
static rt_poll
accept_one(struct http_server *server, struct rt_cx *cx)
{
    rt_err err = RT_OK;
    if (server->pausing) {
        RT_AWAIT(pause_a_little(server, cx));
    }
    if (rt_list_empty(&server->free)) {
        return wait_for_change(server, cx, "a free connection");
    }
    struct http_connection *connection = connection_of(server->free.next);
    RT_AWAIT(rt_tcp_accept(&server->listener, &server->wait, cx, &connection->stream, &err));
    err = err == RT_OK ? connection_start(server, connection) : err;
    if (err != RT_OK && err != RT_E_ABORTED) {
        server->counters.pauses++;
        begin_pause(server, server->config.pause_ns);
    }
    return RT_READY;
}

/* While draining. READY: no connection is left. */
static rt_poll
await_end(struct http_server *server, struct rt_cx *cx)
{
    if (!rt_list_empty(&server->open) && server->pausing &&
            rt_sleep_poll(&server->pause, cx) == RT_READY) {
        server->pausing = false;
        while (!rt_list_empty(&server->open)) {
            rt_task_cancel(&connection_of(server->open.next)->task);
        }
    }
    return rt_list_empty(&server->open) ? RT_READY
                                        : wait_for_change(server, cx, "the last connection");
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct http_server *server = rt_container_of(task, struct http_server, task);
    if (server->listener.state == RT_TCP_STARTED) {
        rt_err err = RT_OK;
        RT_AWAIT(rt_tcp_listen_finish(&server->listener, &server->wait, cx, &err));
    }
    while (!server->draining) {
        RT_AWAIT(accept_one(server, cx));
    }
    return await_end(server, cx);
}

static void
server_cleanup(struct rt_task *task)
{
    struct http_server *server = rt_container_of(task, struct http_server, task);
    rt_sleep_cancel(&server->pause);
    rt_io_wait_cancel(&server->wait);
    rt_tcp_listener_close(&server->listener);
    (void)rt_slot_clear(&server->changed);
}

static uint64_t
or_usual(uint64_t value, uint64_t usual)
{
    return value != 0 ? value : usual;
}

static void
set_config(struct http_server *server, const struct http_config *config)
{
    server->config = *config;
    server->config.idle_ns = or_usual(config->idle_ns, 60 * RT_SECOND);
    server->config.request_ns = or_usual(config->request_ns, 10 * RT_SECOND);
    server->config.write_ns = or_usual(config->write_ns, 10 * RT_SECOND);
    server->config.linger_ns = or_usual(config->linger_ns, RT_SECOND);
    server->config.drain_ns = or_usual(config->drain_ns, 5 * RT_SECOND);
    server->config.pause_ns = or_usual(config->pause_ns, 10 * RT_MS);
}

rt_err
http_start(struct http_server *server, const struct http_config *config)
{
    struct rt_runtime *runtime = config->runtime;
    rt_assert(config->capacity > 0);
    *server = (struct http_server){.draining = false};
    set_config(server, config);
    rt_list_init(&server->free);
    rt_list_init(&server->open);
    rt_slot_init(&server->changed);
    rt_io_wait_init(&server->wait);
    rt_sleep_init(&server->pause, 0);
    rt_tcp_listener_init(&server->listener);
    rt_task_init(&server->task, server_poll, server_cleanup, "http accept loop");
    for (uint32_t i = 0; i < config->capacity; i++) {
        connection_init(server, &config->connections[i]);
    }
    rt_err err =
            rt_tcp_listen_start(&server->listener, &runtime->io, &config->address, config->backlog);
    if (err == RT_OK && (err = rt_post(&runtime->executor, &server->task)) != RT_OK) {
        rt_tcp_listener_close(&server->listener);
    }
    return err;
}

void
http_drain(struct http_server *server)
{
    if (server->draining) {
        return;
    }
    server->draining = true;
    rt_io_wait_cancel(&server->wait);
    rt_tcp_listener_close(&server->listener);
    rt_sleep_cancel(&server->pause);
    begin_pause(server, server->config.drain_ns);
    rt_task_wake(&server->task);
    rt_list_each(link, &server->open)
    {
        rt_task_wake(&connection_of(link)->task); /* The idle ones end. */
    }
}
