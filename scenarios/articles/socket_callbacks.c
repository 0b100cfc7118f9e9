/*
 * socket_callbacks.c -- receive, process, send: one function for each thing that can happen.
 *
 *      receivable ── data ──▶ process ──▶ sendable ── all sent ──▶ receivable …
 *          │ closed                          │ some left: again
 *          ▼                                 ▼
 *         done                            sendable
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/articles/socket.h"

static rt_poll
wait_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct echo_wait *wait = rt_container_of(future, struct echo_wait, future);
    return rt_wait_for(&wait->wait, wait->pollable, cx);
}

static void
wait_drop(struct rt_future *future)
{
    rt_wait_cancel(&rt_container_of(future, struct echo_wait, future)->wait);
}

static void
finish(struct echo_callbacks *echo, rt_err status)
{
    echo->done(echo->argument, status);
}

/* Calls `callback` when `wait` is ready; an error ends the program. */
static void
call_when(struct echo_callbacks *echo, struct rt_callback *callback, struct echo_wait *wait,
        struct rt_pollable *pollable)
{
    rt_future_init(&wait->future, wait_poll, wait_drop, "socket");
    rt_wait_init(&wait->wait);
    wait->pollable = pollable;
    rt_err err = rt_callback_post_when(echo->executor, callback, &wait->future);
    if (err != RT_OK) {
        finish(echo, err);
    }
}

static void
on_receivable(void *argument, rt_err status)
{
    struct echo_callbacks *echo = argument;
    struct socket *socket = echo->socket;
    rt_err err = status;
    if (err == RT_OK) {
        err = socket->receive(socket, echo->data, SOCKET_BUFFER, &echo->filled);
    }
    if (err == RT_E_AGAIN) {
        call_when(echo, &echo->receivable, &echo->can_receive, &socket->readable);
    } else if (err != RT_OK) {
        finish(echo, err == RT_E_CLOSED ? RT_OK : err);
    } else {
        socket_process(echo->data, echo->filled);
        echo->sent = 0;
        call_when(echo, &echo->sendable, &echo->can_send, &socket->writable);
    }
}

static void
on_sendable(void *argument, rt_err status)
{
    struct echo_callbacks *echo = argument;
    struct socket *socket = echo->socket;
    uint32_t size = 0;
    rt_err err = status;
    if (err == RT_OK) {
        err = socket->send(socket, echo->data + echo->sent, echo->filled - echo->sent, &size);
    }
    if (err != RT_OK && err != RT_E_AGAIN) {
        finish(echo, err);
        return;
    }
    echo->sent += size;
    if (echo->sent < echo->filled) {
        call_when(echo, &echo->sendable, &echo->can_send, &socket->writable);
    } else {
        call_when(echo, &echo->receivable, &echo->can_receive, &socket->readable);
    }
}

rt_err
echo_callbacks_start(struct echo_callbacks *echo, struct rt_executor *executor,
        struct socket *socket, void (*done)(void *argument, rt_err status), void *argument)
{
    *echo = (struct echo_callbacks){
            .executor = executor,
            .socket = socket,
            .done = done,
            .argument = argument,
    };
    rt_callback_init(&echo->receivable, on_receivable, echo, "receivable");
    rt_callback_init(&echo->sendable, on_sendable, echo, "sendable");
    return rt_callback_post(executor, &echo->receivable);
}
