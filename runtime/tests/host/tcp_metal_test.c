/*
 * tcp_metal_test.c -- listeners and streams of io/tcp.h on loopback.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/tests/host/worker.h"

static struct rt_io *
io_of(struct metal *metal)
{
    return &metal->machine.runtime.io;
}

/* Goal: what one side writes the other reads, then the end; the other direction stays open. Holds
 * N1, N3, N5. */
TEST(metal_tcp_half_close)
{
    struct metal metal;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker says;
    struct worker hears;
    metal_init(&metal);
    metal_connect(&metal, &client, &server);
    worker_start(&says, &metal, "says", NULL, &client, "wsrrs");
    worker_start(&hears, &metal, "hears", NULL, &server, "rrwx");
    workers_run(&metal);
    EXPECT_EQ(hears.sizes[0], 4);
    EXPECT_EQ(hears.errs[1], RT_E_CLOSED);
    EXPECT_EQ(hears.errs[2], RT_OK);
    EXPECT_EQ(says.sizes[2], 4);
    EXPECT_EQ(says.errs[3], RT_E_CLOSED);
    rt_tcp_close(&client);
    metal_fini(&metal);
}

/* Goal: a write to a peer that has gone is an error, never SIGPIPE, whose default would end this
 * process. Holds N6. */
TEST(metal_tcp_closed_peer_is_no_signal)
{
    struct metal metal;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker writes;
    metal_init(&metal);
    ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    metal_connect(&metal, &client, &server);
    rt_tcp_close(&server);
    worker_start(&writes, &metal, "writes", NULL, &client, "wpww");
    workers_run(&metal);
    EXPECT(writes.errs[2] == RT_E_RESET || writes.errs[2] == RT_E_CLOSED);
    EXPECT_EQ(writes.errs[3], RT_E_CLOSED);
    rt_tcp_close(&client);
    metal_fini(&metal);
}

/* Goal: a peer that does not read holds its writer back until it closes; then the writer gets an
 * error. Holds E3, E4. */
TEST(metal_tcp_writer_waits_for_a_reader_and_hears_of_its_end)
{
    struct metal metal;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker writes;
    struct worker never_reads;
    metal_init(&metal);
    metal_connect(&metal, &client, &server);
    worker_start(&writes, &metal, "writes", NULL, &client, "W");
    worker_start(&never_reads, &metal, "never reads", NULL, &server, "ppx");
    workers_run(&metal);
    EXPECT(writes.errs[0] == RT_E_RESET || writes.errs[0] == RT_E_CLOSED);
    rt_tcp_close(&client);
    metal_fini(&metal);
}

/* Goal: a read that leaves its buffer partly empty has emptied the socket: it is not tried again
 * before the next event, and that one comes. Holds E4. */
TEST(metal_tcp_short_read_is_the_last)
{
    struct metal metal;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker reads;
    struct worker writes;
    metal_init(&metal);
    metal_connect(&metal, &client, &server);
    for (uint32_t i = 0; i < 3; i++) {
        worker_start(&writes, &metal, "writes", NULL, &client, "w");
        worker_start(&reads, &metal, "reads", NULL, &server, "R");
        workers_run(&metal);
        EXPECT_EQ(reads.sizes[0], 4);
        EXPECT_EQ(server.source.readiness[RT_DIRECTION_READ].bits, 0);
    }
    worker_start(&writes, &metal, "writes", NULL, &client, "wx");
    worker_start(&reads, &metal, "reads", NULL, &server, "RR");
    workers_run(&metal);
    EXPECT_EQ(reads.errs[1], RT_E_CLOSED);
    rt_tcp_close(&server);
    metal_fini(&metal);
}

/* musl has descriptions of errors, and no names. */
#ifdef __GLIBC__
#define IN_USE "EADDRINUSE (Address already in use)"
#define REFUSED "ECONNREFUSED (Connection refused)"
#else
#define IN_USE "Address in use (Address in use)"
#define REFUSED "Connection refused (Connection refused)"
#endif

