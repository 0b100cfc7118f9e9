/*
 * code.c -- which edges of code the runs of a sweep have reached, in a build that counts them.
 *
 * Counted when a batch is merged, in the order of run index, so that the number of workers makes no
 * difference; stored with it. Other builds have no edges, and these functions do nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/cli/coverage.h"
#include "sim/cli/run/state.h"
#include "sim/search/cover/edges.h"

void
sim_run_code_name(struct sim_run *run)
{
    if (run->cli->settings.record != SIM_RECORD_NONE) {
        run->code.count = sim_code_names(&run->code.edges);
    }
}

bool
sim_run_code_open(struct sim_run *run)
{
    struct sim_run_code *code = &run->code;
    if (code->count == 0) {
        return true;
    }
    code->covered = sim_heap_new(code->count, sizeof(*code->covered));
    code->written = sim_heap_new(code->count, sizeof(*code->written));
    return sim_store_code_edges(run->store, code->edges, code->count) == SIM_STORE_OK ||
           sim_run_store_failed(run);
}

void
sim_run_code_begin(struct sim_run *run)
{
    struct sim_run_code *code = &run->code;
    for (uint32_t i = 0; i < code->count; i++) {
        code->covered[i] = (struct sim_code_covered){.edge = code->edges[i].id};
        code->written[i] = false;
    }
    code->reached = 0;
    code->last_new = 0;
    code->batch_runs = 0;
}

void
sim_run_code_done(struct sim_run *run)
{
    free(run->code.covered);
    free(run->code.written);
    free(run->code.batch_new);
    run->code = (struct sim_run_code){.count = 0};
}

/* Adds the 64 edges from `first` on that a run reached; how many of them none had before. */
static uint32_t
add_word(struct sim_run_code *code, uint32_t first, uint64_t reached, uint64_t before, uint64_t run)
{
    uint32_t added = 0;
    for (; reached != 0; reached &= reached - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(reached);
        /* The log is a worker's memory, which a run may have overwritten. */
        if (first + bit >= code->count) {
            break;
        }
        struct sim_code_covered *covered = &code->covered[first + bit];
        if (covered->runs == 0) {
            covered->first_run = run;
            added++;
        }
        covered->runs++;
        covered->before_fault += before >> bit & 1;
    }
    return added;
}

static uint32_t
add_run(struct sim_run_code *code, const uint64_t *sets, uint64_t run)
{
    uint32_t words = sim_edges_words();
    uint32_t added = 0;
    for (uint32_t i = 0; i < words; i++) {
        added += add_word(code, i * 64, sets[i], sets[words + i], run);
    }
    return added;
}

static const uint64_t *
sets_of(const struct sim_merged *batch, uint32_t place)
{
    return batch->edges + (size_t)2 * sim_edges_words() * place;
}

void
sim_run_code_batch(struct sim_run *run, const struct sim_merged *batch)
{
    struct sim_run_code *code = &run->code;
    code->batch_runs = 0;
    if (code->count == 0 || batch->edges == NULL) {
        return;
    }
    free(code->batch_new);
    code->batch_new = sim_heap_new(batch->runs, sizeof(*code->batch_new));
    code->batch_first = batch->index;
    code->batch_runs = batch->runs;
    for (uint32_t i = 0; i < batch->runs; i++) {
        uint32_t added = add_run(code, sets_of(batch, i), batch->index + i);
        code->batch_new[i] = added;
        code->reached += added;
        code->last_new = added > 0 ? batch->index + i + 1 : code->last_new;
    }
}

uint32_t
sim_run_code_new(const struct sim_run *run, uint64_t index)
{
    const struct sim_run_code *code = &run->code;
    uint64_t place = index - code->batch_first;
    return place < code->batch_runs ? code->batch_new[place] : 0;
}

/* ---- Into the database. ---------------------------------------------------------------------- */

static bool
has_failed(const struct sim_merged *batch, uint64_t index, uint64_t first)
{
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        const struct sim_outcome *outcome = &batch->kept[i].outcome;
        if (outcome->seed - first == index && outcome->verdict != SIM_VERDICT_PASS) {
            return true;
        }
    }
    return false;
}

void
sim_run_code_store_batch(struct sim_run *run, const struct sim_merged *batch)
{
    struct sim_run_code *code = &run->code;
    for (uint32_t i = 0; i < code->batch_runs; i++) {
        uint64_t index = batch->index + i;
        if (code->batch_new[i] == 0 && !run->plan.keep_all &&
                !has_failed(batch, index, run->plan.spec.seed)) {
            continue;
        }
        const uint64_t *sets = sets_of(batch, i);
        const struct sim_code_run row = {index, sets, sets + sim_edges_words(), code->batch_new[i]};
        (void)sim_store_code_run(run->store, run->sweep, &row, code->edges, code->count);
    }
}

void
sim_run_code_store(struct sim_run *run, bool over)
{
    struct sim_run_code *code = &run->code;
    struct sim_code_covered *rows = sim_heap_new(code->count, sizeof(*rows));
    uint32_t count = 0;
    /* During the sweep only new ones; at the end all, with their counts. */
    for (uint32_t i = 0; i < code->count; i++) {
        if (code->covered[i].runs > 0 && (over || !code->written[i])) {
            rows[count++] = code->covered[i];
            code->written[i] = true;
        }
    }
    if (count > 0) {
        (void)sim_store_code_covered(run->store, run->sweep, rows, count);
    }
    free(rows);
}

void
sim_run_print_code(const struct sim_run *run)
{
    const struct sim_run_code *code = &run->code;
    if (code->count > 0 && code->reached > 0) {
        (void)printf("  %llu of %u edges of code reached, the last new one in run %llu (rewake "
                     "coverage --code has more)\n",
                (unsigned long long)code->reached, code->count, (unsigned long long)code->last_new);
    }
}
