/*
 * host_test.c -- the seam: what a caller may not ask, and what a host may not answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/io/dumb_host.h"

#define LIST 4u

struct seam {
    struct dumb_host host;
    struct rt_pollable pollables[LIST];
    struct rt_pollable *list[LIST];
    uint32_t indices[LIST];
    uint32_t ready;
};

/* A list of the sources 0 to 3, all of them ready. */
static void
seam_init(struct seam *seam)
{
    memset(seam, 0, sizeof(*seam));
    dumb_host_init(&seam->host);
    for (uint32_t i = 0; i < LIST; i++) {
        dumb_subscribe(&seam->host, i, &seam->pollables[i]);
        seam->list[i] = &seam->pollables[i];
        seam->host.ready[i] = true;
    }
}

static rt_err
seam_poll(struct seam *seam, uint32_t count)
{
    return rt_host_poll(&seam->host.seam, seam->list, count, seam->indices, &seam->ready);
}

/* A host that answers what `argument` says: a number of indices, then the indices. */
static rt_err
lie_scripted(struct dumb_host *host, uint32_t *indices, uint32_t *ready)
{
    const uint32_t *script = host->argument;
    *ready = script[0];
    for (uint32_t i = 0; i < script[0] && i < LIST; i++) {
        indices[i] = script[1 + i];
    }
    return RT_OK;
}

static void
seam_answers(struct seam *seam, const uint32_t *script)
{
    seam_init(seam);
    seam->host.lie = lie_scripted;
    seam->host.argument = (void *)(uintptr_t)script;
}

static rt_err
lie_failing(struct dumb_host *host, uint32_t *indices, uint32_t *ready)
{
    (void)host;
    (void)indices;
    (void)ready;
    return RT_E_CLOSED;
}

/* Holds P3. */
TEST(host_empty_list_is_the_hosts_to_refuse)
{
    struct seam seam;
    seam_init(&seam);
    seam.ready = 77;
    EXPECT_EQ(seam_poll(&seam, 0), RT_E_EMPTY_POLL);
    EXPECT_EQ(seam.host.polls, 1);
    EXPECT_EQ(seam.ready, 77);
}

/* Holds P4: every index is below the length of the list; the last one that is, is legal. */
TEST(host_index_beyond_the_list_is_a_panic)
{
    static const uint32_t last[] = {1, LIST - 1};
    static const uint32_t beyond[] = {2, 0, LIST};
    struct seam seam;
    seam_answers(&seam, last);
    EXPECT_EQ(seam_poll(&seam, LIST), RT_OK);
    EXPECT_EQ(seam.indices[0], LIST - 1);
    seam_answers(&seam, beyond);
    EXPECT_PANIC((void)seam_poll(&seam, LIST));
    EXPECT(strstr(test_trap.what, "beyond the end") != NULL);
}

/* Holds P4: at least one. */
TEST(host_answer_without_an_index_is_a_panic)
{
    static const uint32_t none[] = {0};
    struct seam seam;
    seam_answers(&seam, none);
    EXPECT_PANIC((void)seam_poll(&seam, LIST));
    EXPECT(strstr(test_trap.what, "without a ready pollable") != NULL);
}

TEST(host_answer_longer_than_the_list_is_a_panic)
{
    static const uint32_t five[] = {LIST + 1, 0, 1, 2, 3};
    struct seam seam;
    seam_answers(&seam, five);
    EXPECT_PANIC((void)seam_poll(&seam, LIST));
    EXPECT(strstr(test_trap.what, "more ready pollables") != NULL);
}

/* Holds P5: each occurrence once, not twice; neighbours or not, ascending before or not. */
TEST(host_index_reported_twice_is_a_panic)
{
    static const uint32_t scripts[][5] = {
            {2, 1, 1}, {3, 0, 2, 0}, {4, 3, 1, 2, 1}, {4, 0, 1, 2, 2}};
    struct seam seam;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        seam_answers(&seam, scripts[i]);
        EXPECT_PANIC((void)seam_poll(&seam, LIST));
        EXPECT(strstr(test_trap.what, "twice") != NULL);
    }
}

/* Holds P4: a broken source counts as ready, so a poll cannot fail. */
TEST(host_poll_that_fails_is_a_panic)
{
    struct seam seam;
    seam_init(&seam);
    seam.host.lie = lie_failing;
    EXPECT_PANIC((void)seam_poll(&seam, LIST));
    EXPECT(strstr(test_trap.what, "failed to poll") != NULL);
}

/* Holds P5: one pollable at two indices, and two pollables of one source. */
TEST(host_pollable_listed_twice_is_reported_twice)
{
    struct seam seam;
    seam_init(&seam);
    memset(seam.host.ready, 0, sizeof(seam.host.ready));
    seam.host.ready[2] = true;
    rt_pollable_drop(&seam.pollables[0]);
    dumb_subscribe(&seam.host, 2, &seam.pollables[0]);
    seam.list[3] = seam.list[2];
    EXPECT_EQ(seam_poll(&seam, LIST), RT_OK);
    EXPECT_EQ(seam.ready, 3);
    EXPECT_EQ(seam.indices[0], 0);
    EXPECT_EQ(seam.indices[1], 2);
    EXPECT_EQ(seam.indices[2], 3);
}

