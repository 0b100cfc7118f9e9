/*
 * teach.c -- merging facts, and turning the page when an epoch is whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explore/teach.h"

#include <stdlib.h>

#include "runtime/base/assert.h"

static void
add_facts(struct sim_lore_book *book, struct sim_batch *batch)
{
    for (uint32_t i = 0; i < batch->fact_count; i++) {
        const struct sim_fact *fact = &batch->facts[i];
        bool news = sim_facts_add(&book->master.facts, fact);
        /* A batch is in memory of the worker's: what it says of runs may be anything. */
        uint64_t place = fact->first - batch->index;
        if (news && fact->kind == SIM_FACT_COVER && place < batch->totals.runs) {
            batch->fresh[place]++;
        }
    }
}

void
sim_teach(struct sim_lore_book *book, struct sim_batch *batch)
{
    batch->fresh = calloc(batch->totals.runs + 1, sizeof(*batch->fresh));
    rt_assert(batch->fresh != NULL);
    add_facts(book, batch);
    for (uint64_t i = 0; i < batch->totals.runs; i++) {
        uint32_t arm = batch->arms[i] < SIM_ARMS_MAX ? batch->arms[i] : SIM_ARMS_MAX - 1;
        sim_lore_book_count(book, arm, batch->fresh[i]);
    }
    uint64_t end = 0;
    uint64_t last = batch->index + batch->totals.runs - 1;
    if (batch->totals.runs > 0 && sim_epoch_of(last, &end) == book->closed && last + 1 == end) {
        sim_lore_book_close(book);
    }
}

uint64_t
sim_teachable(const struct sim_lore_book *book, uint64_t index)
{
    uint64_t end = 0;
    return sim_epoch_of(index, &end) < book->closed + 2 ? end - index : 0;
}
