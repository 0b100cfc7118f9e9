/*
 * batch.c -- appending the results of jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/sweep/state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/search/cover/edges.h"

void
sim_totals_add(struct sim_sweep_totals *totals, const struct sim_sweep_totals *more)
{
    rt_assert(totals->runs + more->runs >= totals->runs);
    totals->runs += more->runs;
    totals->steps += more->steps;
    totals->sim_ns += more->sim_ns;
    totals->digest += more->digest;
    totals->idle += more->idle;
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        totals->verdicts[i] += more->verdicts[i];
    }
}

/* `old` (malloc) with `count` more elements of `size` bytes after its `used`. */
static void *
append(void *old, size_t used, const void *more, size_t count, size_t size)
{
    rt_assert(size > 0);
    rt_assert(used == 0 || old != NULL);
    if (count == 0) {
        return old;
    }
    char *grown = sim_heap_resize(old, used + count, size);
    memcpy(grown + used * size, more, count * size);
    return grown;
}

static void
count_run(struct sim_sweep_totals *totals, const struct sim_run_result *result)
{
    rt_assert(result->verdict < SIM_VERDICTS);
    rt_assert(totals->verdicts[result->verdict] <= totals->runs);
    totals->runs++;
    totals->steps += result->steps;
    totals->sim_ns += result->sim_ns;
    totals->digest += sim_run_hash(result->seed, result->digest);
    totals->verdicts[result->verdict]++;
    totals->idle += result->idle;
}

void
sim_batch_add(struct sim_batch *batch, const struct sim_shared *shared, const uint64_t *edges)
{
    const struct sim_run_result *last = sim_shared_last(shared);
    uint64_t runs = batch->totals.runs;
    uint32_t done = shared->done;
    rt_assert(last->kept_count <= done);
    rt_assert(shared->facts.count <= SIM_JOB_FACTS_MAX);
    rt_assert(runs + done <= batch->asked);
    batch->kept = append(
            batch->kept, batch->kept_count, shared->kept, last->kept_count, sizeof(*batch->kept));
    for (uint32_t i = 0; i < last->kept_count; i++) {
        batch->kept[batch->kept_count++].tape_offset += (uint32_t)batch->tapes_size;
    }
    batch->tapes =
            append(batch->tapes, batch->tapes_size, shared->parts.tapes, last->tapes_used, 1);
    batch->tapes_size += last->tapes_used;
    rt_assert(batch->kept_count <= runs + done);
    batch->facts = append(batch->facts, batch->fact_count, shared->facts.entries,
            shared->facts.count, sizeof(*batch->facts));
    batch->fact_count += shared->facts.count;
    batch->results = append(batch->results, runs, shared->results, done, sizeof(*batch->results));
    for (uint32_t i = 0; i < done; i++) {
        count_run(&batch->totals, &batch->results[runs + i]);
    }
    if (edges != NULL) {
        batch->edges = append(
                batch->edges, runs, edges, done, (size_t)2 * sim_edges_words() * sizeof(*edges));
    }
    batch->exhausted = shared->exhausted;
    rt_assert(batch->totals.runs <= batch->asked);
}

const struct sim_kept *
sim_batch_find(const struct sim_batch *batch, uint64_t seed)
{
    rt_assert(batch->kept_count == 0 || batch->kept != NULL);
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        if (batch->kept[i].outcome.seed == seed) {
            return &batch->kept[i];
        }
    }
    return NULL;
}

void
sim_batch_done(struct sim_batch *batch)
{
    rt_assert(batch->totals.runs <= batch->asked);
    free(batch->kept);
    free(batch->tapes);
    free(batch->facts);
    free(batch->results);
    free(batch->edges);
    *batch = (struct sim_batch){.index = 0};
}
