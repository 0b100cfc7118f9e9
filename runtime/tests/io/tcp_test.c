/*
 * tcp_test.c -- listeners and streams over a scripted network.
 *
 * A worker is a task that makes one call of tcp.h after the other, by its script, and continues
 * when the call is READY; the results are in `errs`:
 *
 *      l  listen_finish    a  accept into the next stream    c  connect_finish
 *      r  read 4 bytes     w  write 4 bytes                  z  read into an empty buffer
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/tcp.h"

#include "runtime/tests/io/dumb_net.h"

#define WORK_MAX 16

struct shop {
    struct dumb_runtime dumb;
    struct dumb_net net;
    struct rt_tcp_listener listener;
    struct rt_tcp_stream streams[DUMB_IO_SOURCES + 1];
    uint32_t accepted;
};

struct worker {
    struct rt_task task;
    struct shop *shop;
    struct rt_tcp_stream *stream;
    struct rt_io_wait wait;
    const char *script;
    rt_err errs[WORK_MAX];
    size_t sizes[WORK_MAX];
    uint32_t done;
};

static rt_poll
worker_do(struct worker *worker, struct rt_cx *cx)
{
    struct shop *shop = worker->shop;
    struct rt_tcp_moved moved = {RT_OK, 0};
    char buffer[4] = "abcd";
    rt_poll answer = RT_PENDING;
    switch (worker->script[worker->done]) {
    case 'l':
        answer = rt_tcp_listen_finish(&shop->listener, &worker->wait, cx, &moved.err);
        break;
    case 'a':
        answer = rt_tcp_accept(
                &shop->listener, &worker->wait, cx, &shop->streams[shop->accepted], &moved.err);
        shop->accepted += answer == RT_READY && moved.err == RT_OK;
        break;
    case 'c':
        answer = rt_tcp_connect_finish(worker->stream, &worker->wait, cx, &moved.err);
        break;
    case 'r':
        answer = rt_tcp_read(worker->stream, &worker->wait, cx, buffer, 4, &moved);
        break;
    case 'w':
        answer = rt_tcp_write(worker->stream, &worker->wait, cx, buffer, 4, &moved);
        break;
    case 'z':
        answer = rt_tcp_read(worker->stream, &worker->wait, cx, buffer, 0, &moved);
        break;
    default:
        ck_abort_msg("no such letter in a script");
    }
    if (answer == RT_READY) {
        worker->errs[worker->done] = moved.err;
        worker->sizes[worker->done] = moved.size;
    }
    return answer;
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    dumb_log(&worker->shop->dumb, task->name);
    while (worker->script[worker->done] != '\0') {
        RT_AWAIT(worker_do(worker, cx));
        worker->done++;
    }
    return RT_READY;
}

static void
worker_cleanup(struct rt_task *task)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    rt_io_wait_cancel(&worker->wait);
}

static void
worker_start(struct worker *worker, struct shop *shop, const char *name,
        struct rt_tcp_stream *stream, const char *script)
{
    *worker = (struct worker){.shop = shop, .stream = stream, .script = script};
    rt_io_wait_init(&worker->wait);
    rt_task_init(&worker->task, worker_poll, worker_cleanup, name);
    EXPECT_EQ(rt_post(&shop->dumb.runtime.executor, &worker->task), RT_OK);
}

static struct rt_net_address
here(void)
{
    return rt_net_address_v4(10, 0, 0, 1, 8080);
}

static void
shop_init(struct shop *shop)
{
    dumb_net_init(&shop->net, &shop->dumb);
    rt_tcp_listener_init(&shop->listener);
    for (uint32_t i = 0; i <= DUMB_IO_SOURCES; i++) {
        rt_tcp_stream_init(&shop->streams[i]);
    }
    shop->accepted = 0;
}

static void
shop_fini(struct shop *shop)
{
    rt_tcp_listener_close(&shop->listener);
    for (uint32_t i = 0; i <= DUMB_IO_SOURCES; i++) {
        rt_tcp_close(&shop->streams[i]);
        rt_tcp_close(&shop->streams[i]);
    }
    dumb_net_fini(&shop->net, &shop->dumb);
}

/* The socket of a source. */
static struct dumb_socket *
socket_of(struct shop *shop, const struct rt_io_source *source)
{
    EXPECT(source->io != NULL);
    return &shop->net.sockets[source->socket];
}

