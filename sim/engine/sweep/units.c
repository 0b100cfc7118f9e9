/*
 * units.c -- parts of a sweep that learn separately: which runs they are, and what they cover.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/engine/sweep/state.h"

/* An epoch ends there (sim/search/learn/learned.h). */
#define UNIT_RUNS_MAX 1024u
/* A short sweep has so many of them, so that there is something to be shared out. */
#define UNITS_MIN 32u

uint64_t
sim_unit_runs(uint64_t runs)
{
    uint64_t share = runs / UNITS_MIN + (runs % UNITS_MIN != 0);
    rt_assert(share > 0 || runs == 0);
    return share < UNIT_RUNS_MAX ? share : UNIT_RUNS_MAX;
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
    if (plan->unit_runs == 0) {
        return plan->runs;
    }
    uint64_t round = plan->unit_runs * shards_of(plan);
    uint64_t mine = plan->unit_runs * plan->shard; /* Before it, in a round. */
    rt_assert(mine < round);
    uint64_t rest = plan->runs % round;
    uint64_t last = rest > mine ? rest - mine : 0;
    return plan->runs / round * plan->unit_runs + (last < plan->unit_runs ? last : plan->unit_runs);
}

/* The unit that begins at run `base`; none after the end. */
static void
open_unit(struct sim__sweep *sweep, uint64_t base)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    uint64_t left = base < plan->runs ? plan->runs - base : 0;
    bool whole = plan->unit_runs == 0 || left < plan->unit_runs;
    rt_assert(sweep->merge_sequence == sweep->next_sequence);
    sweep->base = base;
    sweep->length = whole ? left : plan->unit_runs;
    sweep->next_index = 0;
    sim_epochs_clear(&sweep->pool->epochs);
}

void
sim__unit_open_first(struct sim__sweep *sweep)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    rt_assert(plan->shard < shards_of(plan));
    rt_assert(plan->unit_runs != 0 || plan->shard == 0);
    if (plan->covered != NULL) {
        sim_facts_clear(plan->covered);
    }
    open_unit(sweep, plan->shard * plan->unit_runs);
}

void
sim__unit_next(struct sim__sweep *sweep)
{
    rt_assert(sweep->next_index <= sweep->length);
    const struct sim_sweep_plan *plan = sweep->plan;
    if (plan->unit_runs != 0 && sweep->next_index == sweep->length && sweep->length > 0 &&
            sweep->merge_sequence == sweep->next_sequence && !sweep->stopping) {
        open_unit(sweep, sweep->base + shards_of(plan) * plan->unit_runs);
    }
}

void
sim__unit_cover(struct sim__sweep *sweep, struct sim_batch *batch)
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
        bool kept = covers || fact.kind == SIM_FACT_ASKED || fact.kind == SIM_FACT_WASTE;
        if (kept && sim_facts_add(sweep->plan->covered, &fact) && covers &&
                place < batch->totals.runs) {
            batch->results[place].fresh++;
        }
    }
}
