/*
 * poller_test.c -- keys that stay wrong, and answers in list order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/poller.h"

#include <string.h>

#include "runtime/tests/io/dumb_host.h"

#define CAPACITY 6u

struct bench {
    struct dumb_host host;
    struct rt_poller poller;
    struct rt_slab_entry entries[CAPACITY];
    struct rt_pollable *list[CAPACITY + RT_POLLER_EXTRA];
    struct rt_key list_keys[CAPACITY + RT_POLLER_EXTRA];
    uint32_t ready[CAPACITY + RT_POLLER_EXTRA];
    struct rt_key answer[CAPACITY];
    uint32_t count; /* Of the answer. */
    struct rt_pollable pollables[CAPACITY];
    struct rt_key keys[CAPACITY];
    struct rt_pollable extra;
};

/* CAPACITY pollables of as many sources, inserted in their order. */
static void
bench_init(struct bench *bench)
{
    memset(bench, 0xa5, sizeof(*bench));
    dumb_host_init(&bench->host);
    struct rt_poller_config config = {
            .entries = bench->entries,
            .list = bench->list,
            .list_keys = bench->list_keys,
            .ready = bench->ready,
            .capacity = CAPACITY,
    };
    rt_poller_init(&bench->poller, &bench->host.seam, &config);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        dumb_subscribe(&bench->host, i, &bench->pollables[i]);
        EXPECT_EQ(rt_poller_insert(&bench->poller, &bench->pollables[i], &bench->keys[i]), RT_OK);
    }
    EXPECT_EQ(rt_subscribe_instant(&bench->host.seam, 0, &bench->extra), RT_OK);
    rt_poller_list_clear(&bench->poller);
}

static void
bench_list(struct bench *bench, uint32_t i)
{
    EXPECT_EQ(rt_poller_list_add(&bench->poller, bench->keys[i]), RT_OK);
}

static void
bench_poll(struct bench *bench)
{
    EXPECT_EQ(rt_poller_poll(&bench->poller, bench->answer, &bench->count), RT_OK);
}

/* What the `at`-th key of the answer names, by its number; CAPACITY: none of them. */
static uint32_t
bench_answered(const struct bench *bench, uint32_t at)
{
    ck_assert(at < bench->count);
    const struct rt_pollable *pollable = rt_poller_get(&bench->poller, bench->answer[at]);
    return pollable == NULL ? CAPACITY : (uint32_t)(pollable - bench->pollables);
}

/* Holds P1, P2: the entry is used again, the name is not. */
TEST(poller_stale_key_names_nothing_after_reuse)
{
    struct bench bench;
    bench_init(&bench);
    struct rt_key old = bench.keys[2];
    EXPECT(rt_poller_get(&bench.poller, old) == &bench.pollables[2]);
    EXPECT_EQ(rt_poller_remove(&bench.poller, old), RT_OK);
    EXPECT(rt_poller_get(&bench.poller, old) == NULL);
    struct rt_key reused = {0, 0};
    EXPECT_EQ(rt_poller_insert(&bench.poller, &bench.pollables[2], &reused), RT_OK);
    EXPECT_EQ(reused.index, old.index);
    EXPECT(reused.generation != old.generation);
    EXPECT(rt_poller_get(&bench.poller, old) == NULL);
    EXPECT_EQ(rt_poller_remove(&bench.poller, old), RT_E_STALE);
    EXPECT_EQ(rt_poller_list_add(&bench.poller, old), RT_E_STALE);
    EXPECT(rt_poller_get(&bench.poller, reused) == &bench.pollables[2]);
}

/* Holds P2. */
TEST(poller_reuses_the_index_freed_last)
{
    struct bench bench;
    bench_init(&bench);
    EXPECT_EQ(rt_poller_remove(&bench.poller, bench.keys[1]), RT_OK);
    EXPECT_EQ(rt_poller_remove(&bench.poller, bench.keys[4]), RT_OK);
    struct rt_key key = {0, 0};
    EXPECT_EQ(rt_poller_insert(&bench.poller, &bench.pollables[1], &key), RT_OK);
    EXPECT_EQ(key.index, bench.keys[4].index);
    EXPECT_EQ(rt_poller_insert(&bench.poller, &bench.pollables[4], &key), RT_OK);
    EXPECT_EQ(key.index, bench.keys[1].index);
}

