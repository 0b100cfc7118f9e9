/*
 * decider.h -- the decision stream: every choice of a run passes here.
 *
 *   world ── choice ──▶ decider ──▶ strategy ── index ──▶ decider ──▶ world
 *                        ▲   │
 *   recorder ── events ──┘   └── deviation ──▶ tape, decision hash
 *
 * A strategy that does not repeat by itself can be replayed only from the tape: when the tape is
 * full, all further choices are 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/base/assert.h"
#include "sim/core/decide/choice.h"
#include "sim/core/decide/tape.h"
#include "sim/core/record/recorder.h"

struct sim_decider {
    struct sim_strategy *strategy; /* Borrowed for the run. */
    /* The strategy's draw, where no choice has to be built; NULL: they are built. */
    uint32_t (*draw)(uint64_t key, uint32_t ordinal, uint32_t n, struct sim_odds odds);
    bool walks; /* The strategy has a `walk`: choices are built for the tape alone. */
    uint64_t seed;
    uint64_t hash;          /* Of every answer with more than one alternative, in order. */
    uint64_t asked;         /* Answers with more than one alternative. */
    bool muted;             /* Inside a spurious poll: every answer is 0 and nothing is counted. */
    bool tape_off;          /* There is no tape: deviations are counted only. */
    bool tape_full;         /* From here on all is 0, unless the strategy repeats by itself. */
    uint32_t deviations;    /* Answers other than 0. */
    struct sim_tape tape;   /* The memory is that of the world's caller. */
    struct sim_queue queue; /* Of the next choice of kind RUN, where choices are built and shown. */
    uint32_t run_choices;   /* Choices of kind RUN so far, where choices are built. */
    /* Called with each deviation as it is recorded; NULL: not. */
    void (*on_deviation)(const struct sim_deviation *deviation);
    const struct sim_recorder *recorder; /* Whose events the strategy gets; NULL: none. Borrowed. */
    uint64_t passed;                     /* Events that the strategy has got. */
};

/* Begins a run: an empty tape, the strategy's begin. */
void sim_decider_begin(struct sim_decider *decider, struct sim_strategy *strategy, uint64_t seed);

/* The run is over: passes the remaining events to the strategy, then calls its end. */
void sim_decider_end(struct sim_decider *decider, const struct sim_outcome *outcome);

/* The slow path: for a choice that has to be built, and for the first of a stream. */
uint32_t sim__decide(struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id,
        enum sim_kind kind, uint32_t n, struct sim_odds odds,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context);

/* The same for a strategy that walks. */
uint32_t sim__walk(struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id,
        enum sim_kind kind, uint32_t n,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context);

/* Order and content of the answers go into the digest; one multiplication each. */
static inline void
sim__decided(struct sim_decider *decider, uint32_t stream_id, uint32_t n, uint32_t index)
{
    uint64_t word = (uint64_t)stream_id << 32 | (uint64_t)n << 8 | index;
    uint64_t hash = (decider->hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    decider->hash = hash ^ (hash >> 32);
    decider->asked++;
    decider->deviations += index != 0;
}

/*
 * Returns an index below `n` (1 .. 64). `stream_id` names the stream across runs, `stream` is its
 * state. `describe` and `context` as in struct sim_choice; `describe` may be NULL.
 */
static inline uint32_t
sim_decide(struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id,
        enum sim_kind kind, uint32_t n, struct sim_odds odds,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context)
{
    if (decider->muted) {
        return 0;
    }
    if (n == 1) {
        stream->ordinal++;
        return 0;
    }
    if (decider->walks) {
        return sim__walk(decider, stream, stream_id, kind, n, describe, context);
    }
    if (decider->draw == 0 || stream->key == 0) {
        return sim__decide(decider, stream, stream_id, kind, n, odds, describe, context);
    }
    uint32_t index = decider->draw(stream->key, stream->ordinal++, n, odds);
    rt_assert(index < n);
    sim__decided(decider, stream_id, n, index);
    return index;
}
