/*
 * echo_fire_test.c -- the echo server on loopback, under fire: the same source as in the simulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host/watchdog.h"
#include "runtime/programs/echo.h"
#include "runtime/tests/host/metal.h"

#define CAPACITY 300u
#define TASKS (CAPACITY + 16)

/* A server on a thread, with a watchdog, which looks for lost wakes; the test is the clients, with
 * calls that block. */
struct post {
    struct metal metal;
    struct rt_watchdog watchdog;
    struct rt_watchdog_seen seen[TASKS];
    struct echo_server server;
    struct echo_connection *connections;
    struct rt_net_address address;
    struct rt_task ender;
    struct rt_slot slot;
    atomic_bool ending; /* Written by the test … */
    bool ended;         /* … and what the server's thread has seen of it. */
    pthread_t thread;
};

/* Waits for the end, and drains. */
static rt_poll
ender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct post *post = rt_container_of(task, struct post, ender);
    rt_slot_replace(&post->slot, cx, "the end");
    if (!post->ended) {
        return RT_PENDING;
    }
    echo_drain(&post->server);
    return RT_READY;
}

static void *
post_main(void *argument)
{
    struct post *post = argument;
    struct rt_runtime *runtime = &post->metal.machine.runtime;
    for (;;) {
        if (atomic_load(&post->ending)) {
            post->ended = true;
            (void)rt_slot_wake(&post->slot);
        }
        rt_runtime_poll_woken(runtime);
        if (echo_is_over(&post->server)) {
            return NULL;
        }
        EXPECT_EQ(rt_runtime_turn(runtime, RT_TURN_BLOCK, NULL), RT_OK);
    }
}

static void
lost_wake(void *argument, const struct rt_watchdog_report *report)
{
    char text[1024];
    (void)argument;
    rt_watchdog_describe(report, text, sizeof(text));
    ck_abort_msg("%s", text);
}

static void
post_init(struct post *post, uint64_t drain_ns)
{
    memset(post, 0, sizeof(*post));
    metal_init_with(&post->metal, NULL, TASKS);
    struct rt_watchdog_config watchdog = {.runtime = &post->metal.machine.runtime,
            .idle_ns = 50 * RT_MS,
            .seen = post->seen,
            .report = lost_wake};
    EXPECT_EQ(rt_watchdog_start(&post->watchdog, &watchdog), RT_OK);
    post->connections = calloc(CAPACITY, sizeof(post->connections[0]));
    ck_assert_ptr_nonnull(post->connections);
    struct echo_config config = {.runtime = &post->metal.machine.runtime,
            .address = rt_net_address_v4(127, 0, 0, 1, 0),
            .backlog = 512,
            .connections = post->connections,
            .capacity = CAPACITY,
            .pause_ns = RT_MS,
            .drain_ns = drain_ns};
    EXPECT_EQ(echo_start(&post->server, &config), RT_OK);
    EXPECT_EQ(rt_socket_address(post->server.listener.source.socket,
                      &post->metal.epoll.base.failure, &post->address),
            RT_OK);
    rt_slot_init(&post->slot);
    rt_task_init(&post->ender, ender_poll, NULL, "ender");
    EXPECT_EQ(rt_post(metal_executor(&post->metal), &post->ender), RT_OK);
    EXPECT_EQ(rt_runtime_hold(&post->metal.machine.runtime), RT_OK);
    ck_assert_int_eq(pthread_create(&post->thread, NULL, post_main, post), 0);
}

/* Drains, and finds every descriptor closed. */
static void
post_fini(struct post *post)
{
    atomic_store(&post->ending, true);
    rt_host_notify(&post->metal.epoll.base.host);
    ck_assert_int_eq(pthread_join(post->thread, NULL), 0);
    rt_watchdog_stop(&post->watchdog);
    EXPECT_EQ(post->watchdog.found, 0);
    rt_runtime_release(&post->metal.machine.runtime);
    metal_fini(&post->metal);
    free(post->connections);
}

/* A socket of a client; -1: there is no descriptor. */
static int
make_socket(void)
{
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made >= 0) {
        /* Closed by a reset: loopback would run out of ports otherwise. */
        (void)setsockopt(made, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    }
    return made;
}

