/*
 * echo.h -- a TCP echo server: one source, for the simulator and for the machine.
 *
 *      accept loop ──▶ a free connection ──▶ its task: read, write all of it back, until the end
 *           │
 *           └─ RT_E_NO_DESCRIPTOR, RT_E_FULL: a pause, then again; none free: waits for one
 *
 * On a machine `echo` (runtime/host/programs/echo_main.c) runs one server on each core; in the
 * simulator scenarios/programs/echo.c runs it against bad networks.
 *
 * A connection that its client does not read from holds what it has read, at most one buffer, and
 * reads no more before that is written: memory is bounded, whatever clients do.
 *
 * End. echo_drain closes the listener; connections go on until their clients end them, or for
 * `drain_ns`. Cancelling the server's tasks (rt_terminate) closes all of it at once.
 *
 * Ownership. Borrows the connections and the runtime, for as long as its tasks are posted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_PROGRAMS_ECHO_H
#define RT_PROGRAMS_ECHO_H

#include "runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ECHO_BUFFER 4096u

struct echo_server;

struct echo_connection {
    struct rt_task task;
    struct echo_server *server;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_list free_link; /* In server->free while it is not used. */
    struct rt_list open_link; /* In server->open while it is. */
    uint32_t from;            /* To be written back: buffer[from .. to-1]. */
    uint32_t to;
    char buffer[ECHO_BUFFER]; /* Touched by the first byte. */
};

struct echo_config {
    struct rt_runtime *runtime;
    struct rt_net_address address;
    uint32_t backlog;                    /* > 0 */
    struct echo_connection *connections; /* `capacity` of them: served at a time. */
    uint32_t capacity;                   /* > 0 */
    uint64_t pause_ns;                   /* Before accept is tried again; 0: 10 ms. */
    uint64_t drain_ns; /* How long connections may go on after echo_drain; 0: 5 s. */
    /* Something went wrong that its user may want to read: a connection to `peer` failed, or was
     * cut off (RT_E_CANCELLED); accept has begun to fail (`peer` NULL). NULL: not reported. */
    void (*report)(void *argument, rt_err err, const struct rt_net_address *peer);
    void *argument;
};

struct echo_server {
    struct rt_task task; /* The accept loop; it ends when the server is drained. */
    struct echo_config config;
    struct rt_tcp_listener listener;
    struct rt_io_wait wait;
    struct rt_sleep pause;
    struct rt_slot idle;   /* The accept loop: while no connection is free; when it drains. */
    bool sleeping;         /* `pause` is armed. */
    bool out_of_something; /* The last accept failed; reported. */
    bool draining;
    struct rt_list free;
    struct rt_list open;
    uint64_t accepted; /* So far. */
    uint64_t moved;    /* Bytes written back so far. */
    uint64_t pauses;   /* Times that accept had to pause. */
};

/*
 * Starts to listen, and posts the accept loop. Errors of rt_tcp_listen_start and rt_post: nothing
 * has been started then. `config` is copied.
 */
RT_MUST_CHECK rt_err echo_start(struct echo_server *server, const struct echo_config *config);

/* Accepts no more; the accept loop ends with the last connection. On the server's thread; again:
 * no-op. */
void echo_drain(struct echo_server *server);

/* Whether it has ended, and its memory may go. */
bool echo_is_over(const struct echo_server *server);

#ifdef __cplusplus
}
#endif
#endif