static struct dumb_socket *
shop_listen(struct shop *shop)
{
    struct rt_net_address address = here();
    struct worker worker;
    EXPECT_EQ(rt_tcp_listen_start(&shop->listener, shop->net.io, &address, 4), RT_OK);
    worker_start(&worker, shop, "listen", NULL, "l");
    dumb_run(&shop->dumb);
    EXPECT_EQ(worker.errs[0], RT_OK);
    return socket_of(shop, &shop->listener.source);
}

/* An open stream with nothing to read and no space, and nothing known of it. */
static struct dumb_socket *
shop_connect(struct shop *shop, struct rt_tcp_stream *stream)
{
    struct rt_net_address address = here();
    struct worker worker;
    EXPECT_EQ(rt_tcp_connect_start(stream, shop->net.io, &address), RT_OK);
    struct dumb_socket *socket = socket_of(shop, &stream->source);
    worker_start(&worker, shop, "connect", stream, "c");
    dumb_run(&shop->dumb);
    socket->start = RT_OK;
    dumb_event(&shop->net, stream->source.socket, RT_NET_WRITABLE);
    (void)dumb_turn(&shop->net);
    dumb_run(&shop->dumb);
    EXPECT_EQ(worker.errs[0], RT_OK);
    shop->dumb.log[0] = '\0';
    return socket;
}

/* ---- Accepting. ------------------------------------------------------------------------------ */

/*
 * Holds N1, N2: one edge stands for three connections; each READY takes one, the fourth call
 * answers RT_E_AGAIN, and only then the loop waits.
 */
