/*
 * order.c -- the same steps in a simpler order.
 *
 * Sorting: of the order in which the best run took its steps only that is kept which matters, pairs
 * of steps of different actors that touch the same thing (sim/core/record/footprint.h); everything
 * else is as in the baseline. In a random run an actor steps out of turn at every second step, and
 * most of that is noise: what is left are the few times that an actor had to wait.
 *
 * Merging: where an actor steps, another does, and the first continues, it continues before.
 *
 * What tasks share unseen by the simulator is in no footprint, so the run may be another one; it is
 * checked like any candidate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/record/footprint.h"
#include "sim/engine/shrink/shrink_priv.h"

/* Longer runs are not sorted, and runs of more blocks not merged. */
#define STEPS_MAX 4000u
#define BLOCKS_MAX 64u

struct step {
    uint32_t actor;
    uint32_t nth; /* Of this actor, from 0. */
};

/* The last access of a resource by an actor in a mode. */
struct last {
    struct sim_access access;
    uint32_t actor;
    uint32_t step;
};

struct pair {
    uint32_t later; /* Places of steps. */
    uint32_t earlier;
};

struct order {
    struct step steps[STEPS_MAX];
    uint32_t count;
    struct last *lasts;
    uint32_t last_count;
    uint32_t last_capacity;
    struct pair *pairs;
    uint32_t pair_count;
    uint32_t pair_capacity;
};

static void
free_order(struct order *order)
{
    rt_assert(order->pair_count == 0 || order->pairs != NULL);
    free(order->lasts);
    free(order->pairs);
    free(order);
}

/* ---- Reading the best run. ------------------------------------------------------------------- */

static void
add_pair(struct order *order, uint32_t later, uint32_t earlier)
{
    rt_assert(earlier < order->count);
    rt_assert(later < order->count);
    rt_assert(order->steps[later].actor != order->steps[earlier].actor);
    sim_heap_grow(&order->pairs, order->pair_count, &order->pair_capacity, sizeof(*order->pairs));
    order->pairs[order->pair_count++] = (struct pair){later, earlier};
}

/* The step in progress accesses something: it comes after all that conflicts. */
static void
note_access(struct order *order, struct sim_access access)
{
    rt_assert(order->count > 0);
    uint32_t step = order->count - 1;
    uint32_t actor = order->steps[step].actor;
    struct last *own = NULL;
    for (uint32_t i = 0; i < order->last_count; i++) {
        struct last *last = &order->lasts[i];
        if (last->access.resource != access.resource) {
            continue;
        }
        if (last->actor == actor) {
            own = last->access.mode == access.mode ? last : own;
        } else if (sim_modes_conflict(last->access.mode, access.mode)) {
            add_pair(order, step, last->step);
        }
    }
    if (own == NULL) {
        sim_heap_grow(
                &order->lasts, order->last_count, &order->last_capacity, sizeof(*order->lasts));
        own = &order->lasts[order->last_count++];
    }
    rt_assert(
            own->access.resource == access.resource || own == &order->lasts[order->last_count - 1]);
    *own = (struct last){access, actor, step};
}

static uint32_t
nth_of(const struct order *order, uint32_t actor)
{
    rt_assert(order->count <= STEPS_MAX);
    for (uint32_t i = order->count; i-- > 0;) {
        if (order->steps[i].actor == actor) {
            return order->steps[i].nth + 1;
        }
    }
    return 0;
}

/* When all are blocked and the clock moves follows from the rest. */
static void
note_event(struct order *order, const struct sim_event *event)
{
    struct sim_access accesses[SIM_ACCESSES_MAX];
    if (event->kind == SIM_EVENT_STEP) {
        rt_assert(order->count < STEPS_MAX);
        order->steps[order->count] = (struct step){event->actor, nth_of(order, event->actor)};
        order->count++;
    }
    uint32_t count = sim_event_accesses(event, accesses);
    rt_assert(count <= SIM_ACCESSES_MAX);
    for (uint32_t i = 0; i < count && order->count > 0; i++) {
        if (accesses[i].resource != SIM_RESOURCE_QUIET) {
            note_access(order, accesses[i]);
        }
    }
}

