/*
 * random.c -- the strategies random, baseline and foremost; the kinds of choices.
 *
 * A draw of `random` depends on seed, stream and ordinal only. The stream's key costs a Philox
 * call, once; a draw is a SplitMix64 finisher over key + ordinal * odd. Bounded by multiply and
 * shift, never by a division: for n of at most 64 and 32 random bits the bias is below 2^-26.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <Random123/philox.h>

#include "runtime/base/assert.h"
#include "sim/base/names.h"
#include "sim/core/decide/strategies.h"

uint64_t
sim_stream_key(uint64_t seed, uint32_t stream)
{
    philox4x32_ctr_t counter = {{stream, 0, 0, 0}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t block = philox4x32(counter, key);
    return (uint64_t)block.v[1] << 32 | block.v[0];
}

static inline uint32_t
bounded(uint32_t bits, uint32_t n)
{
    return (uint32_t)((uint64_t)bits * n >> 32);
}

static uint32_t
random_draw(uint64_t key, uint32_t ordinal, uint32_t n, struct sim_odds odds)
{
    uint64_t draw = sim_stream_draw(key, ordinal);
    uint32_t high = (uint32_t)(draw >> 32);
    if (odds.den == 0) {
        return bounded(high, n);
    }
    rt_assert(odds.num <= odds.den);
    if (bounded((uint32_t)draw, odds.den) >= odds.num) {
        return 0;
    }
    return 1 + bounded(high, n - 1);
}

uint32_t
sim_choose_at_random(const struct sim_choice *choice)
{
    return random_draw(choice->key, choice->ordinal, choice->n, choice->odds);
}

static uint32_t
random_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    return sim_choose_at_random(choice);
}

void
sim_seek_nothing(struct sim_strategy *strategy, uint32_t deviations)
{
    (void)strategy;
    (void)deviations;
}

static const struct sim_strategy_ops random_ops = {
        .repeats = true,
        .draw = random_draw,
        .choose = random_choose,
        .seek = sim_seek_nothing,
};

void
sim_random_init(struct sim_random *random)
{
    random->strategy = (struct sim_strategy){&random_ops};
}

static uint32_t
baseline_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    (void)choice;
    return 0;
}

static const struct sim_strategy_ops baseline_ops = {
        .repeats = true,
        .choose = baseline_choose,
        .seek = sim_seek_nothing,
};

void
sim_baseline_init(struct sim_baseline *baseline)
{
    baseline->strategy = (struct sim_strategy){&baseline_ops};
}

static struct sim_foremost *
foremost_of(struct sim_strategy *strategy)
{
    return (struct sim_foremost *)(void *)strategy;
}

static void
foremost_begin(struct sim_strategy *strategy, uint64_t seed)
{
    foremost_of(strategy)->actor = (uint32_t)seed;
}

static uint32_t
foremost_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    const struct sim_queue *queue = choice->queue;
    bool shown = queue != NULL && queue->actors != NULL && queue->stride == 1;
    for (uint32_t i = 0; shown && i < choice->n; i++) {
        if (queue->actors[queue->base + i] == foremost_of(strategy)->actor) {
            return i;
        }
    }
    return 0;
}

static const struct sim_strategy_ops foremost_ops = {
        .repeats = true,
        .begin = foremost_begin,
        .choose = foremost_choose,
        .seek = sim_seek_nothing,
};

void
sim_foremost_init(struct sim_foremost *foremost)
{
    *foremost = (struct sim_foremost){.strategy = {&foremost_ops}};
}

const char *
sim_kind_name(uint32_t kind)
{
    static const struct sim_name kinds[] = {SIM_KIND_LIST(SIM_NAME_ROW)};
    return sim_name_at(kinds, SIM_KINDS, kind)->name;
}
