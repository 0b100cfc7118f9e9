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
