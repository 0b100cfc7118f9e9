/*
 * trade.c -- one deviation less for another one changed.
 *
 * Where no other pass makes a run smaller, it may still be in a local minimum: a pause can be
 * left out only if another one is longer. So all are tried in turn with each other: one is
 * dropped, and another takes each of its alternatives that cost no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/engine/shrink/shrink_priv.h"

/* More parts than that are left to the passes that drop. */
#define PARTS_MAX 24u
#define ALTERNATIVES_MAX 6u

/* A number, whatever it costs; or a single deviation that is of none. */
struct part {
    bool is_number;
    struct sim_number number;
    struct sim_deviation entry;
};

struct parts {
    struct part all[PARTS_MAX];
    uint32_t count;
    bool more;
};

static void
add_part(struct parts *parts, const struct part *part)
{
    rt_assert(parts->count <= PARTS_MAX);
    parts->more = parts->more || parts->count == PARTS_MAX;
    if (!parts->more) {
        parts->all[parts->count++] = *part;
    }
}

static bool
is_of_any(const struct sim__shrinker *shrinker, const struct sim_deviation *entry)
{
    rt_assert(shrinker->drawn_count <= SIM_DRAWS_MAX);
    for (uint32_t i = 0; i < shrinker->drawn_count; i++) {
        if (sim__shrink_is_of(&shrinker->drawn[i], entry)) {
            return true;
        }
    }
    return false;
}

/* Numbers in the order in which they were drawn, then the rest. */
static void
find_parts(const struct sim__shrinker *shrinker, struct parts *ret)
{
    ret->count = 0;
    ret->more = false;
    for (uint32_t i = 0; i < shrinker->drawn_count; i++) {
        if (sim__shrink_cost_of(shrinker, &shrinker->drawn[i]) > 0) {
            add_part(ret, &(struct part){.is_number = true, .number = shrinker->drawn[i]});
        }
    }
    for (uint32_t i = 0; i < shrinker->best.count; i++) {
        const struct sim_deviation *entry = &shrinker->best.entries[i];
        if (entry->kind != SIM_KIND_AUDIT && !is_of_any(shrinker, entry)) {
            add_part(ret, &(struct part){.entry = *entry});
        }
    }
}

/* ---- Changing a part. ------------------------------------------------------------------------ */

static uint64_t
plain_value(const struct sim_number *number)
{
    rt_assert(number->lo <= number->hi);
    return number->form == SIM_DRAW_LENGTH ? number->hi : number->lo;
}

/* The values that cost one deviation: of a small number all, else the edges. */
static uint64_t
alternative_of(const struct sim_number *number, uint32_t alternative)
{
    rt_assert(alternative < ALTERNATIVES_MAX);
    rt_assert(number->lo <= number->hi);
    uint64_t lo = number->lo;
    uint64_t hi = number->hi;
    const uint64_t edges[ALTERNATIVES_MAX] = {lo, hi, lo + (hi - lo) / 2, lo + 1, hi / 2, hi - 1};
    bool small = number->form == SIM_DRAW_PICK || hi - lo < SIM_DRAW_CLASSES;
    uint64_t value = small ? lo + alternative : edges[alternative];
    return value <= hi ? value : number->value;
}

/* The entry is still where it was: numbers are changed last. */
static bool
change_entry(struct sim_tape *tape, const struct sim_deviation *entry, uint32_t index)
{
    rt_assert(tape->count <= tape->capacity);
    rt_assert(index < entry->n);
    for (uint32_t i = 0; i < tape->count; i++) {
        struct sim_deviation *other = &tape->entries[i];
        if (other->stream != entry->stream || other->ordinal != entry->ordinal ||
                other->kind != entry->kind) {
            continue;
        }
        other->index = (uint8_t)index;
        other->id = 0;
        if (index == 0) {
            for (tape->count--; i < tape->count; i++) {
                tape->entries[i] = tape->entries[i + 1];
            }
        }
        return true;
    }
    return false;
}

/* False: the alternative is the present one, or there is none such. */
static bool
change(struct sim__shrinker *shrinker, const struct part *part, uint32_t alternative)
{
    if (!part->is_number) {
        bool there = alternative < part->entry.n && alternative != part->entry.index;
        return there && change_entry(&shrinker->candidate, &part->entry, alternative);
    }
    uint64_t value = alternative == 0 ? plain_value(&part->number)
                                      : alternative_of(&part->number, alternative);
    const struct sim__change changed = {part->number, value};
    return value != part->number.value && sim__shrink_put_value(shrinker, &changed);
}

/* The numbers are changed after the others, and the later of two first. */
static bool
try_trade(struct sim__shrinker *shrinker, const struct part *gone, const struct part *kept,
        uint32_t alternative)
{
    rt_assert(gone != kept);
    rt_assert(alternative > 0);
    bool gone_first = !gone->is_number || (kept->is_number && gone > kept);
    const struct part *first = gone_first ? gone : kept;
    const struct part *second = gone_first ? kept : gone;
    sim__shrink_room(shrinker, shrinker->best.count + 2 * SIM_DRAW_CHOICES_MAX);
    sim__shrink_reset(shrinker);
    return change(shrinker, first, gone_first ? 0 : alternative) &&
           change(shrinker, second, gone_first ? alternative : 0) && sim__shrink_try(shrinker);
}

static bool
trade_for(struct sim__shrinker *shrinker, const struct parts *parts, uint32_t gone)
{
    rt_assert(gone < parts->count);
    for (uint32_t k = parts->count; k-- > 0 && !shrinker->over;) {
        for (uint32_t alternative = 1; k != gone && alternative < ALTERNATIVES_MAX; alternative++) {
            if (try_trade(shrinker, &parts->all[gone], &parts->all[k], alternative)) {
                return true;
            }
        }
    }
    return false;
}

void
sim__shrink_trade(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->best.count <= shrinker->best.capacity);
    struct parts parts;
    find_parts(shrinker, &parts);
    for (uint32_t i = parts.more ? 0 : parts.count; i-- > 0 && !shrinker->over;) {
        if (trade_for(shrinker, &parts, i)) {
            return; /* The other passes are next: they are cheaper. */
        }
    }
}
