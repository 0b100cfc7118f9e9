/*
 * socket.h -- the small socket of the proposal's size comparison (S4), and two programs over it.
 *
 * The same program twice: receive data, process it, send it, until the peer has closed. Once with
 * polls (socket_polls.c), once with callbacks (socket_callbacks.c). Both include only the runtime
 * and this file, so that they can be compiled, and their sizes compared, alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCENARIOS_ARTICLES_SOCKET_H
#define SCENARIOS_ARTICLES_SOCKET_H

#include "runtime/compose/callback.h"
#include "runtime/io/reactor.h"

#define SOCKET_BUFFER 16u

/* Never blocks: RT_OK with 1 .. `size` bytes moved, RT_E_AGAIN, or RT_E_CLOSED at the end. */
struct socket {
    rt_err (*receive)(struct socket *socket, char *data, uint32_t size, uint32_t *ret_size);
    rt_err (*send)(struct socket *socket, const char *data, uint32_t size, uint32_t *ret_size);
    struct rt_pollable readable;
    struct rt_pollable writable;
};

/* "Process": in place, and it cannot fail. */
void socket_process(char *data, uint32_t size);

/* ---- With polls: one task. ------------------------------------------------------------------- */

struct echo_task {
    struct rt_task task;
    struct socket *socket;
    struct rt_wait wait;
    uint32_t at;
    uint32_t filled;
    uint32_t sent;
    uint32_t size;
    rt_err err;
    char data[SOCKET_BUFFER];
};

/* To be posted by the caller; ready when the peer has closed. */
void echo_task_init(struct echo_task *echo, struct socket *socket);

/* ---- With callbacks: one function for each event. -------------------------------------------- */

struct echo_wait {
    struct rt_future future;
    struct rt_wait wait;
    struct rt_pollable *pollable;
};

struct echo_callbacks {
    struct rt_executor *executor;
    struct socket *socket;
    struct rt_callback receivable;
    struct rt_callback sendable;
    struct echo_wait can_receive;
    struct echo_wait can_send;
    void (*done)(void *argument, rt_err status);
    void *argument;
    uint32_t filled;
    uint32_t sent;
    char data[SOCKET_BUFFER];
};

/* Starts; calls `done` once, with RT_OK when the peer has closed. Errors of rt_post. */
RT_MUST_CHECK rt_err echo_callbacks_start(struct echo_callbacks *echo, struct rt_executor *executor,
        struct socket *socket, void (*done)(void *argument, rt_err status), void *argument);

#endif
