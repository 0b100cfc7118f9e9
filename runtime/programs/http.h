/*
 * http.h -- an HTTP/1.1 server: one source, for the simulator and for the machine.
 *
 *      accept loop ──▶ a free connection ──▶ its task
 *           │             read ─▶ requests ─▶ handler ─▶ responses ─▶ write ─▶ … ─▶ linger ─▶ end
 *           └─ RT_E_NO_DESCRIPTOR, RT_E_FULL: a pause, then again; none free: waits for one
 *
 * Requests of one connection are answered in their order, and those that have arrived together
 * (pipelining) with one write where the responses fit. http_request.h says what is refused.
 *
 * Time-outs. A client that says nothing between requests is closed after `idle_ns`. One that has
 * begun a request gets `request_ns` for all of it, however steadily its bytes come: 408. One that
 * does not read its responses is closed `write_ns` after the write began.
 *
 * Close. After an error, or when the server will not answer any more, what the client still sends
 * is read and dropped for `linger_ns`: a close with bytes unread would reset the connection, and
 * the client would lose the response.
 *
 * End. http_drain closes the listener and the idle connections; the others get their response with
 * "Connection: close". What is not finished after `drain_ns` is cancelled. The accept loop's task
 * ends when all have.
 *
 * Memory is bounded: HTTP_BUFFER for requests and HTTP_OUTPUT for responses of each connection,
 * and no request is read while a response waits to be written.
 *
 * Ownership. Borrows the connections and the runtime, for as long as its tasks are posted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_PROGRAMS_HTTP_H
#define RT_PROGRAMS_HTTP_H

#include "runtime/programs/http_request.h"
#include "runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HTTP_BUFFER 16384u /* The longest request, with its body. */
#define HTTP_OUTPUT 20480u
#define HTTP_BODY_MAX 16384u /* Of a response. */

struct http_server;

/* Filled by the handler; all zero: 200 without a body. */
struct http_response {
    int status;            /* 0: 200. */
    const char *type;      /* Content-Type; NULL: "text/plain". Static. */
    struct http_text body; /* At most HTTP_BODY_MAX; copied. May lie in the request. */
};

enum http_phase { HTTP_IDLE, HTTP_REQUEST, HTTP_WRITE, HTTP_LINGER };

struct http_connection {
    struct rt_task task;
    struct http_server *server;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_sleep limit; /* Of the phase. */
    struct rt_list link;   /* In server->free or server->open. */
    enum http_phase phase;
    bool limited;   /* `limit` has been set for this phase. */
    bool closing;   /* No further request is answered. */
    bool continued; /* "100 Continue" was sent for the request that is being read. */
    uint32_t from;  /* Requests: input[from .. to-1]. */
    uint32_t to;
    uint32_t sent; /* Responses: output[sent .. filled-1]. */
    uint32_t filled;
    char input[HTTP_BUFFER];
    char output[HTTP_OUTPUT];
};

struct http_config {
    struct rt_runtime *runtime;
    struct rt_net_address address;
    uint32_t backlog;                    /* > 0 */
    struct http_connection *connections; /* `capacity` of them: served at a time. */
    uint32_t capacity;                   /* > 0 */
    uint64_t idle_ns;                    /* 0: 60 s. */
    uint64_t request_ns;                 /* 0: 10 s. */
    uint64_t write_ns;                   /* 0: 10 s. */
    uint64_t linger_ns;                  /* 0: 1 s. */
    uint64_t drain_ns;                   /* 0: 5 s. */
    uint64_t pause_ns;                   /* Before accept is tried again; 0: 10 ms. */
    /* Answers a request; must not wait. NULL: every target is "hello". */
    void (*handle)(
            void *argument, const struct http_request *request, struct http_response *response);
    void *argument;
};

struct http_counters {
    uint64_t accepted;
    uint64_t requests; /* Answered by the handler. */
    uint64_t refused;  /* Bad ones. */
    uint64_t timeouts; /* Of any phase but idle and linger. */
    uint64_t pauses;   /* Times that accept had to pause. */
};

struct http_server {
    struct rt_task task; /* The accept loop; READY when drained. */
    struct http_config config;
    struct rt_tcp_listener listener;
    struct rt_io_wait wait;
    struct rt_sleep pause; /* Of accept; while draining, until `drain_ns`. */
    bool pausing;
    bool draining;
    struct rt_slot changed; /* The accept loop, while it waits for a connection to end. */
    struct rt_list free;
    struct rt_list open;
    struct http_counters counters;
};

/* Starts to listen, and posts the accept loop. Errors of rt_tcp_listen_start and rt_post: nothing
 * has been started. `config` is copied. */
RT_MUST_CHECK rt_err http_start(struct http_server *server, const struct http_config *config);

/* Begins the end. Twice: no-op. Not from inside a handler. */
void http_drain(struct http_server *server);

/* The reason phrase of a status, "Not Found"; "Status" of one that it does not know. Static. */
const char *http_reason(int status);

#ifdef __cplusplus
}
#endif
#endif
