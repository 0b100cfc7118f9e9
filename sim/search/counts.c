/*
 * counts.c -- a table of counts, and what is left of them in a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/counts.h"

#include "runtime/base/assert.h"

/* Generations that are added up; deeper ones are not counted. */
#define ANCESTORS_MAX 8u

/* The entry, or a free one. */
static struct sim_counted *
find(struct sim_counts *counts, uint32_t id)
{
    struct sim_counted *all = counts->counted;
    return &all[sim_probe_all(all, sizeof(*all), SIM_COUNTED_BITS, 1, id)];
}

/* The entry, made if it is missing; NULL when the table is nearly full. */
static struct sim_counted *
entry_of(struct sim_counts *counts, uint32_t id)
{
    struct sim_counted *counted = find(counts, id);
    if (counted->id.stamp == 0) {
        if (counts->count >= SIM_COUNTED_MAX / 4 * 3) {
            return NULL;
        }
        counted->id = (struct sim_key){id, 1};
        counts->count++;
    }
    rt_assert(counted->id.key == id);
    return counted;
}

void
sim_counts_init(struct sim_counts *counts, const struct sim_facts *facts)
{
    counts->stamp = 1;
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        bool is_child = fact->kind == SIM_FACT_ACTOR && fact->b != 0;
        struct sim_counted *child = is_child ? entry_of(counts, (uint32_t)fact->a) : NULL;
        if (child != NULL) {
            child->parent = fact->b;
        }
    }
}

void
sim_counts_forget(struct sim_counts *counts)
{
    counts->stamp++;
}

void
sim_counts_add(struct sim_counts *counts, uint32_t id, int64_t own)
{
    for (uint32_t i = 0; i < ANCESTORS_MAX && id != 0; i++) {
        struct sim_counted *counted = entry_of(counts, id);
        if (counted == NULL) {
            return;
        }
        counted->whole = own + (counted->stamp == counts->stamp ? counted->whole : 0);
        counted->stamp = counts->stamp;
        id = counted->parent;
    }
}

void
sim_counts_begin(struct sim_counts *counts)
{
    counts->run++;
    counts->next[0] = 0;
    counts->previous[0] = 0;
}

/* Inserts it before `place`; 0: after the last. */
static void
insert(struct sim_counts *counts, uint32_t actor, uint32_t place)
{
    uint32_t previous = counts->previous[place];
    counts->next[actor] = (uint16_t)place;
    counts->previous[actor] = (uint16_t)previous;
    counts->next[previous] = (uint16_t)actor;
    counts->previous[place] = (uint16_t)actor;
}

void
sim_counts_appear(struct sim_counts *counts, uint32_t actor, uint32_t id, uint32_t parent)
{
    const struct sim_counted *counted = find(counts, id);
    int64_t whole = counted->stamp == counts->stamp ? counted->whole : 0;
    counts->left[actor] = whole;
    counts->known[actor] = counts->run;
    bool has_maker = parent != 0 && sim_counts_knows(counts, parent);
    insert(counts, actor, has_maker ? parent : 0);
    if (has_maker) {
        counts->left[parent] -= whole;
    }
}