TEST(tcp_accept_takes_one_a_ready_and_all_of_an_edge)
{
    struct shop shop;
    struct worker loop;
    shop_init(&shop);
    struct dumb_socket *listener = shop_listen(&shop);
    shop.dumb.log[0] = '\0';
    worker_start(&loop, &shop, "loop", NULL, "aaaaa");
    dumb_run(&shop.dumb);
    EXPECT_EQ(listener->accepts, 1);
    listener->waiting = 3;
    dumb_event(&shop.net, shop.listener.source.socket, RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(loop.done, 3);
    EXPECT_EQ(shop.accepted, 3);
    EXPECT_EQ(listener->accepts, 5);
    EXPECT_STR(shop.dumb.log, "loop loop");
    EXPECT_EQ(shop.streams[2].peer.port, 1000 + shop.streams[2].source.socket);
    rt_task_cancel(&loop.task);
    shop_fini(&shop);
}

/*
 * Holds N2: no descriptor, and a connection that is gone already, are answers about one call. The
 * listener is still ready, and the connections after it are accepted without another edge.
 */
TEST(tcp_listener_survives_errors_of_accept)
{
    struct shop shop;
    struct worker loop;
    shop_init(&shop);
    struct dumb_socket *listener = shop_listen(&shop);
    worker_start(&loop, &shop, "loop", NULL, "aaaa");
    listener->waiting = 3;
    listener->refusal = RT_E_NO_DESCRIPTOR;
    dumb_run(&shop.dumb);
    /* The first was tried before any edge: it was assumed. */
    EXPECT_EQ(loop.errs[0], RT_E_NO_DESCRIPTOR);
    EXPECT_EQ(loop.errs[1], RT_OK);
    EXPECT_EQ(loop.errs[2], RT_OK);
    EXPECT_EQ(loop.errs[3], RT_OK);
    EXPECT_EQ(shop.net.fetches, 0);
    worker_start(&loop, &shop, "loop", NULL, "aa");
    listener->waiting = 2;
    listener->refusal = RT_E_ABORTED;
    dumb_run(&shop.dumb);
    EXPECT_EQ(loop.errs[0], RT_E_ABORTED);
    EXPECT_EQ(loop.errs[1], RT_OK);
    shop_fini(&shop);
}

/* Holds N2: without capacity for one more source, the connection stays in the backlog. */
TEST(tcp_accept_without_capacity_loses_no_connection)
{
    struct shop shop;
    struct worker loop;
    shop_init(&shop);
    struct dumb_socket *listener = shop_listen(&shop);
    worker_start(&loop, &shop, "loop", NULL, "aaaaaaaa");
    listener->waiting = DUMB_IO_SOURCES;
    dumb_run(&shop.dumb);
    EXPECT_EQ(loop.done, 8);
    EXPECT_EQ(loop.errs[6], RT_OK);
    EXPECT_EQ(loop.errs[7], RT_E_FULL);
    EXPECT_EQ(listener->waiting, 1);
    rt_tcp_close(&shop.streams[0]);
    shop.accepted = 0;
    worker_start(&loop, &shop, "loop", NULL, "a");
    dumb_run(&shop.dumb);
    EXPECT_EQ(loop.errs[0], RT_OK);
    shop_fini(&shop);
}

/* A task that waits to accept, or to read, is woken when the socket is closed. */
TEST(tcp_close_wakes_the_waiters)
{
    struct shop shop;
    struct worker accepts, reads;
    shop_init(&shop);
    (void)shop_listen(&shop);
    (void)shop_connect(&shop, &shop.streams[5]);
    worker_start(&accepts, &shop, "accepts", NULL, "a");
    worker_start(&reads, &shop, "reads", &shop.streams[5], "r");
    dumb_run(&shop.dumb);
    rt_tcp_listener_close(&shop.listener);
    rt_tcp_close(&shop.streams[5]);
    dumb_run(&shop.dumb);
    EXPECT_EQ(accepts.errs[0], RT_E_STALE);
    EXPECT_EQ(reads.errs[0], RT_E_STALE);
    EXPECT_EQ(rt_tcp_shutdown(&shop.streams[5]), RT_E_STALE);
    shop_fini(&shop);
}

/* ---- Two phases. ----------------------------------------------------------------------------- */

/* Holds N5: a listen that is not finished at once is finished by an event; before, it is no use. */
TEST(tcp_listen_is_started_and_finished)
{
    struct shop shop;
    struct worker early, finish;
    struct rt_net_address address = here();
    shop_init(&shop);
    EXPECT_EQ(rt_tcp_listen_start(&shop.listener, shop.net.io, &address, 4), RT_OK);
    EXPECT_EQ(rt_tcp_listen_start(&shop.listener, shop.net.io, &address, 4), RT_E_BUSY);
    struct dumb_socket *listener = socket_of(&shop, &shop.listener.source);
    listener->start = RT_E_AGAIN;
    worker_start(&early, &shop, "early", NULL, "a");
    worker_start(&finish, &shop, "finish", NULL, "ll");
    dumb_run(&shop.dumb);
    EXPECT_EQ(early.errs[0], RT_E_INVALID);
    EXPECT_EQ(finish.done, 0);
    EXPECT_EQ(listener->finishes, 1);
    listener->start = RT_OK;
    dumb_event(&shop.net, shop.listener.source.socket, RT_NET_WRITABLE);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(finish.errs[0], RT_OK);
    EXPECT_EQ(finish.errs[1], RT_E_FINISHED);
    EXPECT_EQ(listener->finishes, 2);
    shop_fini(&shop);
}

/*
 * Holds N4: a connection is asked for its error when it is writable, not before (the network of
 * this test sees to it), and what is not made yet although it was said to be writable waits on.
 */
TEST(tcp_connect_is_finished_when_writable_and_without_an_error)
{
    struct shop shop;
    struct worker worker;
    struct rt_net_address address = here();
    struct rt_tcp_stream *stream = &shop.streams[0];
    shop_init(&shop);
    EXPECT_EQ(rt_tcp_connect_start(stream, shop.net.io, &address), RT_OK);
    struct dumb_socket *socket = socket_of(&shop, &stream->source);
    worker_start(&worker, &shop, "worker", stream, "cw");
    dumb_run(&shop.dumb);
    EXPECT_EQ(socket->finishes, 0);
    dumb_event(&shop.net, stream->source.socket, RT_NET_WRITABLE);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(socket->finishes, 1);
    EXPECT_EQ(worker.done, 0);
    socket->start = RT_OK;
    socket->space = 4;
    dumb_event(&shop.net, stream->source.socket, RT_NET_WRITABLE);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(worker.errs[0], RT_OK);
    EXPECT_EQ(worker.sizes[1], 4);
    shop_fini(&shop);
}

/* Holds N4: writable says only that there is a result: here, that no listener exists. */
TEST(tcp_connect_that_is_refused_is_an_error)
{
    static const rt_err errs[] = {RT_E_REFUSED, RT_E_TIMED_OUT, RT_E_RESET};
    for (uint32_t i = 0; i < 3; i++) {
        struct shop shop;
        struct worker worker;
        struct rt_net_address address = here();
        struct rt_tcp_stream *stream = &shop.streams[0];
        shop_init(&shop);
        EXPECT_EQ(rt_tcp_connect_start(stream, shop.net.io, &address), RT_OK);
        worker_start(&worker, &shop, "worker", stream, "rccw");
        socket_of(&shop, &stream->source)->start = errs[i];
        dumb_run(&shop.dumb);
        dumb_event(
                &shop.net, stream->source.socket, RT_NET_WRITABLE | RT_NET_ERROR | RT_NET_HANGUP);
        EXPECT_EQ(dumb_turn(&shop.net), 1);
        dumb_run(&shop.dumb);
        EXPECT_EQ(worker.errs[0], RT_E_INVALID);
        EXPECT_EQ(worker.errs[1], errs[i]);
        EXPECT_EQ(worker.errs[2], RT_E_FINISHED);
        EXPECT_EQ(worker.errs[3], RT_E_INVALID);
        shop_fini(&shop);
    }
}

/* Holds N5: what cannot be started leaves nothing behind. */
TEST(tcp_start_that_is_refused_leaves_nothing)
{
    struct shop shop;
    struct rt_net_address address = here();
    shop_init(&shop);
    shop.net.start = RT_E_ADDRESS_IN_USE;
    EXPECT_EQ(rt_tcp_listen_start(&shop.listener, shop.net.io, &address, 1), RT_E_ADDRESS_IN_USE);
    shop.net.start = RT_E_NO_DESCRIPTOR;
    EXPECT_EQ(rt_tcp_connect_start(&shop.streams[0], shop.net.io, &address), RT_E_NO_DESCRIPTOR);
    shop.net.watch = RT_E_FULL;
    EXPECT_EQ(rt_tcp_connect_start(&shop.streams[0], shop.net.io, &address), RT_E_FULL);
    rt_io_shutdown(shop.net.io);
    EXPECT_EQ(rt_tcp_connect_start(&shop.streams[0], shop.net.io, &address), RT_E_SHUTDOWN);
    for (uint32_t i = 0; i < DUMB_SOCKETS; i++) {
        EXPECT(!shop.net.sockets[i].open);
    }
    shop_fini(&shop);
}

/* ---- Bytes. ---------------------------------------------------------------------------------- */

/* Holds E4: a short read leaves the stream ready; the next one needs no edge, and there is none. */
TEST(tcp_short_read_does_not_clear)
{
    struct shop shop;
    struct worker worker;
    struct rt_tcp_stream *stream = &shop.streams[0];
    shop_init(&shop);
    struct dumb_socket *socket = shop_connect(&shop, stream);
    worker_start(&worker, &shop, "worker", stream, "rrrr");
    dumb_run(&shop.dumb);
    socket->readable = 9;
    socket->at_once = 3;
    dumb_event(&shop.net, stream->source.socket, RT_NET_READABLE);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(worker.done, 3);
    EXPECT_EQ(worker.sizes[0], 3);
    EXPECT_STR(shop.dumb.log, "worker worker");
    rt_task_cancel(&worker.task);
    shop_fini(&shop);
}

/* Holds N1: no space, an edge, a short write, the rest. */
TEST(tcp_write_waits_for_buffer_space)
{
    struct shop shop;
    struct worker worker;
    struct rt_tcp_stream *stream = &shop.streams[0];
    shop_init(&shop);
    struct dumb_socket *socket = shop_connect(&shop, stream);
    worker_start(&worker, &shop, "worker", stream, "ww");
    dumb_run(&shop.dumb);
    EXPECT_EQ(socket->writes, 1);
    socket->space = 5;
    dumb_event(&shop.net, stream->source.socket, RT_NET_WRITABLE);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(worker.sizes[0], 4);
    EXPECT_EQ(worker.sizes[1], 1);
    EXPECT_EQ(rt_tcp_shutdown(stream), RT_OK);
    EXPECT_EQ(rt_tcp_shutdown(stream), RT_E_CLOSED);
    shop_fini(&shop);
}

/* Holds N3: the end is an answer, again and again; no bytes are not the end. */
TEST(tcp_read_of_nothing_is_not_the_end)
{
    struct shop shop;
    struct worker worker;
    struct rt_tcp_stream *stream = &shop.streams[0];
    shop_init(&shop);
    struct dumb_socket *socket = shop_connect(&shop, stream);
    worker_start(&worker, &shop, "worker", stream, "zrrrr");
    socket->no_bytes = true;
    dumb_event(&shop.net, stream->source.socket, RT_NET_READABLE);
    (void)dumb_turn(&shop.net);
    dumb_run(&shop.dumb);
    EXPECT_EQ(worker.errs[0], RT_E_INVALID);
    EXPECT_EQ(worker.done, 1);
    socket->readable = 2;
    socket->read_end = RT_E_CLOSED;
    dumb_event(&shop.net, stream->source.socket, RT_NET_READABLE | RT_NET_READ_CLOSED);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(worker.sizes[1], 2);
    EXPECT_EQ(worker.errs[2], RT_E_CLOSED);
    EXPECT_EQ(worker.errs[4], RT_E_CLOSED);
    EXPECT_EQ(worker.sizes[4], 0);
    shop_fini(&shop);
}

/* Holds N6, E3: a task that waits to write to a peer that goes is woken by the hang-up. */
TEST(tcp_write_to_a_closed_peer_is_an_error)
{
    static const rt_err errs[] = {RT_E_CLOSED, RT_E_RESET};
    for (uint32_t i = 0; i < 2; i++) {
        struct shop shop;
        struct worker writes, reads;
        struct rt_tcp_stream *stream = &shop.streams[0];
        shop_init(&shop);
        struct dumb_socket *socket = shop_connect(&shop, stream);
        worker_start(&writes, &shop, "writes", stream, "ww");
        worker_start(&reads, &shop, "reads", stream, "r");
        dumb_run(&shop.dumb);
        socket->write_end = errs[i];
        socket->read_end = errs[i];
        dumb_event(&shop.net, stream->source.socket, RT_NET_HANGUP);
        EXPECT_EQ(dumb_turn(&shop.net), 2);
        dumb_run(&shop.dumb);
        EXPECT_EQ(writes.errs[0], errs[i]);
        EXPECT_EQ(writes.errs[1], errs[i]);
        EXPECT_EQ(reads.errs[0], errs[i]);
        shop_fini(&shop);
    }
}

/* Holds E2: a network that says RT_E_AGAIN of what is closed by its own word is not asked twice. */
TEST(tcp_closed_direction_that_would_block_is_closed)
{
    struct shop shop;
    struct worker worker;
    struct rt_tcp_stream *stream = &shop.streams[0];
    shop_init(&shop);
    (void)shop_connect(&shop, stream);
    worker_start(&worker, &shop, "worker", stream, "rw");
    dumb_run(&shop.dumb);
    dumb_event(&shop.net, stream->source.socket, RT_NET_HANGUP);
    EXPECT_EQ(dumb_turn(&shop.net), 1);
    dumb_run(&shop.dumb);
    EXPECT_EQ(worker.errs[0], RT_E_CLOSED);
    EXPECT_EQ(worker.errs[1], RT_E_CLOSED);
    shop_fini(&shop);
}

/* Holds E5: two tasks read from one stream, each with a separate wait; neither is forgotten. */
TEST(tcp_two_readers_of_one_stream_both_get_something)
{
    struct shop shop;
    struct worker a, b;
    struct rt_tcp_stream *stream = &shop.streams[0];
    shop_init(&shop);
    struct dumb_socket *socket = shop_connect(&shop, stream);
    worker_start(&a, &shop, "a", stream, "r");
    worker_start(&b, &shop, "b", stream, "r");
    dumb_run(&shop.dumb);
    for (uint32_t i = 0; i < 2; i++) {
        socket->readable = 4;
        dumb_event(&shop.net, stream->source.socket, RT_NET_READABLE);
        EXPECT_EQ(dumb_turn(&shop.net), 2 - i);
        dumb_run(&shop.dumb);
    }
    EXPECT_EQ(a.sizes[0] + b.sizes[0], 8);
    shop_fini(&shop);
}

/* Holds E10: the end of all I/O reaches every call, and streams can be closed still. */
TEST(tcp_shutdown_of_all_io_is_an_answer)
{
    struct shop shop;
    struct worker accepts, reads, connects;
    struct rt_net_address address = here();
    shop_init(&shop);
    (void)shop_listen(&shop);
    (void)shop_connect(&shop, &shop.streams[5]);
    EXPECT_EQ(rt_tcp_connect_start(&shop.streams[6], shop.net.io, &address), RT_OK);
    worker_start(&accepts, &shop, "accepts", NULL, "a");
    worker_start(&reads, &shop, "reads", &shop.streams[5], "rr");
    worker_start(&connects, &shop, "connects", &shop.streams[6], "c");
    dumb_run(&shop.dumb);
    rt_io_shutdown(shop.net.io);
    dumb_run(&shop.dumb);
    EXPECT_EQ(accepts.errs[0], RT_E_SHUTDOWN);
    EXPECT_EQ(reads.errs[1], RT_E_SHUTDOWN);
    EXPECT_EQ(connects.errs[0], RT_E_SHUTDOWN);
    shop_fini(&shop);
}
