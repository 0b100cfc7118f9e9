/*
 * readiness_test.c -- the word that remembers an edge, and a model of it with sequence numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/readiness.h"

#include "runtime/io/net.h"
#include "runtime/tests/bed.h"

/* Holds E1: bits are ORed in, each event raises the tick, and a snapshot changes nothing. */
TEST(readiness_event_sets_bits_and_moves_the_tick)
{
    struct rt_readiness word = {0};
    struct rt_seen seen;
    EXPECT(!rt_readiness_look(&word, &seen));
    rt_readiness_event(&word, RT_READY_AVAILABLE);
    EXPECT(rt_readiness_look(&word, &seen));
    EXPECT_EQ(seen.bits, RT_READY_AVAILABLE);
    EXPECT_EQ(seen.tick, 1);
    rt_readiness_event(&word, RT_READY_ERROR);
    EXPECT(rt_readiness_look(&word, &seen));
    EXPECT(rt_readiness_look(&word, &seen));
    EXPECT_EQ(seen.bits, RT_READY_AVAILABLE | RT_READY_ERROR);
    EXPECT_EQ(seen.tick, 2);
}

/* Holds E1: an event between the snapshot and the clear keeps its bits. */
TEST(readiness_clear_after_a_newer_event_clears_nothing)
{
    struct rt_readiness word = {0};
    struct rt_seen seen;
    rt_readiness_event(&word, RT_READY_AVAILABLE);
    EXPECT(rt_readiness_look(&word, &seen));
    rt_readiness_event(&word, RT_READY_AVAILABLE);
    EXPECT(!rt_readiness_clear(&word, seen));
    EXPECT_EQ(word.bits, RT_READY_AVAILABLE);
    EXPECT(rt_readiness_look(&word, &seen));
    EXPECT(rt_readiness_clear(&word, seen));
    EXPECT_EQ(word.bits, 0);
}

/* Holds E1: two snapshots, one clear, an event: the other's clear is too late (smol#151). */
TEST(readiness_second_clear_of_one_snapshot_keeps_newer_events)
{
    struct rt_readiness word = {0};
    struct rt_seen first;
    struct rt_seen second;
    rt_readiness_event(&word, RT_READY_AVAILABLE);
    EXPECT(rt_readiness_look(&word, &first));
    EXPECT(rt_readiness_look(&word, &second));
    EXPECT(rt_readiness_clear(&word, first));
    rt_readiness_event(&word, RT_READY_AVAILABLE);
    EXPECT(!rt_readiness_clear(&word, second));
    EXPECT_EQ(word.bits, RT_READY_AVAILABLE);
}

/*
 * Goal: no number of events makes a stale snapshot look valid (tokio#6133). Method: 2^n events for
 * the widths at which a narrow tick would wrap, the last by setting the word forward. Holds E1.
 */
TEST(readiness_tick_does_not_wrap)
{
    struct rt_readiness word = {0};
    struct rt_seen seen;
    rt_readiness_event(&word, RT_READY_AVAILABLE);
    EXPECT(rt_readiness_look(&word, &seen));
    for (uint32_t i = 1; i <= UINT32_C(1) << 16; i++) {
        rt_readiness_event(&word, RT_READY_AVAILABLE);
        EXPECT(!rt_readiness_clear(&word, seen));
    }
    word.tick = ((UINT64_C(1) << 32) + seen.tick) & ((UINT64_C(1) << 56) - 1);
    EXPECT(!rt_readiness_clear(&word, seen));
}

