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

/* With another index at `place`; the alternative that was taken then is not meant. */
static bool
try_index(struct sim__shrinker *shrinker, uint32_t place, uint32_t index)
{
    if (index == 0 || index >= shrinker->best.entries[place].index) {
        return false;
    }
    sim__shrink_reset(shrinker);
    rt_assert(place < shrinker->candidate.count);
    shrinker->candidate.entries[place].index = (uint8_t)index;
    shrinker->candidate.entries[place].id = 0;
    return sim__shrink_try(shrinker);
}

static bool
try_ordinal(struct sim__shrinker *shrinker, uint32_t place, uint32_t ordinal)
{
    const struct sim_deviation *entry = &shrinker->best.entries[place];
    if (ordinal >= entry->ordinal || is_taken(&shrinker->best, entry->stream, ordinal)) {
        return false;
    }
    sim__shrink_reset(shrinker);
    rt_assert(place < shrinker->candidate.count);
    shrinker->candidate.entries[place].ordinal = ordinal;
    return sim__shrink_try(shrinker);
}

/* Each deviation with the least value, with half of its own, and with one less. */
static void
lower_each(struct sim__shrinker *shrinker, bool ordinals)
{
    rt_assert(shrinker->best.count <= shrinker->best.capacity);
    for (uint32_t i = 0; i < shrinker->best.count && i < SINGLES_MAX && !shrinker->over; i++) {
        const struct sim_deviation *entry = &shrinker->best.entries[i];
        rt_assert(entry->index > 0);
        uint32_t value = ordinals ? entry->ordinal : entry->index;
        const uint32_t values[] = {ordinals ? 0 : 1, value / 2, value - (value > 0)};
        bool lower = false;
        for (uint32_t k = 0; k < 3 && !lower && i < shrinker->best.count; k++) {
            lower = ordinals ? try_ordinal(shrinker, i, values[k])
                             : try_index(shrinker, i, values[k]);
        }
    }
}

void
sim__shrink_lower(struct sim__shrinker *shrinker)
{
    lower_each(shrinker, false);
}

/* The same at an earlier occasion: what is before it is then no part of the failure. */
void
sim__shrink_earlier(struct sim__shrinker *shrinker)
{
    lower_each(shrinker, true);
}
