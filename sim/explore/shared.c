/*
 * shared.c -- laying out the mapping, and adding up results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/explore/shared.h"

#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "runtime/base/assert.h"

/* Encoded deviations: a run's may take this much at most (tape.h: six varints of 32 bits). */
#define DEVIATION_BYTES_MAX 30u
#define LINE 64u

const struct sim_shared_sizes sim_shared_for_sweeps = {
        .events = 1u << 16, .texts = 16, .text_bytes = 1u << 10, .deviations = 1u << 16};
const struct sim_shared_sizes sim_shared_for_reading = {
        .events = 1u << 20, .texts = 1u << 18, .text_bytes = 1u << 24, .deviations = 1u << 18};

const char *
sim_how_name(uint32_t how)
{
    static const char *const names[] = {"random", "dullest", "tape", "tape"};
    rt_assert(how < sizeof(names) / sizeof(*names));
    return names[how];
}

/* ---- The mapping. ---------------------------------------------------------------------------- */

/* The next `count` things of `size` bytes; `*at` counts what is used. No base: only counts. */
static void *
lend(char *base, size_t *at, size_t count, size_t size)
{
    size_t start = (*at + LINE - 1) & ~(size_t)(LINE - 1);
    *at = start + count * size;
    return base != NULL ? base + start : NULL;
}

static size_t
tapes_size(const struct sim_shared_sizes *sizes)
{
    /* One run's worst case, twice: whatever was kept before, a last one fits. */
    return (size_t)sizes->deviations * DEVIATION_BYTES_MAX * 2;
}

/* Hands out the mapping at `base` (NULL: only measures) and returns its size. */
static size_t
lay_out(char *base, const struct sim_shared_sizes *sizes)
{
    struct sim_world_memory memory = {.tape = {.count = 0}};
    struct sim_record_memory *record = &memory.record;
    size_t at = 0;
    struct sim_shared *shared = lend(base, &at, 1, sizeof(*shared));
    record->events_capacity = sizes->events;
    record->events = lend(base, &at, sizes->events, sizeof(*record->events));
    /* Hashes outlive the ring: sixteen rings full. */
    record->hashes_capacity = sizes->events / SIM_CHUNK * 16;
    record->hashes = lend(base, &at, record->hashes_capacity, sizeof(*record->hashes));
    record->texts_capacity = sizes->texts;
    record->texts = lend(base, &at, sizes->texts, sizeof(*record->texts));
    record->bytes_capacity = sizes->text_bytes;
    record->bytes = lend(base, &at, sizes->text_bytes, 1);
    memory.tape.capacity = sizes->deviations;
    memory.tape.entries = lend(base, &at, sizes->deviations, sizeof(*memory.tape.entries));
    uint8_t *tapes = lend(base, &at, tapes_size(sizes), 1);
    uint32_t *sorted = lend(base, &at, sizes->deviations, sizeof(*sorted));
    struct sim_deviation *copy = lend(base, &at, sizes->deviations, sizeof(*copy));
    if (base != NULL) {
        shared->memory = memory;
        shared->tapes = tapes;
        shared->sorted = sorted;
        shared->copy = copy;
        shared->size = at;
    }
    return at;
}

struct sim_shared *
sim_shared_new(const struct sim_shared_sizes *sizes)
{
    rt_assert((sizes->events & (sizes->events - 1)) == 0);
    size_t size = lay_out(NULL, sizes);
    void *base = mmap(
            NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return NULL;
    }
    (void)lay_out(base, sizes);
    return base;
}

void
sim_shared_free(struct sim_shared **shared)
{
    if (*shared != NULL) {
        (void)munmap(*shared, (*shared)->size);
        *shared = NULL;
    }
}

/* ---- Results. -------------------------------------------------------------------------------- */

uint64_t
sim_run_hash(uint64_t seed, uint64_t digest)
{
    const uint64_t words[2] = {seed, digest};
    return XXH3_64bits(words, sizeof(words));
}

bool
sim_seed_is_checked(uint64_t seed, uint32_t percent)
{
    return XXH3_64bits(&seed, sizeof(seed)) % 100 < percent;
}

void
sim_shared_begin(struct sim_shared *shared)
{
    shared->done = 0;
    shared->totals = (struct sim_sweep_totals){.runs = 0};
    shared->kept_count = 0;
    shared->check_count = 0;
    shared->tapes_used = 0;
    shared->fifo = SIM_FIFO_NOT_ASKED;
    shared->mismatch[0] = '\0';
    shared->ignored = 0;
    shared->stop = false;
}

static void
keep(struct sim_shared *shared, const struct sim_outcome *outcome)
{
    struct sim_kept *kept = &shared->kept[shared->kept_count++];
    struct sim_tape tape = shared->memory.tape;
    tape.count = outcome->deviations <= tape.capacity ? outcome->deviations : tape.capacity;
    kept->outcome = *outcome;
    kept->told = false;
    kept->tape_offset = (uint32_t)shared->tapes_used;
    kept->tape_length = (uint32_t)sim_tape_encode(&tape, shared->tapes + shared->tapes_used);
    shared->tapes_used += kept->tape_length;
}

void
sim_shared_add(struct sim_shared *shared, const struct sim_outcome *outcome)
{
    const struct sim_job *job = &shared->job;
    rt_assert(shared->done < job->count);
    rt_assert(outcome->verdict < SIM_VERDICTS);
    shared->done++;
    shared->totals.runs++;
    shared->totals.steps += outcome->steps;
    shared->totals.sim_ns += outcome->sim_ns;
    shared->totals.digest += sim_run_hash(outcome->seed, outcome->digest);
    shared->totals.verdicts[outcome->verdict]++;
    if (outcome->verdict != SIM_VERDICT_PASS || job->keep_all) {
        keep(shared, outcome);
    }
    if (job->check_percent > 0 && outcome->digest != 0 &&
            sim_seed_is_checked(outcome->seed, job->check_percent)) {
        shared->checks[shared->check_count++] = (struct sim_check){outcome->seed, outcome->digest};
    }
}

bool
sim_shared_goes_on(const struct sim_shared *shared)
{
    size_t worst = (size_t)shared->memory.tape.capacity * DEVIATION_BYTES_MAX;
    if (shared->done == shared->job.count || shared->stop || shared->tapes_used > worst) {
        return false;
    }
    return !shared->job.stop_at_failure ||
           shared->totals.verdicts[SIM_VERDICT_PASS] == shared->totals.runs;
}