/* Goal: each error names the operation, the address and errno's name. Holds N4. */
TEST(metal_tcp_errors_have_names)
{
    struct metal metal;
    struct rt_tcp_listener listener;
    struct rt_tcp_listener second;
    struct rt_tcp_stream stream;
    struct rt_net_address address;
    struct worker calls;
    char text[128];
    char expected[128];
    metal_init(&metal);
    metal_listen(&metal, &listener, &address);
    rt_tcp_listener_init(&second);
    EXPECT_EQ(rt_tcp_listen_start(&second, io_of(&metal), &address, 4), RT_E_ADDRESS_IN_USE);
    (void)snprintf(expected, sizeof(expected), "bind 127.0.0.1:%u: " IN_USE, address.port);
    EXPECT_STR(rt_failure_text(&metal.epoll.base.failure, &address, text, sizeof(text)), expected);
    rt_tcp_listener_close(&listener);

    rt_tcp_stream_init(&stream);
    rt_err err = rt_tcp_connect_start(&stream, io_of(&metal), &address);
    if (err == RT_OK) {
        worker_start(&calls, &metal, "calls", NULL, &stream, "cx");
        workers_run(&metal);
        err = calls.errs[0];
    }
    EXPECT_EQ(err, RT_E_REFUSED);
    (void)snprintf(expected, sizeof(expected), "connect to 127.0.0.1:%u: " REFUSED, address.port);
    EXPECT_STR(rt_failure_text(&metal.epoll.base.failure, &address, text, sizeof(text)), expected);
    metal_fini(&metal);
}

/* ---- Waiters. -------------------------------------------------------------------------------- */

/* Goal: two tasks that wait to read from one stream are both woken by one event; the one that finds
 * nothing waits again. Holds E5. */
TEST(metal_each_direction_has_a_list_of_waiters)
{
    struct metal metal;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker first;
    struct worker second;
    struct worker writes;
    metal_init(&metal);
    metal_connect(&metal, &client, &server);
    worker_start(&first, &metal, "first", NULL, &server, "r");
    worker_start(&second, &metal, "second", NULL, &server, "r");
    worker_start(&writes, &metal, "writes", NULL, &client, "pwpw");
    workers_run(&metal);
    EXPECT_EQ(first.sizes[0], 4);
    EXPECT_EQ(second.sizes[0], 4);
    rt_tcp_close(&client);
    rt_tcp_close(&server);
    metal_fini(&metal);
}

/* A task that, when it may read, closes another stream, and connects a third one in its place. */
struct usurper {
    struct rt_task task;
    struct metal *metal;
    struct rt_tcp_stream *mine;
    struct rt_tcp_stream *victim;
    struct rt_tcp_stream next[2];
    struct rt_io_wait wait;
};

static rt_poll
usurper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct usurper *usurper = rt_container_of(task, struct usurper, task);
    struct rt_tcp_moved moved;
    char buffer[4];
    int pair[2];
    RT_AWAIT(rt_tcp_read(usurper->mine, &usurper->wait, cx, buffer, 4, &moved));
    int number = usurper->victim->source.socket;
    rt_tcp_close(usurper->victim);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    EXPECT_EQ(pair[1], number); /* The same number, another socket; pair[0] was the listener's. */
    for (int i = 0; i < 2; i++) {
        struct rt_io_source *source = &usurper->next[i].source;
        rt_tcp_stream_init(&usurper->next[i]);
        EXPECT_EQ(rt_io_register(io_of(usurper->metal), source, pair[i], 0), RT_OK);
        usurper->next[i].state = RT_TCP_OPEN;
    }
    return RT_READY;
}

/*
 * Goal: one batch has an event of a socket that is closed before its event is handled, and whose
 * number another socket has by then: the event is dropped, and the new one is not ready. Holds E7.
 */
TEST(metal_event_of_a_closed_socket_is_dropped)
{
    struct metal metal;
    struct rt_tcp_stream streams[4];
    struct worker writes[2];
    struct usurper usurper;
    metal_init(&metal);
    for (int i = 0; i < 4; i += 2) {
        metal_connect(&metal, &streams[i], &streams[i + 1]);
    }
    /* Both get bytes before the runtime fetches; its batch is of one. */
    metal.machine.runtime.io.events_max = 1;
    usurper = (struct usurper){.metal = &metal, .mine = &streams[1], .victim = &streams[3]};
    rt_io_wait_init(&usurper.wait);
    rt_task_init(&usurper.task, usurper_poll, NULL, "usurper");
    EXPECT_EQ(rt_post(metal_executor(&metal), &usurper.task), RT_OK);
    worker_start(&writes[0], &metal, "first", NULL, &streams[0], "pw");
    worker_start(&writes[1], &metal, "second", NULL, &streams[2], "pw");
    uint64_t stale = metal.machine.runtime.io.stale;
    workers_run(&metal);
    for (int i = 0; i < 8; i++) {
        uint32_t woken = 0;
        EXPECT_EQ(rt_io_turn(io_of(&metal), &woken), RT_OK);
    }
    EXPECT_EQ(metal.machine.runtime.io.stale, stale + 1);
    struct rt_seen seen;
    (void)rt_readiness_look(&usurper.next[1].source.readiness[RT_DIRECTION_READ], &seen);
    EXPECT_EQ(seen.bits, 0);
    for (int i = 0; i < 3; i++) {
        rt_tcp_close(&streams[i]);
    }
    rt_tcp_close(&usurper.next[0]);
    rt_tcp_close(&usurper.next[1]);
    metal_fini(&metal);
}

