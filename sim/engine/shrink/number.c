/*
 * number.c -- numbers that the run drew, by their values.
 *
 * A large number is many choices in a row (core/decide/draws.h), and to draw a smaller one takes
 * fewer: what is drawn after it is found at other occasions then. So dropping single deviations
 * never leads from 700,000 to 0, which is one choice. Here a number is replaced whole, and what
 * follows in its stream moves up. In this order, each number from the last to the first:
 *
 *   an edge       the baseline, and those that are one choice: the other end, the middle, …
 *   rounded       the fewest leading halves that will do, downwards and upwards
 *   two at once   by the same amount; or what one loses the other gains
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/engine/shrink/shrink_priv.h"

/* Numbers that are tried, and pairs of them. */
#define NUMBERS_MAX 64u
#define PAIRS_MAX 48u
#define TAPE_MAX 256u

bool
sim__shrink_is_of(const struct sim_number *number, const struct sim_deviation *entry)
{
    return entry->stream == number->stream && entry->kind == number->kind &&
           entry->ordinal >= number->ordinal && entry->ordinal - number->ordinal < number->choices;
}

uint32_t
sim__shrink_cost_of(const struct sim__shrinker *shrinker, const struct sim_number *number)
{
    rt_assert(shrinker->best.count <= shrinker->best.capacity);
    uint32_t cost = 0;
    for (uint32_t i = 0; i < shrinker->best.count; i++) {
        cost += sim__shrink_is_of(number, &shrinker->best.entries[i]);
    }
    return cost;
}

static uint32_t
cost_of_choices(const struct sim_draw_choice *choices, uint32_t count)
{
    rt_assert(count <= SIM_DRAW_CHOICES_MAX);
    uint32_t cost = 0;
    for (uint32_t i = 0; i < count; i++) {
        cost += choices[i].index != 0;
    }
    return cost;
}

static void
add(struct sim_tape *tape, struct sim_deviation entry)
{
    rt_assert(tape->count < tape->capacity);
    tape->entries[tape->count++] = entry;
}

bool
sim__shrink_put_value(struct sim__shrinker *shrinker, const struct sim__change *change)
{
    const struct sim_number *number = &change->number;
    struct sim_draw_choice choices[SIM_DRAW_CHOICES_MAX];
    uint32_t count = sim_draw_choices(
            (enum sim_draw_form)number->form, number->lo, number->hi, change->value, choices);
    struct sim_tape *tape = &shrinker->candidate;
    uint32_t kept = 0;
    rt_assert(number->lo <= number->hi);
    rt_assert(count <= SIM_DRAW_CHOICES_MAX);
    if (count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < tape->count; i++) {
        struct sim_deviation entry = tape->entries[i];
        if (!sim__shrink_is_of(number, &entry)) {
            bool later = entry.stream == number->stream && entry.kind == number->kind &&
                         entry.ordinal > number->ordinal;
            entry.ordinal = later ? entry.ordinal - number->choices + count : entry.ordinal;
            tape->entries[kept++] = entry;
        }
    }
    rt_assert(kept <= tape->count);
    tape->count = kept;
    for (uint32_t i = 0; i < count; i++) {
        if (choices[i].index != 0) {
            add(tape, (struct sim_deviation){.stream = number->stream,
                              .ordinal = number->ordinal + i,
                              .kind = number->kind,
                              .n = choices[i].n,
                              .index = choices[i].index});
        }
    }
    return true;
}

/* Of two in one stream the later is to stand first: its place does not move. */
static bool
try_changes(struct sim__shrinker *shrinker, const struct sim__change *changes, uint32_t count)
{
    rt_assert(count == 1 || count == 2);
    sim__shrink_room(shrinker, shrinker->best.count + count * SIM_DRAW_CHOICES_MAX);
    sim__shrink_reset(shrinker);
    for (uint32_t i = 0; i < count; i++) {
        if (!sim__shrink_put_value(shrinker, &changes[i])) {
            return false;
        }
    }
    return sim__shrink_try(shrinker);
}

/* When it costs less than `cost`: another value may be as dear, and is no gain. */
static bool
try_value(struct sim__shrinker *shrinker, const struct sim_number *number, uint64_t value,
        uint32_t cost)
{
    rt_assert(number->lo <= number->hi);
    struct sim_draw_choice choices[SIM_DRAW_CHOICES_MAX];
    const struct sim__change change = {*number, value};
    uint32_t count = sim_draw_choices(
            (enum sim_draw_form)number->form, number->lo, number->hi, value, choices);
    return value != number->value && count > 0 && cost_of_choices(choices, count) < cost &&
           try_changes(shrinker, &change, 1);
}

/* ---- One. ------------------------------------------------------------------------------------ */

static bool
try_edges(struct sim__shrinker *shrinker, const struct sim_number *number, uint32_t cost)
{
    rt_assert(cost > 0);
    rt_assert(number->lo <= number->hi);
    uint64_t lo = number->lo;
    uint64_t hi = number->hi;
    bool down = number->form == SIM_DRAW_LENGTH;
    const uint64_t edges[] = {down ? hi : lo, down ? lo : hi, lo + (hi - lo) / 2, lo + 1, hi / 2,
            hi > lo ? hi - 1 : hi};
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
        if (try_value(shrinker, number, edges[i], cost)) {
            return true;
        }
    }
    return false;
}

