/*
 * shard_lane_test.c -- the queues between threads, on one thread: against a plain array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/inbox.h"
#include "runtime/shard/lane.h"
#include "runtime/shard/message.h"
#include "runtime/tests/bed.h"

#define ROUNDS 20000

/* Goal: a lane is a bounded queue, whatever the order of puts, publishes and takes.
 * Method: long random histories beside three counts and the order of numbers. Holds X2. */
TEST(shard_lane_and_a_plain_array_agree)
{
    static const uint32_t capacities[] = {1, 2, 4, 16};
    uint64_t random = 7;
    for (uint32_t c = 0; c < 4; c++) {
        struct rt_message messages[16];
        struct rt_message *places[16];
        struct rt_lane lane;
        uint64_t put = 0;
        uint64_t published = 0;
        uint64_t taken = 0;
        rt_lane_init(&lane, places, capacities[c]);
        for (uint32_t i = 0; i < ROUNDS; i++) {
            uint32_t what = bed_below(&random, 5);
            if (what < 2) {
                bool fits = put - taken < capacities[c];
                EXPECT_EQ(rt_lane_has_room(&lane), fits);
                EXPECT_EQ(rt_lane_put(&lane, &messages[put % 16]), fits);
                put += fits;
            } else if (what == 2) {
                rt_lane_publish(&lane);
                published = put;
            } else {
                struct rt_message *expected = taken < published ? &messages[taken % 16] : NULL;
                EXPECT(rt_lane_take(&lane) == expected);
                taken += expected != NULL;
            }
            EXPECT_EQ(rt_lane_count(&lane), published - taken);
        }
    }
}

/* Goal: an inbox gives out everything, oldest first, and nothing twice.
 * Method: random pushes and takes; the numbers must come out in order. */
TEST(shard_inbox_gives_out_all_links_oldest_first)
{
    struct rt_inbox inbox;
    struct rt_inbox_link links[64];
    uint64_t random = 11;
    uint32_t pushed = 0;
    uint32_t taken = 0;
    rt_inbox_init(&inbox);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (pushed - taken < 64 && bed_below(&random, 4) != 0) {
            EXPECT(rt_inbox_push(&inbox, &links[pushed++ % 64]));
            continue;
        }
        struct rt_inbox_link *link = rt_inbox_take_all(&inbox);
        for (; link != NULL; link = link->next) {
            EXPECT(link == &links[taken++ % 64]);
        }
        EXPECT_EQ(taken, pushed);
        EXPECT(rt_inbox_is_empty(&inbox));
    }
}

/* Goal: no push succeeds after the last emptying. */
TEST(shard_inbox_closed_refuses_and_keeps_nothing)
{
    struct rt_inbox inbox;
    struct rt_inbox_link first;
    struct rt_inbox_link second;
    rt_inbox_init(&inbox);
    EXPECT(rt_inbox_push(&inbox, &first));
    EXPECT(rt_inbox_close(&inbox) == &first);
    EXPECT(!rt_inbox_push(&inbox, &second));
    EXPECT(rt_inbox_is_empty(&inbox));
    EXPECT(rt_inbox_take_all(&inbox) == NULL);
    EXPECT(rt_inbox_close(&inbox) == NULL);
}
