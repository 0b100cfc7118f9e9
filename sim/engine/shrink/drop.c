/*
 * drop.c -- deviations that the failure does not need.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/engine/shrink/shrink_priv.h"

/* Failures in a row after which a pass over single deviations continues in a mixed order. */
#define FAILURES_IN_ORDER 20u
/* Tapes up to this length are tried without any two of their deviations. */
#define PAIRS_MAX 24u

static bool
try_cut(struct sim__shrinker *shrinker, uint32_t from, uint32_t to)
{
    rt_assert(shrinker->best.count <= shrinker->candidate.capacity);
    if (from >= to || to > shrinker->best.count) {
        return false;
    }
    sim__shrink_cut(shrinker, from, to);
    rt_assert(shrinker->candidate.count < shrinker->best.count);
    return sim__shrink_try(shrinker);
}

/* Every prefix of a tape is a tape: from its end on all is 0. By bisection, so not always
 * the shortest; what is left is dropped later. The first is the baseline run of all. */
void
sim__shrink_prefix(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->plan != NULL);
    uint32_t low = 0;
    if (try_cut(shrinker, 0, shrinker->best.count)) {
        return;
    }
    while (low < shrinker->best.count && !shrinker->over) {
        uint32_t middle = low + (shrinker->best.count - low) / 2;
        rt_assert(middle < shrinker->best.count);
        if (!try_cut(shrinker, middle, shrinker->best.count)) {
            low = middle + 1;
        }
    }
}

/* Drops pieces of `size`, the last first: what stands before a piece that was dropped is as it was.
 * After a success the next piece is twice as large, as long as that goes well. */
static void
drop_pieces(struct sim__shrinker *shrinker, uint32_t size)
{
    rt_assert(size > 0);
    uint32_t at = shrinker->best.count;
    uint32_t piece = size;
    while (at > 0 && !shrinker->over) {
        uint32_t from = at > piece ? at - piece : 0;
        rt_assert(from < at);
        if (try_cut(shrinker, from, at)) {
            at = from < shrinker->best.count ? from : shrinker->best.count;
            piece *= 2;
        } else if (piece > size) {
            piece = size;
        } else {
            at = from;
        }
    }
}

/* A number near half of `length` that shares no factor with it: so many places further each time
 * meets each place once. */
static uint32_t
stride_of(uint32_t length)
{
    uint32_t stride = length / 2 + 1;
    for (; stride < length; stride++) {
        uint32_t a = length;
        uint32_t b = stride;
        while (b != 0) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        rt_assert(a > 0);
        if (a == 1) {
            return stride;
        }
    }
    return 1;
}

/* One after the other from the end; after many failures mixed up, so that a long row of deviations
 * which are all needed is not all that is tried before the limit of failures. */
static void
drop_singles(struct sim__shrinker *shrinker)
{
    uint32_t failures = 0;
    uint32_t at = shrinker->best.count;
    while (at > 0 && failures < FAILURES_IN_ORDER && !shrinker->over) {
        at--;
        bool dropped = try_cut(shrinker, at, at + 1);
        rt_assert(at <= shrinker->best.count);
        failures = dropped ? 0 : failures + 1;
        at = at < shrinker->best.count ? at : shrinker->best.count;
    }
    uint32_t length = at;
    rt_assert(length <= shrinker->best.count);
    uint32_t stride = stride_of(length);
    for (uint32_t i = 0; i < length && !shrinker->over; i++) {
        uint32_t place = (uint32_t)((uint64_t)i * stride % length);
        rt_assert(place < length);
        (void)try_cut(shrinker, place, place + 1);
    }
}

void
sim__shrink_drop(struct sim__shrinker *shrinker)
{
    for (uint32_t size = shrinker->best.count / 2; size > 1 && !shrinker->over; size /= 2) {
        drop_pieces(shrinker, size);
    }
    drop_singles(shrinker);
}

/* Two that need each other, and that no other needs. */
void
sim__shrink_pairs(struct sim__shrinker *shrinker)
{
    for (uint32_t j = shrinker->best.count; j-- > 1 && !shrinker->over;) {
        for (uint32_t i = j; i-- > 0 && !shrinker->over;) {
            if (shrinker->best.count > PAIRS_MAX || j >= shrinker->best.count) {
                break;
            }
            sim__shrink_cut(shrinker, j, j + 1);
            struct sim_tape *candidate = &shrinker->candidate;
            rt_assert(i < candidate->count);
            rt_assert(candidate->count + 1 == shrinker->best.count);
            for (uint32_t k = i; k + 1 < candidate->count; k++) {
                candidate->entries[k] = candidate->entries[k + 1];
            }
            candidate->count--;
            (void)sim__shrink_try(shrinker);
        }
    }
}