/* Goal: the end of all I/O wakes each waiter, on sockets of the kernel too, and is final. Holds
 * E10. */
TEST(metal_shutdown_ends_every_wait)
{
    struct metal metal;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker reads[2];
    struct rt_run_result result;
    metal_init(&metal);
    metal_connect(&metal, &client, &server);
    worker_start(&reads[0], &metal, "client", NULL, &client, "rr");
    worker_start(&reads[1], &metal, "server", NULL, &server, "r");
    EXPECT_EQ(rt_run_until_stalled(metal_executor(&metal), 100, &result), RT_OK);
    EXPECT_EQ(result.remaining, 2);
    rt_io_shutdown(io_of(&metal));
    workers_run(&metal);
    EXPECT_EQ(reads[0].errs[0], RT_E_SHUTDOWN);
    EXPECT_EQ(reads[0].errs[1], RT_E_SHUTDOWN);
    EXPECT_EQ(reads[1].errs[0], RT_E_SHUTDOWN);
    rt_tcp_close(&client);
    rt_tcp_close(&server);
    metal_fini(&metal);
}

/* ---- Too few descriptors. -------------------------------------------------------------------- */

/* Goal: without a descriptor accept says so, the connection stays, and once there is one again it
 * is accepted. Holds N2. */
TEST(metal_accept_outlives_a_lack_of_descriptors)
{
    struct metal metal;
    struct rt_tcp_listener listener;
    struct rt_net_address address;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker calls;
    struct worker accepts;
    struct rlimit limit;
    metal_init(&metal);
    metal_listen(&metal, &listener, &address);
    rt_tcp_stream_init(&client);
    rt_tcp_stream_init(&server);
    EXPECT_EQ(rt_tcp_connect_start(&client, io_of(&metal), &address), RT_OK);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct rlimit less = {(rlim_t)client.source.socket + 1, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &less), 0);
    worker_start(&calls, &metal, "calls", NULL, &client, "c");
    workers_run(&metal);

    worker_start(&accepts, &metal, "accepts", &listener, &server, "apa");
    workers_run(&metal);
    EXPECT_EQ(accepts.errs[0], RT_E_NO_DESCRIPTOR);
    EXPECT_EQ(metal.epoll.base.failure.error, EMFILE);
    EXPECT_EQ(accepts.errs[2], RT_E_NO_DESCRIPTOR);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    worker_start(&accepts, &metal, "accepts", &listener, &server, "a");
    workers_run(&metal);
    EXPECT_EQ(accepts.errs[0], RT_OK);
    EXPECT(server.peer.port != 0);
    rt_tcp_close(&client);
    rt_tcp_close(&server);
    rt_tcp_listener_close(&listener);
    metal_fini(&metal);
}

/* ---- Addresses. ------------------------------------------------------------------------------ */

TEST(metal_addresses_are_read_as_they_are_written)
{
    static const char *const good[] = {"127.0.0.1:80", "0.0.0.0:0", "[::1]:65535", "[fe80::1]:1"};
    static const char *const bad[] = {"", ":", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
            "127.0.0.1:-1", "127.0.0.1:8 ", "localhost:80", "::1:80", "[::1]", "[::1:80", "[]:80",
            "256.0.0.1:80", "1.2.3.4:123456789012",
            "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1"};
    struct rt_net_address address;
    char text[RT_ADDRESS_TEXT];
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        EXPECT_EQ(rt_address_parse(good[i], &address), RT_OK);
        EXPECT_STR(rt_address_text(&address, text), good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(rt_address_parse(bad[i], &address) == RT_E_INVALID, "'%s'", bad[i]);
    }
}
