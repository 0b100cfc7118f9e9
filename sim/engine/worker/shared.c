/*
 * shared.c -- laying out the mapping, and adding up results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/engine/worker/shared.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"

/* Encoded deviations: a run's may take this much at most (tape.h: six varints of 32 bits). */
#define DEVIATION_BYTES_MAX 30u
#define LINE 64u

const struct sim_shared_sizes sim_shared_for_sweeps = {
        .events = 1u << 16, .texts = 16, .text_bytes = 1u << 10, .deviations = 1u << 18};
const struct sim_shared_sizes sim_shared_for_reading = {
        .events = 1u << 20, .texts = 1u << 18, .text_bytes = 1u << 24, .deviations = 1u << 18};
const struct sim_shared_sizes sim_shared_for_candidates = {
        .events = 1u << 18, .texts = 16, .text_bytes = 1u << 10, .deviations = 1u << 18};

/* ---- The mapping. ---------------------------------------------------------------------------- */

/* The next `count` elements of `size` bytes; `*at` is what is used so far. No base: only counts. */
static void *
part(char *base, size_t *at, size_t count, size_t size)
{
    rt_assert(count > 0);
    rt_assert(size > 0);
    size_t start = (*at + LINE - 1) & ~(size_t)(LINE - 1);
    *at = start + count * size;
    return base != NULL ? base + start : NULL;
}

static void
lay_out(void *base, const struct sim_shared_sizes *sizes, struct sim_shared_parts *ret)
{
    struct sim_record_memory *record = &ret->memory.record;
    uint32_t deviations = sizes->deviations;
    size_t at = 0;
    memset(ret, 0, sizeof(*ret));
    (void)part(base, &at, 1, sizeof(struct sim_shared));
    record->events_capacity = sizes->events;
    record->events = part(base, &at, sizes->events, sizeof(*record->events));
    /* Hashes outlive the ring: sixteen rings full. */
    record->hashes_capacity = sizes->events / SIM_CHUNK * 16;
    record->hashes = part(base, &at, record->hashes_capacity, sizeof(*record->hashes));
    record->texts_capacity = sizes->texts;
    record->texts = part(base, &at, sizes->texts, sizeof(*record->texts));
    record->bytes_capacity = sizes->text_bytes;
    record->bytes = part(base, &at, sizes->text_bytes, 1);
    ret->memory.tape.capacity = deviations;
    ret->memory.tape.entries = part(base, &at, deviations, sizeof(struct sim_deviation));
    ret->incoming.capacity = deviations;
    ret->incoming.entries = part(base, &at, deviations, sizeof(struct sim_deviation));
    /* One run's worst case, twice: whatever was kept before, a last one fits. */
    ret->tapes_size = (size_t)deviations * DEVIATION_BYTES_MAX * 2;
    ret->tapes = part(base, &at, ret->tapes_size, 1);
    ret->sorted = part(base, &at, deviations, sizeof(*ret->sorted));
    ret->copy = part(base, &at, deviations, sizeof(*ret->copy));
    ret->facts = part(base, &at, sim_facts_size(SIM_JOB_FACTS_MAX), 1);
    ret->strategy_memory = part(base, &at, SIM_STRATEGY_BYTES_MAX, 1);
    ret->size = at;
    rt_assert(ret->size >= sizeof(struct sim_shared));
}

/* Over pages of zeros. */
static void
begin_mapping(struct sim_shared *shared, const struct sim_shared_parts *parts)
{
    rt_assert(((uintptr_t)shared & (LINE - 1)) == 0);
    memcpy(&shared->parts, parts, sizeof(*parts));
    sim_facts_lay_out(&shared->facts, parts->facts, SIM_JOB_FACTS_MAX);
}

