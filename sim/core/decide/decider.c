/*
 * decider.c -- asking the strategy, and recording deviations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/decider.h"

#include "runtime/base/assert.h"
#include "sim/core/decide/strategies.h"

void
sim_decider_begin(struct sim_decider *decider, struct sim_strategy *strategy, uint64_t seed)
{
    rt_assert(strategy != NULL);
    strategy = sim_strategy_begin(strategy, seed);
    rt_assert(strategy->ops->choose != NULL);
    rt_assert(strategy->ops->walk == NULL || strategy->ops->events == NULL);
    decider->strategy = strategy;
    decider->seed = seed;
    decider->hash = UINT64_C(0x5851f42d4c957f2d);
    decider->asked = 0;
    decider->muted = false;
    decider->tape_full = false;
    decider->tape.count = 0;
    decider->tape_off = decider->tape.capacity == 0;
    decider->deviations = 0;
    decider->draw = decider->tape_off ? strategy->ops->draw : NULL;
    decider->walks = strategy->ops->walk != NULL;
    decider->queue = (struct sim_queue){NULL, 0, 0, 1};
    decider->run_choices = 0;
    decider->passed = 0;
}

/* Passes new events to the strategy, but those that the ring has overwritten. With events off there
 * are none. */
static void
pass_events(struct sim_decider *decider)
{
    const struct sim_recorder *recorder = decider->recorder;
    struct sim_strategy *strategy = decider->strategy;
    if (recorder == NULL) {
        return;
    }
    uint64_t first = sim_recorder_first(recorder);
    uint64_t from = decider->passed > first ? decider->passed : first;
    uint64_t end = recorder->count;
    uint64_t capacity = recorder->memory.events_capacity;
    while (from < end) { /* Twice where they wrap in the ring. */
        uint64_t at = from & (capacity - 1);
        uint64_t count = end - from < capacity - at ? end - from : capacity - at;
        strategy->ops->events(strategy, &recorder->memory.events[at], (uint32_t)count);
        from += count;
    }
    decider->passed = end;
}

void
sim_decider_end(struct sim_decider *decider, const struct sim_outcome *outcome)
{
    struct sim_strategy *strategy = decider->strategy;
    if (strategy->ops->events != NULL) {
        pass_events(decider);
    }
    if (strategy->ops->end != NULL) {
        strategy->ops->end(strategy, outcome);
    }
}

/* Only deviations are on a tape: rare in runs near the baseline. False: the tape is full. */
static bool
write_down(struct sim_decider *decider, const struct sim_choice *choice, uint32_t index)
{
    if (decider->tape.count == decider->tape.capacity) {
        decider->tape_full = true;
        return false;
    }
    struct sim_alternative alternative;
    alternative.id = 0;
    if (choice->describe != NULL) {
        choice->describe(choice, index, &alternative);
    }
    decider->tape.entries[decider->tape.count++] = (struct sim_deviation){
            .stream = choice->stream,
            .ordinal = choice->ordinal,
            .kind = (uint8_t)choice->kind,
            .n = (uint8_t)choice->n,
            .index = (uint8_t)index,
            .id = alternative.id,
    };
    if (decider->on_deviation != NULL) {
        decider->on_deviation(&decider->tape.entries[decider->tape.count - 1]);
    }
    return true;
}

/* Keys the stream at its first choice: few streams of an actor are ever asked. */
static uint64_t
key_of(const struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id)
{
    if (stream->key == 0) { /* One key in 2^64 is 0, and computed each time. */
        stream->key = sim_stream_key(decider->seed, stream_id);
    }
    return stream->key;
}

static uint32_t
ask(struct sim_decider *decider, const struct sim_choice *choice)
{
    const struct sim_strategy_ops *ops = decider->strategy->ops;
    if (ops->draw != NULL) {
        return ops->draw(choice->key, choice->ordinal, choice->n, choice->odds);
    }
    if (decider->tape_full && !decider->strategy->ops->repeats) {
        return 0;
    }
    if (ops->events != NULL) {
        pass_events(decider);
    }
    return ops->choose(decider->strategy, choice);
}

uint32_t
sim__walk(struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id,
        enum sim_kind kind, uint32_t n,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context)
{
    struct sim_strategy *strategy = decider->strategy;
    uint32_t ordinal = stream->ordinal++;
    decider->run_choices += kind == SIM_KIND_RUN;
    bool plain = decider->tape_full && !strategy->ops->repeats;
    uint32_t index = plain ? 0 : strategy->ops->walk(strategy, n);
    rt_assert(index < n);
    if (index != 0 && !decider->tape_off) {
        const struct sim_choice choice = {.kind = kind,
                .n = n,
                .stream = stream_id,
                .ordinal = ordinal,
                .describe = describe,
                .context = context};
        if (!write_down(decider, &choice, index) && !strategy->ops->repeats) {
            index = 0;
        }
    }
    sim__decided(decider, stream_id, n, index);
    return index;
}

uint32_t
sim__decide(struct sim_decider *decider, struct sim_stream *stream, uint32_t stream_id,
        enum sim_kind kind, uint32_t n, struct sim_odds odds,
        void (*describe)(const struct sim_choice *, uint32_t, struct sim_alternative *),
        const void *context)
{
    rt_assert(n >= 2 && n <= SIM_ALTERNATIVES_MAX);
    const struct sim_choice choice = {
            .kind = kind,
            .n = n,
            .odds = odds,
            .stream = stream_id,
            .ordinal = stream->ordinal++,
            .key = decider->strategy->ops->keyless ? 0 : key_of(decider, stream, stream_id),
            .queue = kind == SIM_KIND_RUN ? &decider->queue : NULL,
            .describe = describe,
            .context = context,
    };
    decider->run_choices += kind == SIM_KIND_RUN;
    uint32_t index = ask(decider, &choice);
    rt_assert(index < n);
    if (index != 0 && !decider->tape_off && !write_down(decider, &choice, index) &&
            !decider->strategy->ops->repeats) {
        index = 0; /* Not reproducible: the run can be replayed only from its tape. */
    }
    sim__decided(decider, stream_id, n, index);
    /* Shown for this choice: the next one may be of a loop that shows none. */
    decider->queue = (struct sim_queue){NULL, 0, 0, 1};
    return index;
}
