/*
 * socket_polls.c -- receive, process, send: sequential code in one function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/await.h"
#include "scenarios/articles/socket.h"

static rt_poll
echo_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct echo_task *echo = rt_container_of(task, struct echo_task, task);
    struct socket *socket = echo->socket;
    RT_BEGIN(echo->at);
    for (;;) {
        while ((echo->err = socket->receive(socket, echo->data, SOCKET_BUFFER, &echo->filled)) ==
                RT_E_AGAIN) {
            RT_AWAIT_HERE(echo->at, rt_wait_for(&echo->wait, &socket->readable, cx));
        }
        if (echo->err != RT_OK) {
            break;
        }
        socket_process(echo->data, echo->filled);
        for (echo->sent = 0; echo->sent < echo->filled;) {
            echo->err = socket->send(
                    socket, echo->data + echo->sent, echo->filled - echo->sent, &echo->size);
            if (echo->err == RT_E_AGAIN) {
                RT_AWAIT_HERE(echo->at, rt_wait_for(&echo->wait, &socket->writable, cx));
            } else {
                echo->sent += echo->size;
            }
        }
    }
    RT_END(echo->at);
}

static void
echo_cleanup(struct rt_task *task)
{
    rt_wait_cancel(&rt_container_of(task, struct echo_task, task)->wait);
}

void
echo_task_init(struct echo_task *echo, struct socket *socket)
{
    *echo = (struct echo_task){.socket = socket};
    rt_wait_init(&echo->wait);
    rt_task_init(&echo->task, echo_poll, echo_cleanup, "echo");
}