/* Holds P6: the order of the answer is the host's, so that clients of the seam can be tested with
 * any; a client that needs another one sorts. */
TEST(host_order_of_the_answer_is_left_alone)
{
    struct seam seam;
    seam_init(&seam);
    seam.host.backwards = true;
    EXPECT_EQ(seam_poll(&seam, LIST), RT_OK);
    EXPECT_EQ(seam.ready, LIST);
    for (uint32_t i = 0; i < LIST; i++) {
        EXPECT_EQ(seam.indices[i], LIST - 1 - i);
    }
}

TEST(host_list_with_a_stranger_is_a_fault)
{
    struct seam seam;
    struct seam other;
    seam_init(&seam);
    seam_init(&other);
    seam.list[3] = other.list[3];
    EXPECT_FAULT(RT_E_INVALID, (void)seam_poll(&seam, LIST));
    EXPECT_EQ(seam.host.polls, 0);
    EXPECT_EQ(seam_poll(&seam, 3), RT_OK);
}

TEST(host_pollable_used_after_its_drop_is_a_fault)
{
    struct seam seam;
    seam_init(&seam);
    rt_pollable_drop(&seam.pollables[1]);
    EXPECT_EQ(seam.host.alive, LIST - 1);
    rt_pollable_drop(&seam.pollables[1]);
    EXPECT_EQ(seam.host.alive, LIST - 1);
    EXPECT_FAULT(RT_E_INVALID, (void)rt_pollable_ready(&seam.pollables[1]));
    EXPECT_FAULT(RT_E_INVALID, (void)seam_poll(&seam, LIST));
}

/* Holds P7, P8: asking takes nothing, and what is ready stays so until it is taken. */
TEST(host_ready_is_level_and_asking_changes_nothing)
{
    struct seam seam;
    seam_init(&seam);
    for (uint32_t round = 0; round < 3; round++) {
        EXPECT(rt_pollable_ready(&seam.pollables[0]));
        EXPECT_EQ(seam_poll(&seam, 1), RT_OK);
        EXPECT_EQ(seam.ready, 1);
    }
    EXPECT_EQ(seam.host.polls, 3);
    seam.host.ready[0] = false;
    EXPECT(!rt_pollable_ready(&seam.pollables[0]));
    EXPECT_EQ(seam.host.polls, 3);
}

static rt_err
subscribe_nothing(struct rt_host *host, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    (void)host;
    (void)what;
    (void)argument;
    (void)pollable;
    return RT_OK;
}

TEST(host_subscribe_that_makes_nothing_is_a_panic)
{
    struct seam seam;
    seam_init(&seam);
    seam.host.ops.subscribe = subscribe_nothing;
    struct rt_pollable pollable = {0};
    EXPECT_PANIC(EXPECT_EQ(rt_subscribe_instant(&seam.host.seam, 5, &pollable), RT_OK));
    EXPECT(strstr(test_trap.what, "its own") != NULL);
}

TEST(host_without_capacity_refuses_and_leaves_the_pollable_alone)
{
    struct seam seam;
    seam_init(&seam);
    seam.host.capacity = LIST;
    struct rt_pollable pollable = {0};
    EXPECT_EQ(rt_subscribe_duration(&seam.host.seam, 5, &pollable), RT_E_FULL);
    EXPECT(pollable.host == NULL);
    rt_pollable_drop(&pollable);
    EXPECT_EQ(seam.host.alive, LIST);
}

/* Holds M15: a deadline that is past, and a duration of 0, which some hosts took for "never". */
TEST(host_past_instant_and_zero_duration_are_ready)
{
    struct seam seam;
    seam_init(&seam);
    seam.host.now_ns = 1000;
    EXPECT_EQ(rt_host_now(&seam.host.seam), 1000);
    struct rt_pollable past = {0};
    struct rt_pollable zero = {0};
    struct rt_pollable later = {0};
    EXPECT_EQ(rt_subscribe_instant(&seam.host.seam, 999, &past), RT_OK);
    EXPECT_EQ(rt_subscribe_duration(&seam.host.seam, 0, &zero), RT_OK);
    EXPECT_EQ(rt_subscribe_duration(&seam.host.seam, 1, &later), RT_OK);
    EXPECT(rt_pollable_ready(&past));
    EXPECT(rt_pollable_ready(&zero));
    EXPECT(!rt_pollable_ready(&later));
    seam.host.now_ns = 1001;
    EXPECT(rt_pollable_ready(&later));
}

/* Holds M4: too long is never, not soon. */
TEST(host_duration_beyond_the_clock_is_never)
{
    static const uint64_t durations[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 999};
    struct seam seam;
    seam_init(&seam);
    seam.host.now_ns = 1000;
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        struct rt_pollable pollable = {0};
        EXPECT_EQ(rt_subscribe_duration(&seam.host.seam, durations[i], &pollable), RT_OK);
        EXPECT(!rt_pollable_ready(&pollable));
        EXPECT_EQ(seam.host.entries[pollable.handle].instant_ns, UINT64_MAX);
        rt_pollable_drop(&pollable);
    }
}
