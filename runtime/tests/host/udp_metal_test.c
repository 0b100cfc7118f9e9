/*
 * udp_metal_test.c -- datagrams on loopback.
 *
 * A talker is a task that makes one call of udp.h after the other, by a script:
 *
 *      s  send "abcd" to `to`     e  an empty one         L  one of 65,508 bytes
 *      r  receive 64 bytes        t  receive 2 bytes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/udp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/tests/host/worker.h"

#define TALKER_STEPS 8

struct talker {
    struct rt_task task;
    struct rt_udp *udp;
    const struct rt_net_address *to;
    struct rt_io_wait wait;
    const char *script;
    uint32_t done;
    struct rt_udp_received results[TALKER_STEPS];
    char bytes[TALKER_STEPS][64];
};

static rt_poll
talker_do(struct talker *talker, struct rt_cx *cx, struct rt_udp_received *result)
{
    static const char much[65508];
    char *bytes = talker->bytes[talker->done];
    switch (talker->script[talker->done]) {
    case 's':
        return rt_udp_send_to(talker->udp, &talker->wait, cx, talker->to, "abcd", 4, &result->err);
    case 'e':
        return rt_udp_send_to(talker->udp, &talker->wait, cx, talker->to, NULL, 0, &result->err);
    case 'L':
        return rt_udp_send_to(
                talker->udp, &talker->wait, cx, talker->to, much, sizeof(much), &result->err);
    case 'r':
        return rt_udp_receive_from(talker->udp, &talker->wait, cx, bytes, 64, result);
    case 't':
        return rt_udp_receive_from(talker->udp, &talker->wait, cx, bytes, 2, result);
    default:
        ck_abort_msg("no such letter in a script");
    }
}

static rt_poll
talker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct talker *talker = rt_container_of(task, struct talker, task);
    while (talker->script[talker->done] != '\0') {
        RT_AWAIT(talker_do(talker, cx, &talker->results[talker->done]));
        talker->done++;
    }
    return RT_READY;
}

static void
talker_start(struct talker *talker, struct metal *metal, struct rt_udp *udp,
        const struct rt_net_address *to, const char *script)
{
    *talker = (struct talker){.udp = udp, .to = to, .script = script};
    rt_io_wait_init(&talker->wait);
    rt_task_init(&talker->task, talker_poll, NULL, "talker");
    EXPECT_EQ(rt_post(metal_executor(metal), &talker->task), RT_OK);
}

static void
udp_open(struct metal *metal, struct rt_udp *udp)
{
    struct rt_net_address any = rt_net_address_v4(127, 0, 0, 1, 0);
    rt_udp_init(udp);
    EXPECT_EQ(rt_udp_bind(udp, &metal->machine.runtime.io, &any), RT_OK);
    EXPECT_EQ(rt_udp_bind(udp, &metal->machine.runtime.io, &any), RT_E_BUSY);
    EXPECT(udp->local.port != 0);
}

/* Goal: datagrams arrive whole, with the address that they are from; one that does not fit is cut
 * off, and says so; an empty one is one. Holds N9. */
TEST(metal_datagram_is_whole_or_cut_off)
{
    struct metal metal;
    struct rt_udp one;
    struct rt_udp other;
    struct talker hears;
    struct talker says;
    metal_init(&metal);
    udp_open(&metal, &one);
    udp_open(&metal, &other);
    talker_start(&hears, &metal, &other, &one.local, "rtrs");
    talker_start(&says, &metal, &one, &other.local, "ssesrL");
    workers_run(&metal);
    EXPECT_EQ(hears.results[0].datagram.size, 4);
    EXPECT_EQ(hears.results[0].datagram.full_size, 4);
    EXPECT_EQ(hears.results[0].datagram.from.port, one.local.port);
    ck_assert_mem_eq(hears.bytes[0], "abcd", 4);
    EXPECT_EQ(hears.results[1].datagram.size, 2);
    EXPECT_EQ(hears.results[1].datagram.full_size, 4);
    EXPECT_EQ(hears.results[2].err, RT_OK);
    EXPECT_EQ(hears.results[2].datagram.full_size, 0);
    EXPECT_EQ(says.results[4].datagram.from.port, other.local.port);
    EXPECT_EQ(says.results[5].err, RT_E_INVALID);
    rt_udp_close(&one);
    rt_udp_close(&one);
    talker_start(&says, &metal, &one, &other.local, "sr");
    workers_run(&metal);
    EXPECT_EQ(says.results[0].err, RT_E_STALE);
    EXPECT_EQ(says.results[1].err, RT_E_STALE);
    rt_udp_close(&other);
    metal_fini(&metal);
}

