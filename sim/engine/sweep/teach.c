/*
 * teach.c -- merging facts, and closing an epoch when it is complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/sweep/state.h"

#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"

/* Partial orders are without end: those that are remembered leave space for other facts. */
#define ORDERS_MAX (SIM_LEARNED_FACTS / 4)

static bool
add_fact(struct sim_epochs *epochs, const struct sim_fact *fact)
{
    bool order = fact->kind == SIM_FACT_ORDER;
    if (fact->kind == SIM_FACT_WANTED) {
        return false; /* For the corpus: add_wishes. */
    }
    if (order && epochs->orders >= ORDERS_MAX) {
        return false;
    }
    bool news = sim_facts_add(&epochs->master.facts, fact);
    epochs->orders += order && news;
    rt_assert(epochs->orders <= ORDERS_MAX);
    return news;
}

static void
add_facts(struct sim_epochs *epochs, struct sim_batch *batch, uint32_t *worth)
{
    rt_assert(batch->fact_count == 0 || batch->facts != NULL);
    for (uint32_t i = 0; i < batch->fact_count; i++) {
        const struct sim_fact *fact = &batch->facts[i];
        bool news = add_fact(epochs, fact);
        /* A batch is in memory of the worker's: what it says of runs may be anything. */
        uint64_t place = fact->first - batch->index;
        if (news && place < batch->totals.runs) {
            bool covers = fact->kind == SIM_FACT_COVER;
            batch->results[place].fresh += covers;
            worth[place] += covers || fact->kind == SIM_FACT_ORDER;
        }
    }
}

/* Tapes of runs that were the first to show something. */
static void
add_tapes(struct sim_epochs *epochs, const struct sim_batch *batch, const uint32_t *worth)
{
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        const struct sim_kept *kept = &batch->kept[i];
        uint64_t place = kept->outcome.seed - batch->seed;
        if (place < batch->totals.runs && worth[place] > 0) {
            rt_assert((size_t)kept->tape_offset + kept->tape_length <= batch->tapes_size);
            sim_corpus_add(&epochs->master.corpus, batch->index + place, worth[place],
                    kept->tape_length > 0 ? batch->tapes + kept->tape_offset : NULL,
                    kept->tape_length);
        }
    }
}

/* Constraints of such runs. */
static void
add_wishes(struct sim_epochs *epochs, const struct sim_batch *batch, const uint32_t *worth)
{
    rt_assert(batch->fact_count == 0 || batch->facts != NULL);
    for (uint32_t i = 0; i < batch->fact_count; i++) {
        const struct sim_fact *fact = &batch->facts[i];
        uint64_t place = fact->first - batch->index;
        if (fact->kind == SIM_FACT_WANTED && place < batch->totals.runs && worth[place] > 0) {
            const struct sim_corpus_pair wish = {
                    (uint32_t)(fact->a >> 32), (uint32_t)fact->a, fact->b & 1};
            sim_corpus_add_constraint(&epochs->master.corpus, fact->first, worth[place], &wish);
        }
    }
}

void
sim_teach(struct sim_epochs *epochs, struct sim_batch *batch)
{
    rt_assert(batch->over);
    uint32_t *worth = sim_heap_new(batch->totals.runs, sizeof(*worth));
    add_facts(epochs, batch, worth);
    for (uint64_t i = 0; i < batch->totals.runs; i++) {
        const struct sim_run_result *result = &batch->results[i];
        uint32_t arm = result->arm < SIM_STRATEGIES_MAX ? result->arm : SIM_STRATEGIES_MAX - 1;
        sim_epochs_count(epochs, arm, result->fresh);
    }
    add_tapes(epochs, batch, worth);
    add_wishes(epochs, batch, worth);
    free(worth);
    uint64_t end = 0;
    uint64_t last = batch->index + batch->totals.runs - 1;
    if (batch->totals.runs > 0 && sim_epoch_of(last, &end) == epochs->closed && last + 1 == end) {
        sim_epochs_close(epochs);
    }
}

uint64_t
sim_teachable(const struct sim_epochs *epochs, uint64_t index)
{
    uint64_t end = 0;
    return sim_epochs_is_open(epochs, sim_epoch_of(index, &end)) ? end - index : 0;
}
