/*
 * chapters.c -- parts of a sweep that learn separately: which runs they are, and what they cover.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/engine/sweep/state.h"

/* An epoch ends there (sim/search/learn/learned.h). */
#define CHAPTER_RUNS_MAX 1024u
/* A short sweep has so many of them, so that there is something to be shared out. */
#define CHAPTERS_MIN 32u

uint64_t
sim_chapter_runs(uint64_t runs)
{
    uint64_t share = runs / CHAPTERS_MIN + (runs % CHAPTERS_MIN != 0);
    rt_assert(share > 0 || runs == 0);
    return share < CHAPTER_RUNS_MAX ? share : CHAPTER_RUNS_MAX;
}

static uint64_t
shards_of(const struct sim_sweep_plan *plan)
{
    rt_assert(plan->shard == 0 || plan->shard < plan->shards);
    return plan->shards > 1 ? plan->shards : 1;
}

uint64_t
sim_sweep_share(const struct sim_sweep_plan *plan)
{
    if (plan->chapter_runs == 0) {
        return plan->runs;
    }
    uint64_t round = plan->chapter_runs * shards_of(plan);
    uint64_t mine = plan->chapter_runs * plan->shard; /* Before it, in a round. */
    rt_assert(mine < round);
    uint64_t rest = plan->runs % round;
    uint64_t last = rest > mine ? rest - mine : 0;
    return plan->runs / round * plan->chapter_runs +
           (last < plan->chapter_runs ? last : plan->chapter_runs);
}

/* The chapter that begins at run `base`; none after the end. */
static void
open_chapter(struct sim__sweep *sweep, uint64_t base)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    uint64_t left = base < plan->runs ? plan->runs - base : 0;
    bool whole = plan->chapter_runs == 0 || left < plan->chapter_runs;
    rt_assert(sweep->merge_sequence == sweep->next_sequence);
    sweep->base = base;
    sweep->length = whole ? left : plan->chapter_runs;
    sweep->next_index = 0;
    sim_epochs_clear(&sweep->pool->epochs);
}

void
sim__chapter_open_first(struct sim__sweep *sweep)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    rt_assert(plan->shard < shards_of(plan));
    rt_assert(plan->chapter_runs != 0 || plan->shard == 0);
    if (plan->covered != NULL) {
        sim_facts_clear(plan->covered);
    }
    open_chapter(sweep, plan->shard * plan->chapter_runs);
}

void
sim__chapter_next(struct sim__sweep *sweep)
{
    rt_assert(sweep->next_index <= sweep->length);
    const struct sim_sweep_plan *plan = sweep->plan;
    if (plan->chapter_runs != 0 && sweep->next_index == sweep->length && sweep->length > 0 &&
            sweep->merge_sequence == sweep->next_sequence && !sweep->stopping) {
        open_chapter(sweep, sweep->base + shards_of(plan) * plan->chapter_runs);
    }
}

void
sim__chapter_cover(struct sim__sweep *sweep, struct sim_batch *batch)
{
    rt_assert(sweep->plan->covered != NULL);
    for (uint64_t i = 0; i < batch->totals.runs; i++) {
        batch->results[i].fresh = 0;
    }
    for (uint32_t i = 0; i < batch->fact_count; i++) {
        struct sim_fact fact = batch->facts[i];
        uint64_t place = fact.first - batch->index;
        fact.first += sweep->base;
        fact.last += sweep->base;
        bool covers = fact.kind == SIM_FACT_COVER;
        if ((covers || fact.kind == SIM_FACT_ASKED) && sim_facts_add(sweep->plan->covered, &fact) &&
                covers && place < batch->totals.runs) {
            batch->results[place].fresh++;
        }
    }
}