static void
connect_to(const struct post *post, int made)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(post->address.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(made, (struct sockaddr *)&to, sizeof(to)), 0);
}

static int
dial(const struct post *post)
{
    int made = make_socket();
    if (made >= 0) {
        connect_to(post, made);
    }
    return made;
}

/* Sends `size` bytes and reads them back. */
static void
echo(int socket, size_t size)
{
    static char out[65536];
    static char back[65536];
    size_t heard = 0;
    memset(out, 'a' + (int)(size % 26), size);
    EXPECT_EQ(send(socket, out, size, MSG_NOSIGNAL), (ssize_t)size);
    while (heard < size) {
        ssize_t got = recv(socket, back + heard, size - heard, 0);
        ck_assert_int_gt(got, 0);
        heard += (size_t)got;
    }
    EXPECT_EQ(memcmp(out, back, size), 0);
}

/* The same history in each run. */
static uint32_t
below(uint64_t *state, uint32_t end)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % end;
}

/* Goal: 10,000 connections, opened and dropped at random, some in the middle of an echo: each that
 * asks is served, and nothing is left open. Holds E7, N2. */
TEST(echo_serves_ten_thousand_connections_dropped_at_random)
{
    struct post post;
    int open[64];
    uint64_t state = 1;
    post_init(&post, RT_SECOND);
    for (uint32_t i = 0; i < 64; i++) {
        open[i] = -1;
    }
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t which = below(&state, 64);
        if (open[which] >= 0) {
            ck_assert_int_eq(close(open[which]), 0);
        }
        open[which] = dial(&post);
        ck_assert_int_ge(open[which], 0);
        if (below(&state, 4) == 0) {
            echo(open[which], 1 + below(&state, 3000));
        } else if (below(&state, 2) == 0) {
            EXPECT_EQ(send(open[which], "left", 4, MSG_NOSIGNAL), 4);
        }
    }
    for (uint32_t i = 0; i < 64; i++) {
        if (open[i] >= 0) {
            ck_assert_int_eq(close(open[i]), 0);
        }
    }
    post_fini(&post);
    EXPECT(post.server.accepted >= 2500);
}

/* Goal: out of descriptors, the server pauses without spinning, serves those it has, and accepts
 * again when there are some. Holds N2. */
TEST(echo_reaches_the_limit_of_descriptors_and_leaves_it)
{
    struct post post;
    struct rlimit limit;
    int held[40];
    uint32_t count = 0;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    /* Before the server starts: io_uring accepts with the limit of the time when it began to. */
    struct rlimit less = {metal_open_descriptors() + 24, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &less), 0);
    post_init(&post, RT_SECOND);
    int late = make_socket();
    for (int made = dial(&post); made >= 0 && count < 39; made = dial(&post)) {
        held[count++] = made;
    }
    EXPECT_EQ(errno, EMFILE);
    /* One more than the server has descriptors for, however many of them it took before. */
    connect_to(&post, late);
    held[count++] = late;
    ck_assert_int_eq(usleep(100000), 0);
    /* Where the server began late, all are in the backlog: it takes a descriptor for each that is
     * kept. */
    uint32_t closed = count - count / 3;
    for (uint32_t i = 0; i < closed; i++) {
        ck_assert_int_eq(close(held[i]), 0);
    }
    echo(held[count - 1], 100); /* The last one was in the backlog. */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (uint32_t i = closed; i < count; i++) {
        ck_assert_int_eq(close(held[i]), 0);
    }
    post_fini(&post);
    EXPECT(post.server.pauses > 0);
    EXPECT(post.server.pauses < 500); /* One a millisecond at most. */
    EXPECT(post.metal.epoll.waits < 5000);
}

/* Goal: a client that never reads, and one that sends a byte at a time, keep no other waiting; the
 * memory for the first is bounded; draining cuts both off. */