/* The best run once more, for its events. NULL: it is too long, or there is nothing to sort. */
static struct order *
read_order(struct sim__shrinker *shrinker)
{
    if (shrinker->key.preemptions == 0 || shrinker->key.steps > STEPS_MAX ||
            !sim__shrink_run_best(shrinker)) {
        return NULL;
    }
    const struct sim_recorder *recorder = sim_single_recorder(&shrinker->single);
    struct order *order = sim_heap_new(1, sizeof(*order));
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->kind == SIM_EVENT_STEP && order->count == STEPS_MAX) {
            break;
        }
        note_event(order, event);
    }
    rt_assert(order->count <= STEPS_MAX);
    return order;
}

/* ---- Candidates. ----------------------------------------------------------------------------- */

static struct sim_deviation
entry_of(const struct step *step)
{
    return (struct sim_deviation){
            .stream = step->actor, .ordinal = step->nth, .kind = SIM_KIND_RUN, .n = 2, .index = 1};
}

/* Pairs by the actor of the later step; of one actor they are in the order of its steps already. */
static void
put_pairs(struct sim__shrinker *shrinker, const struct order *order)
{
    struct sim_tape *candidate = &shrinker->candidate;
    uint32_t put = 0;
    for (uint32_t actor = 0; put < order->pair_count; actor++) {
        for (uint32_t i = 0; i < order->pair_count; i++) {
            const struct step *later = &order->steps[order->pairs[i].later];
            if (later->actor == actor) {
                rt_assert(candidate->count + 2 <= candidate->capacity);
                candidate->entries[candidate->count++] = entry_of(later);
                candidate->entries[candidate->count++] =
                        entry_of(&order->steps[order->pairs[i].earlier]);
                put++;
            }
        }
    }
}

static bool
try_pairs(struct sim__shrinker *shrinker, const struct order *order)
{
    const struct sim_tape *best = &shrinker->best;
    sim__shrink_room(shrinker, order->pair_count * 2 + best->count);
    sim__shrink_reset(shrinker);
    shrinker->candidate.count = 0;
    put_pairs(shrinker, order);
    for (uint32_t i = 0; i < best->count; i++) {
        if (best->entries[i].kind != SIM_KIND_RUN) {
            shrinker->candidate.entries[shrinker->candidate.count++] = best->entries[i];
        }
    }
    rt_assert(shrinker->candidate.count <= shrinker->candidate.capacity);
    return sim__shrink_try_ordered(shrinker);
}

void
sim__shrink_sort(struct sim__shrinker *shrinker)
{
    struct order *order = read_order(shrinker);
    if (order != NULL) {
        (void)try_pairs(shrinker, order);
        free_order(order);
    }
}

/* ---- Merging. -------------------------------------------------------------------------------- */

/* Where the blocks of steps by one actor begin; the last entry is the end. 0: too many. */
static uint32_t
find_blocks(const struct order *order, uint32_t starts[BLOCKS_MAX + 1])
{
    rt_assert(order->count <= STEPS_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < order->count; i++) {
        if (i > 0 && order->steps[i].actor == order->steps[i - 1].actor) {
            continue;
        }
        if (count == BLOCKS_MAX) {
            return 0;
        }
        starts[count++] = i;
    }
    rt_assert(count <= BLOCKS_MAX);
    starts[count] = order->count;
    return count;
}

/* The order in which each step comes after the one before it, with block `moved` taken before the
 * one before it. */
static void
chain(struct order *order, const uint32_t *starts, uint32_t count, uint32_t moved)
{
    rt_assert(moved > 0);
    rt_assert(moved < count);
    uint32_t last = UINT32_MAX;
    order->pair_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = i == moved - 1 ? moved : i == moved ? moved - 1 : i;
        if (last != UINT32_MAX && order->steps[last].actor != order->steps[starts[block]].actor) {
            add_pair(order, starts[block], last);
        }
        last = starts[block + 1] - 1;
    }
}

void
sim__shrink_merge(struct sim__shrinker *shrinker)
{
    uint32_t starts[BLOCKS_MAX + 1];
    struct order *order = read_order(shrinker);
    if (order == NULL) {
        return;
    }
    uint32_t count = find_blocks(order, starts);
    rt_assert(count <= BLOCKS_MAX);
    for (uint32_t i = 2; i < count && !shrinker->over; i++) {
        if (order->steps[starts[i]].actor != order->steps[starts[i - 2]].actor) {
            continue;
        }
        chain(order, starts, count, i);
        if (try_pairs(shrinker, order)) {
            break; /* The blocks are others now; the next round looks again. */
        }
    }
    free_order(order);
}
