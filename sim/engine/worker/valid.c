/*
 * valid.c -- is a mapping still valid, after a run that may have written anywhere?
 *
 * Checked is everything that the parent uses as an index, a length, a pointer or a text.
 * A number that is only reported is not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/engine/worker/shared.h"

/* A bool holds 0 or 1; reading another byte as a bool is not defined. */
static bool
is_bool(const volatile bool *value)
{
    return *(const volatile uint8_t *)value <= 1;
}

static bool
is_text(const char *text, size_t size)
{
    rt_assert(size > 0);
    return memchr(text, '\0', size) != NULL;
}

static bool
same_record(const struct sim_record_memory *a, const struct sim_record_memory *b)
{
    return a->events == b->events && a->events_capacity == b->events_capacity &&
           a->hashes == b->hashes && a->hashes_capacity == b->hashes_capacity &&
           a->texts == b->texts && a->texts_capacity == b->texts_capacity && a->bytes == b->bytes &&
           a->bytes_capacity == b->bytes_capacity;
}

static bool
same_tape(const struct sim_tape *a, const struct sim_tape *b)
{
    return a->entries == b->entries && a->capacity == b->capacity && a->count <= a->capacity;
}

static bool
layout_is_valid(const struct sim_shared *shared, const struct sim_shared_layout *layout)
{
    rt_assert(((uintptr_t)shared & 63) == 0);
    const struct sim_facts *facts = &shared->facts;
    struct sim_facts laid;
    sim_facts_lay_out(&laid, layout->facts, SIM_JOB_FACTS_MAX);
    return facts->entries == laid.entries && facts->index == laid.index &&
           facts->capacity == laid.capacity && facts->count <= facts->capacity &&
           shared->strategy_memory == layout->strategy_memory &&
           same_record(&shared->memory.record, &layout->memory.record) &&
           same_tape(&shared->memory.tape, &layout->memory.tape) &&
           same_tape(&shared->incoming, &layout->incoming) && shared->tapes == layout->tapes &&
           shared->sorted == layout->sorted && shared->copy == layout->copy;
}

/* A process may have been killed while it wrote the last one: that one may be incomplete, but it
 * lies within the memory of texts, which ends with a 0. */
static bool
texts_are_valid(const struct sim_recorder *recorder)
{
    rt_assert(recorder->memory.bytes_capacity > 0);
    const struct sim_record_memory *memory = &recorder->memory;
    for (uint32_t i = 0; i < recorder->texts; i++) {
        const struct sim_text *text = &memory->texts[i];
        uint64_t end = (uint64_t)text->offset + text->length;
        if (text->kind > SIM_TEXT_WAITER || end >= memory->bytes_capacity) {
            return false;
        }
    }
    return memory->bytes[memory->bytes_capacity - 1] == '\0';
}

static bool
recorder_is_valid(const struct sim_recorder *recorder, const struct sim_shared_layout *layout)
{
    return same_record(&recorder->memory, &layout->memory.record) &&
           recorder->hashes <= layout->memory.record.hashes_capacity &&
           recorder->texts <= layout->memory.record.texts_capacity &&
           recorder->bytes <= layout->memory.record.bytes_capacity &&
           is_bool(&recorder->events_on) && is_bool(&recorder->texts_on) &&
           is_bool(&recorder->texts_lost) && texts_are_valid(recorder);
}

/* Not laid out by a worker yet: as the system gave it. */
static bool
is_blank(const struct sim_recorder *recorder)
{
    return recorder->memory.events == NULL && recorder->count == 0 && recorder->texts == 0;
}

static bool
outcome_is_valid(const struct sim_outcome *outcome)
{
    return outcome->verdict < SIM_VERDICTS && outcome->oracle < SIM_ORACLES &&
           outcome->order <= SIM_ORDER_LAST && outcome->stack.count <= SIM_STACK_FRAMES &&
           is_bool(&outcome->stack.returns) && is_bool(&outcome->stack.function) &&
           is_text(outcome->actor_name, sizeof(outcome->actor_name)) &&
           outcome->reason < SIM_REASONS && outcome->asked <= 1 &&
           is_text(outcome->message, sizeof(outcome->message));
}

/* A write without sim_shared_add leaves a wrong checksum. */
static bool
results_are_valid(const struct sim_shared *shared, const struct sim_job *job)
{
    rt_assert(job->count <= SIM_JOB_RUNS_MAX);
    return shared->which <= 1 && sim_shared_checksums_match(shared, false) &&
           sim_shared_results(shared)->done <= job->count &&
           sim_shared_checksums_match(shared, true);
}

static bool
crash_is_valid(const struct sim_crash *crash)
{
    return crash->signal >= 0 && crash->signal < NSIG && is_bool(&crash->overflow) &&
           is_bool(&crash->near_null) && is_bool(&crash->unknown) &&
           (uint32_t)crash->access <= SIM_CRASH_CALL && crash->frame_count <= SIM_CRASH_FRAMES;
}

/* The replays that judge a run write no tape. */
static bool
is_aside(const struct sim_tape *tape)
{
    return tape->entries == NULL && tape->count == 0 && tape->capacity == 0;
}

static bool
ended_is_valid(const struct sim_ended *ended, const struct sim_shared_layout *layout, uint64_t seed)
{
    return outcome_is_valid(&ended->outcome) && ended->outcome.seed == seed &&
           recorder_is_valid(&ended->recorder, layout);
}

/* What reap.c reads in the world of a worker that has begun: of a run in progress, of one that has
 * ended and is being judged, or of none. */
static bool
world_is_valid(const struct sim_shared *shared, const struct sim_shared_layout *layout)
{
    const struct sim_world *world = &shared->world;
    if (!is_bool(&world->ended.asking) || !recorder_is_valid(&world->recorder, layout) ||
            world->order > SIM_ORDER_LAST) {
        return false;
    }
    if (world->ended.asking && !ended_is_valid(&world->ended, layout, shared->seed)) {
        return false;
    }
    bool asking = world->ended.asking || shared->stage != SIM_STAGE_RUN;
    return same_tape(&world->decider.tape, &layout->memory.tape) ||
           (asking && is_aside(&world->decider.tape));
}

bool
sim_shared_is_valid(const struct sim_shared *shared, const struct sim_shared_sizes *sizes,
        const struct sim_job *job)
{
    rt_assert(job->count >= 1);
    const struct sim_shared_layout layout = sim_shared_lay_out(shared, sizes);
    if (!layout_is_valid(shared, &layout) || memcmp(&shared->job, job, sizeof(*job)) != 0 ||
            !results_are_valid(shared, job) || !crash_is_valid(&shared->crash)) {
        return false;
    }
    if (!is_bool(&shared->ready) || !is_bool(&shared->exhausted) ||
            !is_bool(&shared->covers_more) || !is_bool(&shared->stop) ||
            shared->stage > SIM_STAGE_PAST || (uint32_t)shared->fifo > SIM_FIFO_YES ||
            !is_text(shared->mismatch, sizeof(shared->mismatch))) {
        return false;
    }
    return (is_blank(&shared->recorder) || recorder_is_valid(&shared->recorder, &layout)) &&
           (!shared->ready || world_is_valid(shared, &layout));
}
