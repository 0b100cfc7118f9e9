/*
 * replay.c -- a tape as a strategy: strict, lenient, and up to a point.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>

#include "runtime/base/assert.h"
#include "sim/core/decide/strategies.h"

static struct sim_replay *
replay_of(struct sim_strategy *strategy)
{
    return (struct sim_replay *)(void *)strategy;
}

static uint32_t
choice_id(const struct sim_choice *choice, uint32_t index)
{
    struct sim_alternative alternative = {0, UINT32_MAX, ""};
    if (choice->describe != NULL) {
        choice->describe(choice, index, &alternative);
    }
    return alternative.id;
}

/* ---- Strict. --------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void
mismatch(struct sim_replay *replay, const char *format, ...)
{
    if (replay->mismatched) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(replay->mismatch, sizeof(replay->mismatch), format, arguments);
    va_end(arguments);
    replay->mismatched = true;
    replay->mismatch_position = replay->position;
}

static bool
fits(struct sim_replay *replay, const struct sim_choice *choice, const struct sim_deviation *next)
{
    if (next->kind != (uint8_t)choice->kind || next->n != choice->n) {
        mismatch(replay,
                "deviation %u of %u was a choice '%s' of %u alternatives; "
                "now it is '%s' of %u",
                replay->position + 1, replay->tape->count, sim_kind_name(next->kind), next->n,
                sim_kind_name((uint32_t)choice->kind), choice->n);
        return false;
    }
    if (next->id != choice_id(choice, next->index)) {
        mismatch(replay,
                "deviation %u of %u took an alternative that is now a different one (choice '%s')",
                replay->position + 1, replay->tape->count, sim_kind_name(next->kind));
        return false;
    }
    return true;
}

static uint32_t
strict_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct sim_replay *replay = replay_of(strategy);
    if (replay->mismatched || replay->position == replay->tape->count) {
        return 0;
    }
    const struct sim_deviation *next = &replay->tape->entries[replay->position];
    if (next->stream != choice->stream) {
        return 0;
    }
    if (next->ordinal < choice->ordinal) {
        mismatch(replay, "the occasion of deviation %u of %u (choice '%s') was not reached",
                replay->position + 1, replay->tape->count, sim_kind_name(next->kind));
        return 0;
    }
    if (next->ordinal > choice->ordinal || !fits(replay, choice, next)) {
        return 0;
    }
    replay->position++;
    return next->index;
}

/* ---- Lenient. -------------------------------------------------------------------------------- */

static int
compare(const struct sim_deviation *a, uint32_t stream, uint32_t ordinal)
{
    if (a->stream != stream) {
        return a->stream < stream ? -1 : 1;
    }
    if (a->ordinal != ordinal) {
        return a->ordinal < ordinal ? -1 : 1;
    }
    return 0;
}

