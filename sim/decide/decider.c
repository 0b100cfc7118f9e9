/*
 * decider.c -- asking the strategy, and writing down what deviates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/decide/decider.h"

#include "runtime/base/assert.h"
#include "sim/decide/strategies.h"

void
sim_decider_begin(struct sim_decider *decider, struct sim_strategy *strategy, uint64_t seed)
{
    rt_assert(strategy != NULL);
    rt_assert(strategy->ops->choose != NULL);
    decider->strategy = strategy;
    decider->seed = seed;
    decider->hash = UINT64_C(0x5851f42d4c957f2d);
    decider->asked = 0;
    decider->muted = false;
    decider->tape_full = false;
    decider->tape.count = 0;
    if (strategy->ops->begin != NULL) {
        strategy->ops->begin(strategy, seed);
    }
}

/* Order and content of the answers go into the digest; one multiplication each. */
static inline void
mix(struct sim_decider *decider, uint32_t stream, uint32_t n, uint32_t index)
{
    uint64_t word = (uint64_t)stream << 32 | (uint64_t)n << 8 | index;
    uint64_t hash = (decider->hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    decider->hash = hash ^ (hash >> 32);
}

static void
write_down(struct sim_decider *decider, const struct sim_choice *choice, uint32_t index)
{
    struct sim_deviation deviation = {
            .stream = choice->stream,
            .ordinal = choice->ordinal,
            .kind = (uint8_t)choice->kind,
            .n = (uint8_t)choice->n,
            .index = (uint8_t)index,
    };
    if (decider->tape.count == decider->tape.capacity) {
        decider->tape_full = true;
        return;
    }
    if (choice->describe != NULL) {
        struct sim_alternative alternative = {0, UINT32_MAX, ""};
        choice->describe(choice, index, &alternative);
        deviation.id = alternative.id;
    }
    decider->tape.entries[decider->tape.count++] = deviation;
}

uint32_t
sim_decide(struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id,
        enum sim_kind kind, uint32_t n, struct sim_odds odds,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context)
{
    rt_assert(n >= 1 && n <= SIM_ALTERNATIVES_MAX);
    if (decider->muted) {
        return 0;
    }
    uint32_t ordinal = stream->ordinal++;
    if (n == 1) {
        return 0;
    }
    if (stream->keyed == 0) {
        stream->key = sim_stream_key(decider->seed, stream_id);
        stream->keyed = 1;
    }
    struct sim_choice choice;
    choice.kind = kind;
    choice.n = n;
    choice.odds = odds;
    choice.stream = stream_id;
    choice.ordinal = ordinal;
    choice.key = stream->key;
    choice.describe = describe;
    choice.context = context;
    uint32_t index = decider->strategy->ops->choose(decider->strategy, &choice);
    rt_assert(index < n);
    decider->asked++;
    mix(decider, stream_id, n, index);
    if (index != 0) {
        write_down(decider, &choice, index);
    }
    return index;
}