TEST(echo_serves_others_beside_slow_clients)
{
    struct post post;
    static char much[65536];
    post_init(&post, 20 * RT_MS);
    int never_reads = dial(&post);
    int slow = dial(&post);
    int quick = dial(&post);
    ssize_t sent = 0;
    while ((sent = send(never_reads, much, sizeof(much), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
        echo(quick, 64);
    }
    EXPECT(sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
    for (uint32_t i = 0; i < 20; i++) {
        echo(slow, 1);
        echo(quick, 5000);
    }
    ck_assert_int_eq(close(quick), 0);
    atomic_store(&post.ending, true);
    rt_host_notify(&post.metal.epoll.base.host);
    EXPECT_EQ(recv(slow, much, 1, 0), 0); /* Cut off. */
    ck_assert_int_eq(close(slow), 0);
    ck_assert_int_eq(close(never_reads), 0);
    post_fini(&post);
}

/* Goal: a client that sends a byte a second has each back before the next one, others are served
 * meanwhile, and the server sleeps in between: it waits about as often as something comes. */
TEST(echo_serves_a_client_that_sends_a_byte_a_second)
{
    struct post post;
    post_init(&post, RT_SECOND);
    int slow = dial(&post);
    int quick = dial(&post);
    for (uint32_t i = 0; i < 2; i++) {
        echo(slow, 1);
        echo(quick, 3000);
        ck_assert_int_eq(usleep(1000000), 0);
    }
    ck_assert_int_eq(close(quick), 0);
    ck_assert_int_eq(close(slow), 0);
    post_fini(&post);
    EXPECT(post.metal.epoll.waits < 200); /* The watchdog's are 40 to 80 of them. */
}

/* A process with 8 connections, each in the middle of an echo; killed by SIGKILL. */
static void
kill_a_client(const struct post *post, int survivor)
{
    int told[2];
    char byte = 0;
    ck_assert_int_eq(pipe(told), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        static char much[65536];
        for (uint32_t i = 0; i < 8; i++) {
            (void)send(dial(post), much, sizeof(much), MSG_DONTWAIT | MSG_NOSIGNAL);
        }
        (void)!write(told[1], &byte, 1);
        (void)pause();
        _exit(0);
    }
    EXPECT_EQ(read(told[0], &byte, 1), 1);
    echo(survivor, 100); /* The server has been there: a busy machine may start it late. */
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(close(told[0]), 0);
    ck_assert_int_eq(close(told[1]), 0);
}

/* Goal: clients that are killed with connections open, sending and unread, cost no other client its
 * echo, and leave nothing open: the server can still be drained. Holds N6. */
TEST(echo_outlives_clients_that_are_killed)
{
    struct post post;
    post_init(&post, RT_SECOND);
    int survivor = dial(&post);
    for (uint32_t i = 0; i < 20; i++) {
        kill_a_client(&post, survivor);
        echo(survivor, 1 + i * 100);
    }
    ck_assert_int_eq(close(survivor), 0);
    post_fini(&post);
    EXPECT(post.server.accepted > 20);
}

static atomic_bool storm_over;

static void
on_storm(int number)
{
    (void)number;
}

/* Signals for the server's thread, at most 20,000 a second; returns how many. */
static void *
storm_main(void *argument)
{
    const struct post *post = argument;
    uintptr_t sent = 0;
    while (!atomic_load(&storm_over)) {
        ck_assert_int_eq(pthread_kill(post->thread, SIGUSR1), 0);
        ck_assert_int_eq(usleep(50), 0);
        sent++;
    }
    return (void *)sent;
}

/* Goal: a storm of signals on the server's thread, whose handler restarts no call, costs no client
 * its connection or a byte. Holds E6. */
TEST(echo_serves_in_a_storm_of_signals)
{
    struct post post;
    struct sigaction before;
    struct sigaction action = {.sa_handler = on_storm};
    pthread_t storm;
    void *sent = NULL;
    atomic_store(&storm_over, false);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, &before), 0);
    post_init(&post, RT_SECOND);
    ck_assert_int_eq(pthread_create(&storm, NULL, storm_main, &post), 0);
    for (uint32_t i = 0; i < 300; i++) {
        int made = dial(&post);
        echo(made, 1 + i * 100);
        ck_assert_int_eq(usleep(500), 0); /* The server sleeps. */
        echo(made, 1);
        ck_assert_int_eq(close(made), 0);
    }
    atomic_store(&storm_over, true);
    ck_assert_int_eq(pthread_join(storm, &sent), 0);
    post_fini(&post);
    ck_assert_int_eq(sigaction(SIGUSR1, &before, NULL), 0);
    EXPECT_EQ(post.server.accepted, 300);
    EXPECT((uintptr_t)sent > 300);
}