TEST(poller_that_is_full_refuses)
{
    struct bench bench;
    bench_init(&bench);
    struct rt_key key = {77, 77};
    EXPECT_EQ(rt_poller_insert(&bench.poller, &bench.extra, &key), RT_E_FULL);
    EXPECT_EQ(key.index, 77);
    EXPECT(rt_poller_get(&bench.poller, (struct rt_key){0, 0}) == NULL);
}

/* Holds P3. */
TEST(poller_empty_list_is_the_hosts_to_refuse)
{
    struct bench bench;
    bench_init(&bench);
    bench.count = 77;
    EXPECT_EQ(rt_poller_poll(&bench.poller, bench.answer, &bench.count), RT_E_EMPTY_POLL);
    EXPECT_EQ(bench.host.empty_polls, 1);
    EXPECT_EQ(bench.count, 77);
}

/*
 * Holds P6, R7.
 * Method: a list that is in no order of keys; three legal answers, one result.
 */
TEST(poller_answer_is_in_list_order_in_any_order_of_the_host)
{
    static const uint32_t order[] = {4, 0, 5, 2};
    struct bench bench;
    for (uint32_t way = 0; way < 3; way++) {
        bench_init(&bench);
        bench.host.backwards = way == 1;
        bench.host.last_first = way == 2;
        for (uint32_t i = 0; i < 4; i++) {
            bench_list(&bench, order[i]);
            bench.host.ready[order[i]] = true;
        }
        bench_poll(&bench);
        EXPECT_EQ(bench.count, 4);
        for (uint32_t i = 0; i < 4; i++) {
            EXPECT_EQ(bench_answered(&bench, i), order[i]);
        }
    }
}

/* Holds P6: ready ones may be missing, and come later. */
TEST(poller_subset_is_an_answer)
{
    struct bench bench;
    bench_init(&bench);
    bench.host.at_most = 1;
    bench.host.backwards = true;
    for (uint32_t i = 0; i < 3; i++) {
        bench_list(&bench, i);
        bench.host.ready[i] = true;
    }
    bench_poll(&bench);
    EXPECT_EQ(bench.count, 1);
    EXPECT_EQ(bench_answered(&bench, 0), 2);
    bench.host.ready[2] = false;
    bench_poll(&bench);
    EXPECT_EQ(bench.count, 1);
    EXPECT_EQ(bench_answered(&bench, 0), 1);
}

/* Holds R6: an entry of the runtime's own shifts indices, and is in no answer. */
TEST(poller_extra_entries_are_left_out)
{
    struct bench bench;
    bench_init(&bench);
    rt_poller_list_add_extra(&bench.poller, &bench.extra);
    bench_list(&bench, 3);
    rt_poller_list_add_extra(&bench.poller, &bench.extra);
    bench_list(&bench, 1);
    bench_poll(&bench);
    EXPECT_EQ(bench.count, 0);
    bench.host.ready[1] = true;
    bench_poll(&bench);
    EXPECT_EQ(bench.count, 1);
    EXPECT_EQ(bench_answered(&bench, 0), 1);
}

/* Holds P5. */
TEST(poller_key_listed_twice_is_answered_twice)
{
    struct bench bench;
    bench_init(&bench);
    bench_list(&bench, 5);
    bench_list(&bench, 0);
    bench_list(&bench, 5);
    bench.host.ready[5] = true;
    bench_poll(&bench);
    EXPECT_EQ(bench.count, 2);
    EXPECT_EQ(bench_answered(&bench, 0), 5);
    EXPECT_EQ(bench_answered(&bench, 1), 5);
}

TEST(poller_list_holds_every_key_and_every_extra)
{
    struct bench bench;
    bench_init(&bench);
    for (uint32_t round = 0; round < 2; round++) {
        rt_poller_list_clear(&bench.poller);
        for (uint32_t i = 0; i < RT_POLLER_EXTRA; i++) {
            rt_poller_list_add_extra(&bench.poller, &bench.extra);
        }
        for (uint32_t i = 0; i < CAPACITY; i++) {
            bench_list(&bench, i);
            bench.host.ready[i] = true;
        }
        bench_poll(&bench);
        EXPECT_EQ(bench.host.list_count, CAPACITY + RT_POLLER_EXTRA);
        EXPECT_EQ(bench.count, CAPACITY);
    }
    EXPECT_PANIC(bench_list(&bench, 0));
}
