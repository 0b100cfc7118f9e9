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
    decider->tape_off = decider->tape.capacity == 0;
    decider->deviations = 0;
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

/* A tape has deviations only, so this is the seldom case of a dull run and half of a random one. */
static void
write_down(struct sim_decider *decider, const struct sim_choice *choice, uint32_t index)
{
    if (decider->tape.count == decider->tape.capacity) {
        decider->tape_full = true;
        return;
    }
    struct sim_alternative alternative;
    alternative.id = 0;
    if (choice->describe != NULL) {
        choice->describe(choice, index, &alternative);
    }
    decider->tape.entries[decider->tape.count++] = (struct sim_deviation){
            .stream = choice->stream,
            .ordinal = choice->ordinal,
            .kind = (uint8_t)choice->kind,
            .n = (uint8_t)choice->n,
            .index = (uint8_t)index,
            .id = alternative.id,
    };
}

/* The slow half: the choice as a struct, for a strategy that wants to see it, or for the tape. */
static uint32_t
ask(struct sim_decider *decider, const struct sim_choice *choice, uint32_t drawn)
{
    uint32_t index = drawn;
    if (decider->strategy->ops->draw == NULL) {
        index = decider->strategy->ops->choose(decider->strategy, choice);
        rt_assert(index < choice->n);
    }
    if (index != 0 && !decider->tape_off) {
        write_down(decider, choice, index);
    }
    return index;
}

uint32_t
sim__decide(struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id,
        enum sim_kind kind, uint32_t n, struct sim_odds odds,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context)
{
    rt_assert(n >= 2 && n <= SIM_ALTERNATIVES_MAX);
    uint32_t ordinal = stream->ordinal++;
    if (__builtin_expect(stream->keyed == 0, 0)) {
        stream->key = sim_stream_key(decider->seed, stream_id);
        stream->keyed = 1;
    }
    const struct sim_strategy_ops *ops = decider->strategy->ops;
    uint32_t index = 0;
    if (ops->draw != NULL) {
        index = ops->draw(stream->key, ordinal, n, odds);
        rt_assert(index < n);
    }
    if (ops->draw == NULL || (index != 0 && !decider->tape_off)) {
        const struct sim_choice choice = {
                .kind = kind,
                .n = n,
                .odds = odds,
                .stream = stream_id,
                .ordinal = ordinal,
                .key = stream->key,
                .describe = describe,
                .context = context,
        };
        index = ask(decider, &choice, index);
    }
    decider->asked++;
    decider->deviations += index != 0;
    mix(decider, stream_id, n, index);
    return index;
}
