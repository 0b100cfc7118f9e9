/*
 * counts.c -- a table of counts, and what is left of them in a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/counts.h"

#include "runtime/base/assert.h"

/* Generations that are added up; deeper ones are not counted. */
#define ANCESTORS_MAX 8u

static inline uint32_t
place_of(uint32_t id)
{
    return (id * UINT32_C(0x9e3779b1)) >> 19;
}

/* The entry, or the free slot for it. */
static struct sim_counted *
find_slot(struct sim_counts *counts, uint32_t id)
{
    uint32_t at = place_of(id);
    rt_assert(counts->count < SIM_COUNTED_MAX);
    while (counts->counted[at].stamp == counts->stamp && counts->counted[at].id != id) {
        at = (at + 1) % SIM_COUNTED_MAX;
    }
    return &counts->counted[at];
}

/* The entry, made if it is missing; NULL when the table is nearly full. */
static struct sim_counted *
entry_of(struct sim_counts *counts, uint32_t id)
{
    struct sim_counted *counted = find_slot(counts, id);
    if (counted->stamp != counts->stamp) {
        if (counts->count >= SIM_COUNTED_MAX / 4 * 3) {
            return NULL;
        }
        *counted = (struct sim_counted){.id = id, .stamp = counts->stamp};
        counts->count++;
    }
    return counted;
}

static struct sim_counts_parent *
find_parent_slot(struct sim_counts *counts, uint32_t id)
{
    uint32_t at = place_of(id);
    rt_assert(counts->parent_count < SIM_COUNTED_MAX);
    while (counts->parents[at].id != 0 && counts->parents[at].id != id) {
        at = (at + 1) % SIM_COUNTED_MAX;
    }
    return &counts->parents[at];
}

void
sim_counts_init(struct sim_counts *counts, const struct sim_facts *facts)
{
    counts->stamp = 1;
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        if (fact->kind != SIM_FACT_ACTOR || fact->b == 0 ||
                counts->parent_count >= SIM_COUNTED_MAX / 4 * 3) {
            continue;
        }
        struct sim_counts_parent *parent = find_parent_slot(counts, (uint32_t)fact->a);
        counts->parent_count += parent->id == 0;
        *parent = (struct sim_counts_parent){(uint32_t)fact->a, fact->b};
    }
}

void
sim_counts_forget(struct sim_counts *counts)
{
    counts->stamp++;
    counts->count = 0;
}

void
sim_counts_add(struct sim_counts *counts, uint32_t id, int64_t own)
{
    for (uint32_t i = 0; i < ANCESTORS_MAX && id != 0; i++) {
        struct sim_counted *counted = entry_of(counts, id);
        if (counted == NULL) {
            return;
        }
        counted->whole += own;
        /* 0: the world made it, or its parent is unknown. */
        const struct sim_counts_parent *parent = find_parent_slot(counts, id);
        id = parent->id != 0 ? parent->parent : 0;
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
    const struct sim_counted *counted = find_slot(counts, id);
    int64_t whole = counted->stamp == counts->stamp ? counted->whole : 0;
    counts->left[actor] = whole;
    counts->known[actor] = counts->run;
    bool has_maker = parent != 0 && sim_counts_knows(counts, parent);
    insert(counts, actor, has_maker ? parent : 0);
    if (has_maker) {
        counts->left[parent] -= whole;
    }
}