/* Pages of zeros; at `place`, instead of those that are there, or anywhere (NULL). */
static void *
take_pages(void *place, size_t size)
{
    rt_assert(size > 0);
    int fixed = place != NULL ? MAP_FIXED : 0;
    void *base = mmap(place, size, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    (void)sim_heap_must(base != MAP_FAILED ? base : NULL);
    /* Workers get their own, and no other's (worker.c). */
    (void)madvise(base, size, MADV_DONTFORK);
    return base;
}

struct sim_shared *
sim_shared_new(const struct sim_shared_sizes *sizes, struct sim_shared_parts *ret_parts)
{
    rt_assert((sizes->events & (sizes->events - 1)) == 0);
    lay_out(NULL, sizes, ret_parts);
    void *base = take_pages(NULL, ret_parts->size);
    lay_out(base, sizes, ret_parts);
    begin_mapping(base, ret_parts);
    return base;
}

void
sim_shared_free(struct sim_shared **shared, const struct sim_shared_parts *parts)
{
    if (*shared != NULL) {
        rt_assert(parts->size >= sizeof(**shared));
        (void)munmap(*shared, parts->size);
        *shared = NULL;
    }
}

void
sim_shared_renew(
        struct sim_shared *shared, const struct sim_shared_parts *parts, const struct sim_job *job)
{
    rt_assert(job->count >= 1);
    (void)take_pages(shared, parts->size);
    begin_mapping(shared, parts);
    memcpy(&shared->job, job, sizeof(*job));
    shared->recorder.memory = parts->memory.record;
    shared->ready = true;
    sim_shared_begin(shared);
}

void
sim_shared_clear(void *memory, size_t size)
{
    rt_assert(memory != NULL);
    uint8_t *bytes = memory;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = -(uintptr_t)bytes & (page - 1);
    before = before < size ? before : size;
    size_t whole = (size - before) & ~(page - 1);
    rt_assert(before + whole <= size);
    memset(bytes, 0, before);
    if (whole > 0 && madvise(bytes + before, whole, MADV_REMOVE) != 0) {
        memset(bytes + before, 0, whole);
    }
    memset(bytes + before + whole, 0, size - before - whole);
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
    rt_assert(percent <= 100);
    return XXH3_64bits(&seed, sizeof(seed)) % 100 < percent;
}

const struct sim_run_result *
sim_shared_last(const struct sim_shared *shared)
{
    static const struct sim_run_result none;
    uint32_t done = shared->done;
    return done > 0 && done <= SIM_JOB_RUNS_MAX ? &shared->results[done - 1] : &none;
}

static uint64_t
hash_of_kept(const struct sim_shared *shared, const struct sim_kept *kept)
{
    struct sim_kept copy;
    memcpy(&copy, kept, sizeof(copy));
    /* Found later, by a process that may be killed meanwhile. */
    copy.outcome.missing_wake_step = 0;
    copy.outcome.lost_step = 0;
    uint64_t tape = XXH3_64bits(shared->parts.tapes + kept->tape_offset, kept->tape_length);
    return XXH3_64bits_withSeed(&copy, sizeof(copy), tape);
}

/* The serial number is in it: what an older job has left does not count. */
static uint64_t
sum_of(const struct sim_shared *shared, uint32_t nth)
{
    rt_assert(nth < SIM_JOB_RUNS_MAX);
    const struct sim_run_result *result = &shared->results[nth];
    uint32_t before = nth > 0 ? shared->results[nth - 1].kept_count : 0;
    uint64_t kept = result->kept_count > before ? hash_of_kept(shared, &shared->kept[before]) : 0;
    return XXH3_64bits_withSeed(result, offsetof(struct sim_run_result, sum),
            kept + shared->job.serial * SIM_JOB_RUNS_MAX + nth);
}

bool
sim_shared_sum_holds(const struct sim_shared *shared, uint32_t nth)
{
    rt_assert(nth < SIM_JOB_RUNS_MAX);
    const struct sim_run_result *result = &shared->results[nth];
    uint32_t before = nth > 0 ? shared->results[nth - 1].kept_count : 0;
    if (result->verdict >= SIM_VERDICTS || before > nth || result->kept_count < before ||
            result->kept_count > before + 1) {
        return false;
    }
    const struct sim_kept *kept = &shared->kept[before];
    bool is_kept = result->kept_count > before;
    bool fits =
            !is_kept || (uint64_t)kept->tape_offset + kept->tape_length <= shared->parts.tapes_size;
    return fits && sum_of(shared, nth) == result->sum;
}

void
sim_shared_begin(struct sim_shared *shared)
{
    shared->done = 0;
    shared->fifo = SIM_FIFO_NOT_ASKED;
    shared->mismatch[0] = '\0';
    shared->ignored = 0;
    shared->exhausted = false;
    shared->order = 0;
    shared->covers_more = false;
    sim_facts_init(&shared->facts, shared->parts.facts, SIM_JOB_FACTS_MAX);
    shared->stop = false;
}

/* After the last that is kept. */
static void
keep(struct sim_shared *shared, struct sim_run_result *result, const struct sim_outcome *outcome)
{
    rt_assert(result->kept_count < SIM_JOB_RUNS_MAX);
    struct sim_kept *kept = &shared->kept[result->kept_count++];
    struct sim_tape tape = shared->parts.memory.tape;
    tape.count = outcome->deviations <= tape.capacity ? outcome->deviations : tape.capacity;
    kept->outcome = *outcome;
    kept->arm = result->arm;
    kept->reported = false;
    kept->tape_offset = (uint32_t)result->tapes_used;
    kept->tape_length = (uint32_t)sim_tape_encode(&tape, shared->parts.tapes + result->tapes_used);
    result->tapes_used += kept->tape_length;
    rt_assert(kept->tape_length <= tape.capacity * DEVIATION_BYTES_MAX);
}

/* A run of a search that a replica is to repeat needs its tape. */
static bool
is_kept(const struct sim_job *job, const struct sim_outcome *outcome)
{
    rt_assert(outcome->verdict < SIM_VERDICTS);
    return outcome->verdict != SIM_VERDICT_PASS || job->keep_all ||
           (job->spec.how == SIM_HOW_SEARCH && outcome->digest != 0 &&
                   sim_seed_is_checked(outcome->seed, job->check_percent));
}

void
sim_shared_add(struct sim_shared *shared, const struct sim_outcome *outcome, uint32_t arm)
{
    const struct sim_job *job = &shared->job;
    uint32_t nth = shared->done;
    const struct sim_run_result *last = sim_shared_last(shared);
    struct sim_run_result *result = &shared->results[nth];
    rt_assert(nth < job->count);
    rt_assert(outcome->verdict < SIM_VERDICTS);
    *result = (struct sim_run_result){
            .seed = outcome->seed,
            .digest = outcome->digest,
            .steps = outcome->steps,
            .sim_ns = outcome->sim_ns,
            .order = shared->order,
            .tapes_used = last->tapes_used,
            .kept_count = last->kept_count,
            .failures = last->failures + (outcome->verdict != SIM_VERDICT_PASS),
            .arm = (uint8_t)arm,
            .verdict = outcome->verdict,
            .idle = outcome->oracle == SIM_ORACLE_IDLE,
    };
    if (shared->covers_more || is_kept(job, outcome)) {
        keep(shared, result, outcome);
    }
    rt_assert(result->kept_count <= nth + 1);
    rt_assert(result->failures <= nth + 1);
    result->sum = sum_of(shared, nth);
    /* From here on the run counts. */
    atomic_signal_fence(memory_order_release);
    shared->done = nth + 1;
}

const struct sim_outcome *
sim_shared_last_kept(const struct sim_shared *shared)
{
    rt_assert(sim_shared_last(shared)->kept_count > 0);
    return &shared->kept[sim_shared_last(shared)->kept_count - 1].outcome;
}

void
sim_shared_explained(struct sim_shared *shared, const struct sim_outcome *outcome)
{
    rt_assert(shared->done == 1 && shared->results[0].kept_count == 1);
    shared->kept[0].outcome.stack = outcome->stack;
    memcpy(shared->kept[0].outcome.message, outcome->message, sizeof(outcome->message));
    shared->results[0].sum = sum_of(shared, 0);
}

void
sim_shared_replace_last(struct sim_shared *shared, const struct sim_outcome *outcome)
{
    rt_assert(shared->done > 0);
    rt_assert(sim_shared_last_kept(shared)->seed == outcome->seed);
    struct sim_run_result *result = &shared->results[shared->done - 1];
    rt_assert(result->seed == outcome->seed && result->verdict == SIM_VERDICT_PASS);
    result->verdict = outcome->verdict;
    result->idle = 0;
    result->failures++;
    shared->kept[result->kept_count - 1].outcome = *outcome;
    result->sum = sum_of(shared, shared->done - 1);
}

bool
sim_shared_continues(const struct sim_shared *shared)
{
    const struct sim_run_result *last = sim_shared_last(shared);
    size_t worst = (size_t)shared->parts.memory.tape.capacity * DEVIATION_BYTES_MAX;
    if (shared->done == shared->job.count || shared->stop || last->tapes_used > worst ||
            shared->exhausted || shared->facts.count > SIM_JOB_FACTS_MAX - SIM_RUN_FACTS_MAX) {
        return false;
    }
    return !shared->job.stop_at_failure || last->failures == 0;
}