/* Insertion is enough: tapes are nearly sorted within each stream. */
static void
sort_tape(struct sim_replay *replay)
{
    const struct sim_deviation *entries = replay->tape->entries;
    for (uint32_t i = 0; i < replay->tape->count; i++) {
        uint32_t low = 0;
        uint32_t high = i;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (compare(&entries[replay->sorted[middle]], entries[i].stream, entries[i].ordinal) <=
                    0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (uint32_t k = i; k > low; k--) {
            replay->sorted[k] = replay->sorted[k - 1];
        }
        replay->sorted[low] = i;
    }
}

static const struct sim_deviation *
find(const struct sim_replay *replay, uint32_t stream, uint32_t ordinal)
{
    uint32_t low = 0;
    uint32_t high = replay->tape->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct sim_deviation *entry = &replay->tape->entries[replay->sorted[middle]];
        int order = compare(entry, stream, ordinal);
        if (order == 0) {
            return entry;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* The alternative with the id of the tape, else the one at its index, else the baseline. */
static uint32_t
lenient_index(const struct sim_choice *choice, const struct sim_deviation *entry)
{
    if (entry->id != 0) {
        for (uint32_t i = 0; i < choice->n; i++) {
            if (choice_id(choice, i) == entry->id) {
                return i;
            }
        }
    }
    return entry->index < choice->n ? entry->index : 0;
}

uint32_t
sim__lenient_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct sim_replay *replay = replay_of(strategy);
    const struct sim_deviation *entry = find(replay, choice->stream, choice->ordinal);
    if (entry == NULL || entry->kind != (uint8_t)choice->kind) {
        return 0;
    }
    uint32_t index = lenient_index(choice, entry);
    replay->taken += index != 0;
    return index;
}

static void
replay_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct sim_replay *replay = replay_of(strategy);
    (void)seed;
    replay->mismatched = false;
    replay->parted = false;
    replay->mismatch[0] = '\0';
    replay->position = 0;
    replay->taken = 0;
}

/* Each entry that was taken was a deviation. */
static void
strict_seek(struct sim_strategy *strategy, uint32_t deviations)
{
    struct sim_replay *replay = replay_of(strategy);
    rt_assert(deviations <= replay->tape->count);
    replay->mismatched = false;
    replay->position = deviations;
}

/* True for the first run that ended. */
static bool
ends_first(struct sim_replay *replay)
{
    bool first = !replay->ended;
    replay->ended = true;
    return first;
}

static void
strict_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct sim_replay *replay = replay_of(strategy);
    (void)outcome;
    if (ends_first(replay)) {
        replay->fitted = !replay->mismatched && replay->position == replay->tape->count;
    }
}

/* ---- Branch. --------------------------------------------------------------------------------- */

static uint32_t
branch_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct sim_replay *replay = replay_of(strategy);
    const struct sim_deviation *last = &replay->tape->entries[replay->tape->count - 1];
    if (replay->parted) {
        return sim_choose_at_random(choice);
    }
    replay->parted = choice->stream == last->stream && choice->ordinal == last->ordinal &&
                     (uint8_t)choice->kind == last->kind;
    if (replay->parted && last->index == 0) {
        return 0;
    }
    return sim__lenient_choose(strategy, choice);
}

static void
lenient_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct sim_replay *replay = replay_of(strategy);
    (void)outcome;
    if (ends_first(replay)) {
        replay->ignored = replay->tape->count - replay->taken;
    }
}

static const struct sim_strategy_ops strict_ops = {
        .repeats = true,
        .begin = replay_begin,
        .choose = strict_choose,
        .seek = strict_seek,
        .end = strict_end,
};

static const struct sim_strategy_ops lenient_ops = {
        .repeats = true,
        .begin = replay_begin,
        .choose = sim__lenient_choose,
        .seek = sim_seek_nothing,
        .end = lenient_end,
};

static const struct sim_strategy_ops branch_ops = {
        .repeats = true,
        .begin = replay_begin,
        .choose = branch_choose,
        .end = lenient_end,
};

void
sim_replay_init(
        struct sim_replay *replay, const struct sim_tape *tape, bool lenient, uint32_t *sorted)
{
    rt_assert(tape != NULL);
    rt_assert(!lenient || sorted != NULL || tape->count == 0);
    *replay = (struct sim_replay){
            .strategy = {lenient ? &lenient_ops : &strict_ops},
            .tape = tape,
            .lenient = lenient,
            .sorted = sorted,
    };
    if (lenient) {
        sort_tape(replay);
    }
}

void
sim_replay_init_branch(struct sim_replay *replay, const struct sim_tape *tape, uint32_t *sorted)
{
    rt_assert(tape != NULL && tape->count > 0);
    sim_replay_init(replay, tape, true, sorted);
    replay->strategy.ops = &branch_ops;
}

const char *
sim_replay_mismatch(const struct sim_replay *replay)
{
    bool all = replay->lenient || replay->position == replay->tape->count;
    bool fits = replay->ended ? replay->lenient || replay->fitted : all && !replay->mismatched;
    if (fits) {
        return NULL;
    }
    return replay->mismatch[0] != '\0' ? replay->mismatch : "the run ended before the tape did";
}
