/*
 * lower.c -- single deviations: dropped with what follows moved up, made smaller, made earlier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/engine/shrink/shrink_priv.h"

/* Longer tapes are left to the passes that drop. */
#define SINGLES_MAX 128u

/*
 * Drops a deviation and moves up what follows in its stream: an actor passed over at its m-th turn
 * steps there now, so that its turn m+1 has become its turn m.
 */
void
sim__shrink_shift(struct sim__shrinker *shrinker)
{
    for (uint32_t i = shrinker->best.count; i-- > 0 && !shrinker->over;) {
        if (i >= shrinker->best.count || shrinker->best.count > SINGLES_MAX) {
            continue;
        }
        const struct sim_deviation dropped = shrinker->best.entries[i];
        struct sim_tape *candidate = &shrinker->candidate;
        bool moved = false;
        sim__shrink_cut(shrinker, i, i + 1);
        rt_assert(candidate->count + 1 == shrinker->best.count);
        for (uint32_t k = i; k < candidate->count; k++) {
            struct sim_deviation *entry = &candidate->entries[k];
            if (entry->stream == dropped.stream && entry->ordinal > dropped.ordinal) {
                rt_assert(entry->ordinal > 0);
                entry->ordinal--;
                moved = true;
            }
        }
        if (moved) {
            (void)sim__shrink_try(shrinker);
        }
    }
}

/* With another index at `place`; the alternative that was taken then is not meant. */
static bool
try_index(struct sim__shrinker *shrinker, uint32_t place, uint32_t index)
{
    if (place >= shrinker->best.count || index == 0 ||
            index >= shrinker->best.entries[place].index) {
        return false;
    }
    sim__shrink_reset(shrinker);
    rt_assert(place < shrinker->candidate.count);
    rt_assert(index < shrinker->candidate.entries[place].index);
    shrinker->candidate.entries[place].index = (uint8_t)index;
    shrinker->candidate.entries[place].id = 0;
    return sim__shrink_try(shrinker);
}

void
sim__shrink_lower(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->best.count <= shrinker->best.capacity);
    for (uint32_t i = 0; i < shrinker->best.count && i < SINGLES_MAX && !shrinker->over; i++) {
        uint32_t index = shrinker->best.entries[i].index;
        if (!try_index(shrinker, i, 1) && !try_index(shrinker, i, index / 2)) {
            (void)try_index(shrinker, i, index - 1);
        }
    }
}

static bool
is_taken(const struct sim_tape *tape, uint32_t stream, uint32_t ordinal)
{
    rt_assert(tape->count <= tape->capacity);
    for (uint32_t i = 0; i < tape->count; i++) {
        if (tape->entries[i].stream == stream && tape->entries[i].ordinal == ordinal) {
            return true;
        }
    }
    return false;
}

static bool
try_ordinal(struct sim__shrinker *shrinker, uint32_t place, uint32_t ordinal)
{
    const struct sim_tape *best = &shrinker->best;
    if (place >= best->count || ordinal >= best->entries[place].ordinal ||
            is_taken(best, best->entries[place].stream, ordinal)) {
        return false;
    }
    sim__shrink_reset(shrinker);
    rt_assert(place < shrinker->candidate.count);
    shrinker->candidate.entries[place].ordinal = ordinal;
    return sim__shrink_try(shrinker);
}

/* The same at an earlier occasion: what is before it is then no part of the failure. */
void
sim__shrink_earlier(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->best.count <= shrinker->best.capacity);
    for (uint32_t i = 0; i < shrinker->best.count && i < SINGLES_MAX && !shrinker->over; i++) {
        uint32_t ordinal = shrinker->best.entries[i].ordinal;
        if (ordinal > 0 && !try_ordinal(shrinker, i, 0) && !try_ordinal(shrinker, i, ordinal / 2)) {
            (void)try_ordinal(shrinker, i, ordinal - 1);
        }
    }
}