/* Goal: a connected one needs no address, receives from its peer only, and hears that the peer's
 * port is closed. Holds N9. */
TEST(metal_connected_datagrams_have_one_peer)
{
    struct metal metal;
    struct rt_udp one;
    struct rt_udp other;
    struct rt_udp stranger;
    struct talker hears;
    struct talker says;
    struct talker intrudes;
    metal_init(&metal);
    udp_open(&metal, &one);
    udp_open(&metal, &other);
    udp_open(&metal, &stranger);
    talker_start(&says, &metal, &one, NULL, "s");
    workers_run(&metal);
    EXPECT_EQ(says.results[0].err, RT_E_INVALID);
    EXPECT_EQ(rt_udp_connect(&one, &other.local), RT_OK);
    talker_start(&intrudes, &metal, &stranger, &one.local, "e");
    workers_run(&metal);
    talker_start(&hears, &metal, &other, &one.local, "rs");
    talker_start(&says, &metal, &one, NULL, "sr");
    workers_run(&metal);
    EXPECT_EQ(says.results[1].datagram.size, 4);
    EXPECT_EQ(says.results[1].datagram.from.port, other.local.port);
    rt_udp_close(&other);
    talker_start(&says, &metal, &one, NULL, "sr");
    workers_run(&metal);
    EXPECT_EQ(says.results[1].err, RT_E_REFUSED);
    rt_udp_close(&one);
    rt_udp_close(&stranger);
    metal_fini(&metal);
}

/* ---- Under fire. ----------------------------------------------------------------------------- */

#define FLOOD 20000u
#define LAST 3u /* The size of the one that ends it. */

/* Receives what a thread sends without a pause, until the last one comes. */
struct sink {
    struct rt_task task;
    struct rt_udp *udp;
    struct rt_io_wait wait;
    uint32_t received;
    bool over;
    atomic_bool done;
};

/* Each has its size in its first byte. */
static rt_poll
sink_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sink *sink = rt_container_of(task, struct sink, task);
    while (!sink->over) {
        struct rt_udp_received result;
        uint8_t bytes[64];
        RT_AWAIT(rt_udp_receive_from(sink->udp, &sink->wait, cx, bytes, sizeof(bytes), &result));
        EXPECT_EQ(result.err, RT_OK);
        EXPECT(result.datagram.size >= LAST && result.datagram.size == bytes[0]);
        EXPECT_EQ(result.datagram.full_size, bytes[0]);
        sink->over = bytes[0] == LAST;
        sink->received++;
    }
    atomic_store(&sink->done, true);
    return RT_READY;
}

static void
send_one(int from, const struct rt_net_address *to, uint8_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(to->port)};
    uint8_t bytes[64] = {size};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)sendto(from, bytes, size, 0, (struct sockaddr *)&address, sizeof(address));
}

static void *
flood(void *argument)
{
    struct sink *sink = argument;
    int from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(from, 0);
    for (uint32_t i = 0; i < FLOOD; i++) {
        send_one(from, &sink->udp->local, (uint8_t)(LAST + 1 + i % 60));
    }
    while (!atomic_load(&sink->done)) { /* What finds no room is lost. */
        send_one(from, &sink->udp->local, LAST);
        ck_assert_int_eq(usleep(1000), 0);
    }
    ck_assert_int_eq(close(from), 0);
    return NULL;
}

/* Goal: datagrams that come faster than they are taken are whole or lost, and the wake for the last
 * one is not. Holds N9, E4. */
TEST(metal_datagrams_in_a_flood_are_whole_or_lost)
{
    struct metal metal;
    struct rt_udp udp;
    struct sink sink = {.udp = &udp};
    pthread_t thread;
    metal_init(&metal);
    udp_open(&metal, &udp);
    rt_io_wait_init(&sink.wait);
    rt_task_init(&sink.task, sink_poll, NULL, "sink");
    EXPECT_EQ(rt_post(metal_executor(&metal), &sink.task), RT_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, flood, &sink), 0);
    workers_run(&metal);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    EXPECT(sink.received > 1);
    rt_udp_close(&udp);
    metal_fini(&metal);
}