/* The range halved `times` times towards the value: its ends are the coarsest numbers near it. */
static void
halve(const struct sim_number *number, uint32_t times, uint64_t *ret_lo, uint64_t *ret_hi)
{
    uint64_t lo = number->lo;
    uint64_t hi = number->hi;
    for (; times > 0 && hi - lo >= SIM_ALTERNATIVES_MAX; times--) {
        uint64_t middle = lo + (hi - lo) / 2;
        bool upper = number->value > middle;
        hi = upper ? hi : middle;
        lo = upper ? middle + 1 : lo;
    }
    rt_assert(lo <= hi);
    rt_assert(lo >= number->lo);
    rt_assert(hi <= number->hi);
    *ret_lo = lo;
    *ret_hi = hi;
}

static bool
try_rounded(struct sim__shrinker *shrinker, const struct sim_number *number, uint32_t cost)
{
    rt_assert(cost > 0);
    for (uint32_t times = 1; times < number->choices && !shrinker->over; times++) {
        uint64_t lo = 0;
        uint64_t hi = 0;
        halve(number, times, &lo, &hi);
        if (try_value(shrinker, number, lo, cost) ||
                (hi < number->hi && try_value(shrinker, number, hi + 1, cost))) {
            return true;
        }
    }
    return false;
}

/* ---- Two. ------------------------------------------------------------------------------------ */

/* `later` is drawn after `earlier` in the run. One is set to its default end, and the other follows
 * by the same amount, or makes up for it. */
static bool
try_two(struct sim__shrinker *shrinker, const struct sim_number *later,
        const struct sim_number *earlier)
{
    rt_assert(later != earlier);
    const struct sim_number *pairs[2][2] = {{later, earlier}, {earlier, later}};
    for (uint32_t i = 0; i < 2; i++) {
        const struct sim_number *down = pairs[i][0];
        const struct sim_number *other = pairs[i][1];
        rt_assert(down->lo <= down->value);
        rt_assert(other->lo <= other->value);
        rt_assert(other->value <= other->hi);
        uint64_t by = down->value - down->lo;
        const uint64_t values[2] = {other->value - by, other->value + by};
        bool fit[2] = {other->value - other->lo >= by, other->hi - other->value >= by};
        for (uint32_t k = 0; k < 2; k++) {
            struct sim__change changes[2] = {{*down, down->lo}, {*other, values[k]}};
            if (i == 1) {
                changes[0] = (struct sim__change){*other, values[k]};
                changes[1] = (struct sim__change){*down, down->lo};
            }
            if (by > 0 && fit[k] && try_changes(shrinker, changes, 2)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- All. ------------------------------------------------------------------------------------ */

struct numbers {
    struct sim_number all[NUMBERS_MAX];
    uint32_t count;
};

/* Those of the best run that cost something, the last first. */
static void
read_numbers(const struct sim__shrinker *shrinker, struct numbers *ret)
{
    rt_assert(shrinker->drawn_count <= SIM_DRAWS_MAX);
    ret->count = 0;
    for (uint32_t i = shrinker->drawn_count; i-- > 0 && ret->count < NUMBERS_MAX;) {
        if (sim__shrink_cost_of(shrinker, &shrinker->drawn[i]) > 0) {
            ret->all[ret->count++] = shrinker->drawn[i];
        }
    }
}

static void
lower_each(struct sim__shrinker *shrinker)
{
    struct numbers numbers;
    read_numbers(shrinker, &numbers);
    for (uint32_t i = 0; i < numbers.count && !shrinker->over; i++) {
        const struct sim_number number = numbers.all[i];
        uint32_t cost = sim__shrink_cost_of(shrinker, &number);
        rt_assert(cost > 0);
        if (try_edges(shrinker, &number, cost) || try_rounded(shrinker, &number, cost)) {
            /* Those before it are where they were, in number and place, or it starts over. */
            read_numbers(shrinker, &numbers);
        }
    }
}

static void
lower_pairs(struct sim__shrinker *shrinker)
{
    struct numbers numbers;
    uint32_t left = PAIRS_MAX;
    read_numbers(shrinker, &numbers);
    for (uint32_t i = 0; i < numbers.count && !shrinker->over; i++) {
        for (uint32_t k = i + 1; k < numbers.count && left > 0 && !shrinker->over; k++, left--) {
            if (numbers.all[i].choices > 1 && numbers.all[k].choices > 1 &&
                    try_two(shrinker, &numbers.all[i], &numbers.all[k])) {
                read_numbers(shrinker, &numbers);
                k = i;
            }
        }
    }
}

void
sim__shrink_numbers(struct sim__shrinker *shrinker)
{
    if (shrinker->best.count <= TAPE_MAX) {
        lower_each(shrinker);
        lower_pairs(shrinker);
    }
}
