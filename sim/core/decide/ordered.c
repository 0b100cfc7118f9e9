/*
 * ordered.c -- the baseline run in which some steps come after others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/ordered.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/event.h"

static struct sim_ordered *
ordered_of(struct sim_strategy *strategy)
{
    return (struct sim_ordered *)(void *)strategy;
}

static bool
comes_before(const struct sim_deviation *entry, uint32_t actor, uint32_t step)
{
    return entry->stream != actor ? entry->stream < actor : entry->ordinal < step;
}

/* The first pair of step `step` of `actor`, or where it would be. */
static uint32_t
find_pair(const struct sim_ordered *ordered, uint32_t actor, uint32_t step)
{
    uint32_t low = 0;
    uint32_t high = ordered->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (comes_before(&ordered->pairs[(size_t)middle * 2], actor, step)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether the next step of `actor` has to wait for another. */
static bool
has_to_wait(const struct sim_ordered *ordered, uint32_t actor)
{
    if (actor >= SIM_ORDERED_ACTORS) {
        return false;
    }
    uint32_t step = ordered->steps[actor];
    for (uint32_t i = find_pair(ordered, actor, step); i < ordered->count; i++) {
        const struct sim_deviation *pair = &ordered->pairs[(size_t)i * 2];
        if (pair->stream != actor || pair->ordinal != step) {
            return false;
        }
        uint32_t other = pair[1].stream;
        if (other < SIM_ORDERED_ACTORS && ordered->steps[other] <= pair[1].ordinal) {
            return true;
        }
    }
    return false;
}

static uint32_t
choose_who(const struct sim_ordered *ordered, const struct sim_choice *choice)
{
    const struct sim_queue *queue = choice->queue;
    if (queue->stride != 1) {
        return 0;
    }
    for (uint32_t i = 0; i < choice->n; i++) {
        if (!has_to_wait(ordered, queue->actors[queue->base + i])) {
            return i;
        }
    }
    return 0;
}

static uint32_t
ordered_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    /* A loop that polls its tasks itself shows no queue. */
    bool shown = choice->queue != NULL && choice->queue->actors != NULL;
    return shown ? choose_who(ordered_of(strategy), choice) : sim__lenient_choose(strategy, choice);
}

static void
ordered_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct sim_ordered *ordered = ordered_of(strategy);
    (void)seed;
    memset(ordered->steps, 0, sizeof(ordered->steps));
}

static void
ordered_events(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == SIM_EVENT_STEP && events[i].actor < SIM_ORDERED_ACTORS) {
            ordered_of(strategy)->steps[events[i].actor]++;
        }
    }
}

static const struct sim_strategy_ops ordered_ops = {
        .begin = ordered_begin,
        .choose = ordered_choose,
        .events = ordered_events,
};

void
sim_ordered_init(struct sim_ordered *ordered, const struct sim_tape *tape, uint32_t *sorted)
{
    uint32_t pairs = 0;
    rt_assert(tape != NULL);
    while (pairs + 1 < tape->count && tape->entries[pairs].kind == SIM_KIND_RUN) {
        pairs += 2;
    }
    ordered->rest = (struct sim_tape){tape->entries + pairs, tape->count - pairs, tape->capacity};
    ordered->pairs = tape->entries;
    ordered->count = pairs / 2;
    sim_replay_init(&ordered->replay, &ordered->rest, true, sorted);
    ordered->replay.strategy.ops = &ordered_ops;
}