/* Holds E2, E10: nothing follows the end, however often an operation says that there is nothing. */
TEST(readiness_closed_is_never_cleared)
{
    struct rt_readiness word = {0};
    struct rt_seen seen;
    rt_readiness_event(&word, RT_READY_AVAILABLE | RT_READY_ERROR | RT_READY_CLOSED);
    EXPECT(rt_readiness_look(&word, &seen));
    EXPECT(!rt_readiness_clear(&word, seen));
    EXPECT_EQ(word.bits, RT_READY_CLOSED);
    rt_readiness_event(&word, RT_READY_SHUTDOWN);
    EXPECT(rt_readiness_look(&word, &seen));
    EXPECT(!rt_readiness_clear(&word, seen));
    EXPECT_EQ(word.bits, RT_READY_CLOSED | RT_READY_SHUTDOWN);
}

/* Holds E3: what is reported unasked concerns both directions; the rest its own. */
TEST(readiness_error_and_hangup_concern_both_directions)
{
    static const struct {
        uint32_t events;
        uint32_t read;
        uint32_t write;
    } rows[] = {
            {RT_NET_READABLE, RT_READY_AVAILABLE, 0},
            {RT_NET_WRITABLE, 0, RT_READY_AVAILABLE},
            {RT_NET_READ_CLOSED, RT_READY_CLOSED, 0},
            {RT_NET_WRITE_CLOSED, 0, RT_READY_CLOSED},
            {RT_NET_ERROR, RT_READY_ERROR, RT_READY_ERROR},
            {RT_NET_HANGUP, RT_READY_CLOSED, RT_READY_CLOSED},
            {RT_NET_READABLE | RT_NET_ERROR, RT_READY_AVAILABLE | RT_READY_ERROR, RT_READY_ERROR},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        EXPECT_EQ(rt_readiness_of(rows[i].events, RT_DIRECTION_READ), rows[i].read);
        EXPECT_EQ(rt_readiness_of(rows[i].events, RT_DIRECTION_WRITE), rows[i].write);
    }
}

/* ---- The model: a flag per direction, and when it was last set. ------------------------------ */

struct model {
    bool flag;
    bool closed;
    uint32_t set_at; /* The step of the last event; 0: none. */
};

#define SNAPSHOTS 4u

struct snapshot {
    struct rt_seen seen;
    uint32_t at; /* In which step. */
};

static void
model_step(uint64_t *state, uint32_t step, struct rt_readiness *word, struct model *model,
        struct snapshot *snapshots)
{
    struct snapshot *snapshot = &snapshots[bed_below(state, SNAPSHOTS)];
    switch (bed_below(state, 8)) {
    case 0:
    case 1:
        rt_readiness_event(word, RT_READY_AVAILABLE);
        model->flag = true;
        model->set_at = step;
        break;
    case 2:
        if (bed_below(state, 64) == 0) {
            rt_readiness_event(word, RT_READY_CLOSED);
            model->closed = true;
            model->set_at = step;
        }
        break;
    case 3:
    case 4:
        EXPECT_EQ(rt_readiness_look(word, &snapshot->seen), model->flag || model->closed);
        snapshot->at = step;
        break;
    default:
        /* It clears exactly if nothing was set since its snapshot. */
        (void)rt_readiness_clear(word, snapshot->seen);
        model->flag = model->flag && model->set_at > snapshot->at;
        break;
    }
    struct rt_seen now;
    EXPECT_EQ(rt_readiness_look(word, &now), model->flag || model->closed);
}

/*
 * Goal: for any history of events, snapshots and clears of two directions the word agrees with a
 * flag with sequence numbers. Method: 200 histories of 500 steps, several snapshots kept at a time.
 * Holds E1, E2.
 */
TEST(readiness_model_agrees)
{
    uint64_t state = 42;
    for (uint32_t history = 0; history < 200; history++) {
        struct rt_readiness words[RT_DIRECTIONS] = {0};
        struct model models[RT_DIRECTIONS] = {0};
        struct snapshot snapshots[RT_DIRECTIONS][SNAPSHOTS] = {0};
        for (uint32_t step = 1; step <= 500; step++) {
            uint32_t i = bed_below(&state, RT_DIRECTIONS);
            model_step(&state, step, &words[i], &models[i], snapshots[i]);
        }
    }
}
