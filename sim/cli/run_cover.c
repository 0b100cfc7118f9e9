/*
 * run_cover.c -- what a sweep has covered: counted batch by batch, written down with it.
 *
 * Elements come with the facts of the sweep (sim/learn/facts.h). Different runs are counted here,
 * over those of one sampler only: the strategy itself, unless it learns; then what it leaves to
 * `random`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/cli/run_state.h"
#include "sim/store/coverage.h"

#define NO_SAMPLER UINT32_MAX

/* Whose runs are drawn alike and independently: its place among the arms. */
static uint32_t
sampler_of(const struct sim_sweep_plan *plan)
{
    if (plan->how == SIM_HOW_RANDOM) {
        return 0;
    }
    if (plan->how != SIM_HOW_SEARCH) {
        return NO_SAMPLER;
    }
    const struct sim_strategy_kind *kind = sim_strategy_at(plan->search.kind);
    bool learns = kind->adaptive || kind->sequential;
    return learns ? sim_strategy_find("random") : plan->search.kind;
}

const char *
sim_run_arm_name(const struct sim_run *run, uint32_t arm)
{
    bool itself = run->plan.how != SIM_HOW_SEARCH || arm == run->plan.search.kind;
    return itself ? run->cli->settings.strategy : sim_strategy_at(arm)->name;
}

void
sim_run_cover_begin(struct sim_run *run)
{
    struct sim_run_cover *cover = &run->cover;
    if (cover->entries == NULL) {
        cover->entries = calloc(SIM_RUN_SPECIES, sizeof(*cover->entries));
        rt_assert(cover->entries != NULL);
        sim_species_init(&cover->species, cover->entries, SIM_RUN_SPECIES);
    }
    sim_species_clear(&cover->species);
    memset(cover->drawn, 0, sizeof(cover->drawn));
    memset(cover->failed, 0, sizeof(cover->failed));
    cover->sampler = sampler_of(&run->plan);
    cover->elements = 0;
    cover->last_new = 0;
    cover->written = 0;
    cover->batch_runs = 0;
}

void
sim_run_cover_done(struct sim_run *run)
{
    free(run->cover.entries);
    run->cover.entries = NULL;
}

static uint32_t
arm_at(uint32_t arm)
{
    return arm < SIM_ARMS_MAX ? arm : SIM_ARMS_MAX - 1;
}

void
sim_run_cover_batch(struct sim_run *run, const struct sim_merged *batch)
{
    struct sim_run_cover *cover = &run->cover;
    for (uint32_t i = 0; i < batch->runs; i++) {
        uint32_t arm = arm_at(batch->arms[i]);
        cover->drawn[arm]++;
        if (arm == cover->sampler && batch->orders[i] != 0) {
            sim_species_note(&cover->species, batch->orders[i], 1);
        }
        if (batch->fresh[i] > 0) {
            cover->elements += batch->fresh[i];
            cover->last_new = batch->index + i + 1;
        }
    }
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        cover->failed[arm_at(batch->kept[i].arm)] +=
                batch->kept[i].outcome.verdict != SIM_VERDICT_PASS;
    }
    cover->batch_first = batch->index;
    cover->batch_runs = batch->runs;
    cover->batch_fresh = batch->fresh;
}

uint32_t
sim_run_cover_fresh(const struct sim_run *run, uint64_t index)
{
    const struct sim_run_cover *cover = &run->cover;
    uint64_t place = index - cover->batch_first;
    return place < cover->batch_runs ? cover->batch_fresh[place] : 0;
}

/* ---- Into the database. ---------------------------------------------------------------------- */

/* Elements from fact number `from` on. */
static enum sim_store_err
store_elements(struct sim_run *run, uint32_t from)
{
    const struct sim_facts *facts = &run->pool.book.master.facts;
    struct sim_covered *rows = calloc((size_t)facts->count - from + 1, sizeof(*rows));
    uint32_t count = 0;
    rt_assert(rows != NULL);
    for (uint32_t i = from; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        if (fact->kind == SIM_FACT_COVER) {
            rows[count++] = (struct sim_covered){
                    .element = {fact->b, (uint32_t)(fact->a >> 32), (uint32_t)fact->a},
                    .first_run = fact->first,
                    .runs = fact->runs,
            };
        }
    }
    enum sim_store_err err = sim_store_covered(run->store, run->sweep, rows, count);
    run->cover.written = facts->count;
    free(rows);
    return err;
}

static enum sim_store_err
store_drawn(struct sim_run *run)
{
    struct sim_drawn rows[SIM_ARMS_MAX];
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < SIM_ARMS_MAX; arm++) {
        if (run->cover.drawn[arm] > 0) {
            rows[count++] = (struct sim_drawn){
                    sim_run_arm_name(run, arm), run->cover.drawn[arm], run->cover.failed[arm]};
        }
    }
    return sim_store_drawn(run->store, run->sweep, rows, count);
}

static enum sim_store_err
store_species(struct sim_run *run)
{
    if (run->cover.sampler == NO_SAMPLER) {
        return SIM_STORE_OK;
    }
    struct sim_census census = sim_species_census(&run->cover.species);
    return sim_store_species(
            run->store, run->sweep, sim_run_arm_name(run, run->cover.sampler), &census);
}

enum sim_store_err
sim_run_cover_store(struct sim_run *run, bool over)
{
    if (!run->plan.covers) {
        return SIM_STORE_OK;
    }
    /* Meanwhile only what is new; at the end all, with their counts. */
    enum sim_store_err err = store_elements(run, over ? 0 : run->cover.written);
    if (err == SIM_STORE_OK && over) {
        err = store_drawn(run);
    }
    if (err == SIM_STORE_OK && over) {
        err = store_species(run);
    }
    return err;
}
