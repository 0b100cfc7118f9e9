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
#include <xxhash.h>

#include "runtime/base/assert.h"

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

struct sim_shared_layout
sim_shared_lay_out(const void *mapping, const struct sim_shared_sizes *sizes)
{
    char *base = (char *)(uintptr_t)mapping;
    struct sim_shared_layout layout = {.size = 0};
    struct sim_record_memory *record = &layout.memory.record;
    size_t at = 0;
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
    struct sim_tape *tape = &layout.memory.tape;
    tape->capacity = sizes->deviations;
    tape->entries = part(base, &at, sizes->deviations, sizeof(*tape->entries));
    layout.incoming.capacity = sizes->deviations;
    layout.incoming.entries = part(base, &at, sizes->deviations, sizeof(*layout.incoming.entries));
    /* One run's worst case, twice: whatever was kept before, a last one fits. */
    layout.tapes_size = (size_t)sizes->deviations * DEVIATION_BYTES_MAX * 2;
    layout.tapes = part(base, &at, layout.tapes_size, 1);
    layout.sorted = part(base, &at, sizes->deviations, sizeof(*layout.sorted));
    layout.copy = part(base, &at, sizes->deviations, sizeof(*layout.copy));
    layout.facts = part(base, &at, sim_facts_size(SIM_JOB_FACTS_MAX), 1);
    layout.strategy_memory = part(base, &at, SIM_STRATEGY_BYTES_MAX, 1);
    layout.size = at;
    rt_assert(layout.size >= sizeof(struct sim_shared));
    return layout;
}

/* Over pages of zeros. */
static void
set_layout(struct sim_shared *shared, const struct sim_shared_sizes *sizes)
{
    rt_assert(((uintptr_t)shared & (LINE - 1)) == 0);
    const struct sim_shared_layout layout = sim_shared_lay_out(shared, sizes);
    shared->memory = layout.memory;
    shared->incoming = layout.incoming;
    shared->tapes = layout.tapes;
    shared->sorted = layout.sorted;
    shared->copy = layout.copy;
    shared->strategy_memory = layout.strategy_memory;
    sim_facts_lay_out(&shared->facts, layout.facts, SIM_JOB_FACTS_MAX);
}

