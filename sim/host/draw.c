/*
 * draw.c -- the host's decisions: whether, which ones, in which order.
 *
 * In every draw 0 is the baseline: no fault, everything ready, in ascending order. How
 * long and how much are drawn by the world's sim_actor_range and sim_actor_length.
 *
 * Freedoms are bounded in a row (a fault, being left out of a batch), or a strategy could
 * starve a correct program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/priv.h"

#include <string.h>

#define FAULT_STREAK_MAX 3u
#define SHUFFLE_DRAWS_MAX 8u

static const struct sim_odds order_odds = {1, 3};
static const struct sim_odds subset_odds = {1, 4};

bool
sim__one_in(struct sim_actor *actor, enum sim_kind kind, uint64_t one_in)
{
    return sim__perturb(actor, kind, 2, one_in) != 0;
}

bool
sim__fault(struct sim_host *host, uint64_t bit)
{
    struct sim_world *world = host->world;
    rt_assert(bit != 0);
    if ((world->faults & bit) == 0) {
        return false;
    }
    if (host->fault_streak >= FAULT_STREAK_MAX ||
            !sim__one_in(&host->actor, SIM_KIND_FAULT, world->options.fault_one_in)) {
        host->fault_streak = 0;
        return false;
    }
    host->fault_streak++;
    sim_world_event(world, SIM_EVENT_FAULT, 0, 0, 0, bit);
    return true;
}

/* ---- Batches. -------------------------------------------------------------------------------- */

static void
swap(struct sim__candidate *candidates, uint32_t i, uint32_t j)
{
    struct sim__candidate kept = candidates[i];
    candidates[i] = candidates[j];
    candidates[j] = kept;
}

static void
reverse(struct sim__candidate *candidates, uint32_t from, uint32_t to)
{
    while (from + 1 < to) {
        swap(candidates, from++, --to);
    }
}

/* Moves the first `by` after the others, by three reversals. */
static void
rotate(struct sim__candidate *candidates, uint32_t count, uint32_t by)
{
    rt_assert(by < count);
    reverse(candidates, 0, by);
    reverse(candidates, by, count);
    reverse(candidates, 0, count);
}

/* Draws which one is in each of the first places; the rest keeps its order. */
static void
shuffle(struct sim_host *host, struct sim__candidate *candidates, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count && i < SHUFFLE_DRAWS_MAX; i++) {
        uint32_t left = count - i;
        uint32_t n = left < SIM_ALTERNATIVES_MAX ? left : SIM_ALTERNATIVES_MAX;
        swap(candidates, i, i + sim_actor_choose(&host->actor, SIM_KIND_ORDER, n, SIM_ODDS_EVEN));
    }
}

/* 0: as they are; 1: reversed; 2: shuffled; others: rotated. */
static void
order(struct sim_host *host, struct sim__candidate *candidates, uint32_t count)
{
    uint32_t n = count < 3 ? count : count + 2;
    n = n < SIM_ALTERNATIVES_MAX ? n : SIM_ALTERNATIVES_MAX;
    uint32_t index = sim_actor_choose(&host->actor, SIM_KIND_ORDER, n, order_odds);
    switch (index) {
    case 0:
        return;
    case 1:
        reverse(candidates, 0, count);
        return;
    case 2:
        shuffle(host, candidates, count);
        return;
    default:
        rotate(candidates, count, index - 2);
        return;
    }
}

/* Those that were left out too often are first; both parts keep their order. Returns how many. */
static uint32_t
overdue_first(struct sim__candidate *candidates, uint32_t count)
{
    uint32_t overdue = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (*candidates[i].left_out >= SIM__LEFT_OUT_MAX) {
            struct sim__candidate kept = candidates[i];
            for (uint32_t j = i; j > overdue; j--) {
                candidates[j] = candidates[j - 1];
            }
            candidates[overdue++] = kept;
        }
    }
    return overdue;
}

/* Those that were left out too often come first where only `kept` (at most `max`) are reported;
 * returns how many are, and counts. */
static uint32_t
keep(struct sim__candidate *candidates, uint32_t count, uint32_t kept, uint32_t max)
{
    kept = kept < max ? kept : max;
    if (kept < count) {
        uint32_t overdue = overdue_first(candidates, count);
        kept = kept > overdue ? kept : overdue;
        kept = kept < max ? kept : max;
    }
    for (uint32_t i = 0; i < count; i++) {
        *candidates[i].left_out = i < kept ? 0 : *candidates[i].left_out + 1;
    }
    return kept;
}

uint32_t
sim__batch(struct sim_host *host, struct sim__candidate *candidates, uint32_t count, uint32_t max)
{
    rt_assert(count > 0);
    rt_assert(max > 0);
    order(host, candidates, count);
    uint32_t n = count < SIM_ALTERNATIVES_MAX ? count : SIM_ALTERNATIVES_MAX;
    uint32_t index = sim_actor_choose(&host->actor, SIM_KIND_SUBSET, n, subset_odds);
    return keep(candidates, count, index == 0 ? count : index, max);
}

uint32_t
sim__batch_all(
        struct sim_host *host, struct sim__candidate *candidates, uint32_t count, uint32_t max)
{
    rt_assert(count > 0);
    rt_assert(max > 0);
    order(host, candidates, count);
    return keep(candidates, count, count, max);
}

struct sim__candidate *
sim__candidates(struct sim_host *host, uint32_t count)
{
    rt_assert(count > 0);
    sim__reserve(host->world, &host->candidates, count, &host->candidates_capacity,
            sizeof(*host->candidates));
    return host->candidates;
}

void
sim__reserve(struct sim_world *world, void *items, size_t needed, size_t *capacity, size_t size)
{
    char *before = NULL;
    memcpy(&before, items, sizeof(before)); /* A void ** would be another type than the array's. */
    if (needed > *capacity) {
        size_t grown = needed < 8 ? 16 : 2 * needed;
        char *after = sim_zalloc(world, grown * size);
        if (*capacity > 0) {
            memcpy(after, before, *capacity * size);
        }
        memcpy(items, &after, sizeof(after));
        *capacity = grown;
    }
}
