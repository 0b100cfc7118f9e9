/*
 * worker.c -- the steps of a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/host/worker.h"

static char much[65536];

static rt_poll
pause_a_little(struct worker *worker, struct rt_cx *cx)
{
    if (!worker->pausing) {
        rt_sleep_init(&worker->pause, 2 * RT_MS);
        worker->pausing = true;
    }
    RT_AWAIT(rt_sleep_poll(&worker->pause, cx));
    worker->pausing = false;
    return RT_READY;
}

static rt_poll
write_until_it_fails(struct worker *worker, struct rt_cx *cx, struct rt_tcp_moved *moved)
{
    do {
        RT_AWAIT(rt_tcp_write(worker->stream, &worker->wait, cx, much, sizeof(much), moved));
    } while (moved->err == RT_OK);
    return RT_READY;
}

static rt_poll
worker_do(struct worker *worker, struct rt_cx *cx, struct rt_tcp_moved *moved)
{
    char buffer[64] = "abcd";
    switch (worker->script[worker->done]) {
    case 'l':
        return rt_tcp_listen_finish(worker->listener, &worker->wait, cx, &moved->err);
    case 'a':
        return rt_tcp_accept(worker->listener, &worker->wait, cx, worker->stream, &moved->err);
    case 'c':
        return rt_tcp_connect_finish(worker->stream, &worker->wait, cx, &moved->err);
    case 'r':
        return rt_tcp_read(worker->stream, &worker->wait, cx, buffer, 4, moved);
    case 'R':
        return rt_tcp_read(worker->stream, &worker->wait, cx, buffer, sizeof(buffer), moved);
    case 'w':
        return rt_tcp_write(worker->stream, &worker->wait, cx, buffer, 4, moved);
    case 'W':
        return write_until_it_fails(worker, cx, moved);
    case 's':
        moved->err = rt_tcp_shutdown(worker->stream);
        return RT_READY;
    case 'x':
        rt_tcp_close(worker->stream);
        return RT_READY;
    case 'p':
        return pause_a_little(worker, cx);
    default:
        ck_abort_msg("no such letter in a script");
    }
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    while (worker->script[worker->done] != '\0') {
        struct rt_tcp_moved moved = {RT_OK, 0};
        ck_assert_uint_lt(worker->done, WORKER_STEPS);
        RT_AWAIT(worker_do(worker, cx, &moved));
        worker->errs[worker->done] = moved.err;
        worker->sizes[worker->done] = moved.size;
        worker->done++;
    }
    return RT_READY;
}

static void
worker_cleanup(struct rt_task *task)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    rt_io_wait_cancel(&worker->wait);
    if (worker->pausing) {
        rt_sleep_cancel(&worker->pause);
    }
}

void
worker_start(struct worker *worker, struct metal *metal, const char *name,
        struct rt_tcp_listener *listener, struct rt_tcp_stream *stream, const char *script)
{
    *worker = (struct worker){.listener = listener, .stream = stream, .script = script};
    rt_io_wait_init(&worker->wait);
    rt_task_init(&worker->task, worker_poll, worker_cleanup, name);
    EXPECT_EQ(rt_post(metal_executor(metal), &worker->task), RT_OK);
}

void
workers_run(struct metal *metal)
{
    EXPECT_EQ(rt_run_to_completion(&metal->machine.runtime), RT_OK);
}

void
metal_listen(
        struct metal *metal, struct rt_tcp_listener *listener, struct rt_net_address *ret_address)
{
    struct worker worker;
    struct rt_net_address any = rt_net_address_v4(127, 0, 0, 1, 0);
    rt_tcp_listener_init(listener);
    EXPECT_EQ(rt_tcp_listen_start(listener, &metal->machine.runtime.io, &any, 64), RT_OK);
    worker_start(&worker, metal, "listen", listener, NULL, "l");
    workers_run(metal);
    EXPECT_EQ(worker.errs[0], RT_OK);
    EXPECT_EQ(rt_socket_address(listener->source.socket, &metal->epoll.base.failure, ret_address),
            RT_OK);
    EXPECT(ret_address->port != 0);
}

void
metal_connect(struct metal *metal, struct rt_tcp_stream *client, struct rt_tcp_stream *server)
{
    struct rt_tcp_listener listener;
    struct rt_net_address address;
    struct worker calls;
    struct worker accepts;
    metal_listen(metal, &listener, &address);
    rt_tcp_stream_init(client);
    rt_tcp_stream_init(server);
    EXPECT_EQ(rt_tcp_connect_start(client, &metal->machine.runtime.io, &address), RT_OK);
    worker_start(&calls, metal, "calls", NULL, client, "c");
    worker_start(&accepts, metal, "accepts", &listener, server, "a");
    workers_run(metal);
    EXPECT_EQ(calls.errs[0], RT_OK);
    EXPECT_EQ(accepts.errs[0], RT_OK);
    rt_tcp_listener_close(&listener);
}
