/*
 * valid.c -- is a mapping still valid, after a run that may have written anywhere?
 *
 * Checked is everything that the parent uses as an index, a length or a text. For pointers it has
 * its own copies, and a number that is only reported is not checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/engine/worker/shared.h"

/* A number of a struct, and the most that it may be: of a bool 1, as reading another value is not
 * defined. */
struct bound {
    size_t offset;
    size_t size;
    uint64_t most;
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define BOUND(type, field, most) \
    { \
        offsetof(struct type, field), sizeof(((struct type *)0)->field), most \
    }

static const struct bound shared_bounds[] = {
        BOUND(sim_shared, done, SIM_JOB_RUNS_MAX),
        BOUND(sim_shared, stage, SIM_STAGE_PAST),
        BOUND(sim_shared, fifo, SIM_FIFO_YES),
        BOUND(sim_shared, facts.count, SIM_JOB_FACTS_MAX),
        BOUND(sim_shared, ready, true),
        BOUND(sim_shared, exhausted, true),
        BOUND(sim_shared, covers_more, true),
        BOUND(sim_shared, stop, true),
        BOUND(sim_shared, crash.signal, NSIG - 1),
        BOUND(sim_shared, crash.overflow, true),
        BOUND(sim_shared, crash.near_null, true),
        BOUND(sim_shared, crash.unknown, true),
        BOUND(sim_shared, crash.access, SIM_CRASH_CALL),
        BOUND(sim_shared, crash.frame_count, SIM_CRASH_FRAMES),
        BOUND(sim_shared, world.order, SIM_ORDER_LAST),
        BOUND(sim_shared, world.ended.asking, true),
};
static const struct bound outcome_bounds[] = {
        BOUND(sim_outcome, verdict, SIM_VERDICTS - 1),
        BOUND(sim_outcome, oracle, SIM_ORACLES - 1),
        BOUND(sim_outcome, order, SIM_ORDER_LAST),
        BOUND(sim_outcome, reason, SIM_REASONS - 1),
        BOUND(sim_outcome, asked, true),
        BOUND(sim_outcome, stack.count, SIM_STACK_FRAMES),
        BOUND(sim_outcome, stack.returns, true),
        BOUND(sim_outcome, stack.function, true),
};
static const struct bound recorder_bounds[] = {
        BOUND(sim_recorder, events_on, true),
        BOUND(sim_recorder, texts_on, true),
        BOUND(sim_recorder, texts_lost, true),
};

static bool
is_within(const void *object, const struct bound *bounds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0; /* The low bytes come first, as everywhere here (token.h). */
        rt_assert(bounds[i].size <= sizeof(value));
        memcpy(&value, (const char *)object + bounds[i].offset, bounds[i].size);
        if (value > bounds[i].most) {
            return false;
        }
    }
    return true;
}

static bool
is_text(const char *text, size_t size)
{
    rt_assert(size > 0);
    return memchr(text, '\0', size) != NULL;
}

static bool
outcome_is_valid(const struct sim_outcome *outcome)
{
    return is_within(outcome, outcome_bounds, COUNT(outcome_bounds)) &&
           is_text(outcome->actor_name, sizeof(outcome->actor_name)) &&
           is_text(outcome->message, sizeof(outcome->message));
}

/* A process may have been killed while it wrote the last text: that one may be incomplete, but it
 * lies within the memory of texts, which ends with a 0. */
static bool
recorder_is_valid(struct sim_recorder *recorder, const struct sim_record_memory *memory)
{
    rt_assert(memory->bytes_capacity > 0);
    recorder->memory = *memory;
    if (!is_within(recorder, recorder_bounds, COUNT(recorder_bounds)) ||
            recorder->hashes > memory->hashes_capacity ||
            recorder->texts > memory->texts_capacity || recorder->bytes > memory->bytes_capacity) {
        return false;
    }
    for (uint32_t i = 0; i < recorder->texts; i++) {
        const struct sim_text *text = &memory->texts[i];
        uint64_t end = (uint64_t)text->offset + text->length;
        if (text->kind > SIM_TEXT_STACK || end >= memory->bytes_capacity) {
            return false;
        }
    }
    return memory->bytes[memory->bytes_capacity - 1] == '\0';
}

static bool
results_are_valid(const struct sim_shared *shared)
{
    bool valid = shared->done <= shared->job.count;
    for (uint32_t i = 0; i < shared->done && valid; i++) {
        valid = sim_shared_sum_holds(shared, i);
    }
    return valid;
}

/* What reap.c reads in the world of a worker: of a run in progress, of one that has ended and is
 * being judged, or of none. */
static bool
world_is_valid(struct sim_shared *shared, const struct sim_shared_parts *parts)
{
    struct sim_world *world = &shared->world;
    struct sim_ended *ended = &world->ended;
    bool ended_is_valid = !ended->asking || (outcome_is_valid(&ended->outcome) &&
                                                    ended->outcome.seed == shared->seed);
    return ended_is_valid && recorder_is_valid(&ended->recorder, &parts->memory.record) &&
           recorder_is_valid(&world->recorder, &parts->memory.record) &&
           world->decider.tape.count <= parts->memory.tape.capacity;
}

bool
sim_shared_is_valid(
        struct sim_shared *shared, const struct sim_shared_parts *parts, const struct sim_job *job)
{
    rt_assert(job->count >= 1);
    rt_assert(job->count <= SIM_JOB_RUNS_MAX);
    return memcmp(&shared->parts, parts, sizeof(*parts)) == 0 &&
           memcmp(&shared->job, job, sizeof(*job)) == 0 &&
           is_within(shared, shared_bounds, COUNT(shared_bounds)) &&
           shared->facts.entries == parts->facts && results_are_valid(shared) &&
           is_text(shared->mismatch, sizeof(shared->mismatch)) &&
           recorder_is_valid(&shared->recorder, &parts->memory.record) &&
           world_is_valid(shared, parts);
}