/* Pages of zeros; at `place`, instead of those that are there, or anywhere (NULL). */
static void *
take_pages(void *place, size_t size)
{
    rt_assert(size > 0);
    int fixed = place != NULL ? MAP_FIXED : 0;
    void *base = mmap(place, size, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (base == MAP_FAILED) {
        return NULL;
    }
    /* Workers get their own, and no other's (worker.c). */
    (void)madvise(base, size, MADV_DONTFORK);
    return base;
}

struct sim_shared *
sim_shared_new(const struct sim_shared_sizes *sizes)
{
    rt_assert((sizes->events & (sizes->events - 1)) == 0);
    void *base = take_pages(NULL, sim_shared_lay_out(NULL, sizes).size);
    if (base != NULL) {
        set_layout(base, sizes);
    }
    return base;
}

void
sim_shared_free(struct sim_shared **shared, const struct sim_shared_sizes *sizes)
{
    rt_assert(sizes != NULL);
    if (*shared != NULL) {
        (void)munmap(*shared, sim_shared_lay_out(NULL, sizes).size);
        *shared = NULL;
    }
}

bool
sim_shared_renew(
        struct sim_shared *shared, const struct sim_shared_sizes *sizes, const struct sim_job *job)
{
    rt_assert(job->count >= 1);
    if (take_pages(shared, sim_shared_lay_out(NULL, sizes).size) == NULL) {
        return false;
    }
    set_layout(shared, sizes);
    memcpy(&shared->job, job, sizeof(*job));
    shared->recorder.memory = shared->memory.record;
    shared->ready = true;
    sim_shared_begin(shared);
    return true;
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

/* Sums of these, modulo 2^64, so that it does not matter in which order they were added. */
static uint64_t
hash_of_place(uint32_t arm, uint64_t order, uint32_t nth)
{
    rt_assert(nth < SIM_JOB_RUNS_MAX);
    return (order ^ ((uint64_t)arm << 32 | nth)) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t
hash_of_check(const struct sim_check *check, uint32_t nth)
{
    return XXH3_64bits_withSeed(check, sizeof(*check), nth);
}

static uint64_t
hash_of_kept(const struct sim_shared *shared, uint32_t nth)
{
    rt_assert(nth < SIM_JOB_RUNS_MAX);
    struct sim_kept kept;
    memcpy(&kept, &shared->kept[nth], sizeof(kept));
    /* Found later, by a process that may be killed meanwhile. */
    kept.outcome.missing_wake_step = 0;
    kept.outcome.lost_step = 0;
    uint64_t tape = XXH3_64bits(shared->tapes + kept.tape_offset, kept.tape_length);
    return XXH3_64bits_withSeed(&kept, sizeof(kept), tape + nth);
}

static uint64_t
sum_of(const struct sim_results *results)
{
    return XXH3_64bits(results, offsetof(struct sim_results, sum));
}

static bool
rows_match(const struct sim_shared *shared, const struct sim_results *results)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < results->done; i++) {
        sum += hash_of_place(shared->arms[i], shared->orders[i], i);
    }
    for (uint32_t i = 0; i < results->check_count; i++) {
        sum += hash_of_check(&shared->checks[i], i);
    }
    for (uint32_t i = 0; i < results->kept_count; i++) {
        uint64_t end = (uint64_t)shared->kept[i].tape_offset + shared->kept[i].tape_length;
        if (end > results->tapes_used) {
            return false;
        }
        sum += hash_of_kept(shared, i);
    }
    return sum == results->rows;
}

bool
sim_shared_checksums_match(const struct sim_shared *shared, bool all)
{
    const struct sim_results *results = sim_shared_results(shared);
    return sum_of(results) == results->sum && (!all || rows_match(shared, results));
}

void
sim_shared_begin(struct sim_shared *shared)
{
    shared->results[0] = (struct sim_results){.done = 0};
    shared->results[0].sum = sum_of(&shared->results[0]);
    shared->which = 0;
    shared->fifo = SIM_FIFO_NOT_ASKED;
    shared->mismatch[0] = '\0';
    shared->ignored = 0;
    shared->exhausted = false;
    shared->order = 0;
    shared->covers_more = false;
    sim_facts_clear(&shared->facts);
    shared->stop = false;
}

static void
keep(struct sim_shared *shared, struct sim_results *results, const struct sim_outcome *outcome,
        uint32_t arm)
{
    rt_assert(results->kept_count < SIM_JOB_RUNS_MAX);
    struct sim_kept *kept = &shared->kept[results->kept_count++];
    struct sim_tape tape = shared->memory.tape;
    tape.count = outcome->deviations <= tape.capacity ? outcome->deviations : tape.capacity;
    kept->outcome = *outcome;
    kept->arm = arm;
    kept->reported = false;
    kept->tape_offset = (uint32_t)results->tapes_used;
    kept->tape_length = (uint32_t)sim_tape_encode(&tape, shared->tapes + results->tapes_used);
    results->tapes_used += kept->tape_length;
    rt_assert(kept->tape_length <= shared->memory.tape.capacity * DEVIATION_BYTES_MAX);
    results->rows += hash_of_kept(shared, results->kept_count - 1);
}

static void
add_to_totals(struct sim_sweep_totals *totals, const struct sim_outcome *outcome)
{
    rt_assert(totals->runs < SIM_JOB_RUNS_MAX);
    totals->runs++;
    totals->steps += outcome->steps;
    totals->sim_ns += outcome->sim_ns;
    totals->digest += sim_run_hash(outcome->seed, outcome->digest);
    totals->verdicts[outcome->verdict]++;
}

/* A run of a search that a replica is to repeat needs its tape. */
static bool
is_kept(const struct sim_job *job, const struct sim_outcome *outcome, bool checked)
{
    rt_assert(outcome->verdict < SIM_VERDICTS);
    return outcome->verdict != SIM_VERDICT_PASS || job->keep_all ||
           (checked && job->spec.how == SIM_HOW_SEARCH);
}

void
sim_shared_add(struct sim_shared *shared, const struct sim_outcome *outcome, uint32_t arm)
{
    rt_assert(shared->which <= 1);
    const struct sim_job *job = &shared->job;
    uint32_t other = shared->which ^ 1;
    struct sim_results *results = &shared->results[other];
    *results = *sim_shared_results(shared);
    rt_assert(results->done < job->count);
    rt_assert(outcome->verdict < SIM_VERDICTS);
    bool checked = job->check_percent > 0 && outcome->digest != 0 &&
                   sim_seed_is_checked(outcome->seed, job->check_percent);
    shared->arms[results->done] = (uint8_t)arm;
    shared->orders[results->done] = shared->order;
    results->rows += hash_of_place((uint8_t)arm, shared->order, results->done);
    results->done++;
    add_to_totals(&results->totals, outcome);
    if (shared->covers_more || is_kept(job, outcome, checked)) {
        keep(shared, results, outcome, arm);
    }
    if (checked) {
        struct sim_check *check = &shared->checks[results->check_count];
        *check = (struct sim_check){outcome->seed, outcome->digest};
        results->rows += hash_of_check(check, results->check_count++);
    }
    results->sum = sum_of(results);
    /* From here on the run counts. */
    atomic_signal_fence(memory_order_release);
    shared->which = other;
}

const struct sim_outcome *
sim_shared_last_kept(const struct sim_shared *shared)
{
    const struct sim_results *results = sim_shared_results(shared);
    rt_assert(results->kept_count > 0);
    return &shared->kept[results->kept_count - 1].outcome;
}

void
sim_shared_replace_last(struct sim_shared *shared, const struct sim_outcome *outcome)
{
    rt_assert(outcome->verdict < SIM_VERDICTS);
    struct sim_results *results = &shared->results[shared->which & 1];
    rt_assert(results->kept_count > 0);
    uint32_t last = results->kept_count - 1;
    rt_assert(shared->kept[last].outcome.seed == outcome->seed);
    results->totals.verdicts[shared->kept[last].outcome.verdict]--;
    results->totals.verdicts[outcome->verdict]++;
    results->rows -= hash_of_kept(shared, last);
    shared->kept[last].outcome = *outcome;
    results->rows += hash_of_kept(shared, last);
    results->sum = sum_of(results);
}

bool
sim_shared_continues(const struct sim_shared *shared)
{
    const struct sim_results *results = sim_shared_results(shared);
    size_t worst = (size_t)shared->memory.tape.capacity * DEVIATION_BYTES_MAX;
    if (results->done == shared->job.count || shared->stop || results->tapes_used > worst ||
            shared->exhausted || shared->facts.count > SIM_JOB_FACTS_MAX - SIM_RUN_FACTS_MAX) {
        return false;
    }
    return !shared->job.stop_at_failure ||
           results->totals.verdicts[SIM_VERDICT_PASS] == results->totals.runs;
}
