/*
 * counts.c -- a table of counts, and what is left of them in a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/strategy/counts.h"

#include "runtime/base/assert.h"

/* Generations that are added up; deeper ones count as nobody's. */
#define ANCESTORS_MAX 8u

static struct sim_counted *
look_up(struct sim_counts *counts, uint32_t what, uint32_t id)
{
    uint32_t at = ((what ^ id * UINT32_C(0x85ebca6b)) * UINT32_C(0x9e3779b1)) >> 19;
    rt_assert(counts->count < SIM_COUNTED_MAX);
    while (counts->counted[at].id != 0 &&
            (counts->counted[at].id != id || counts->counted[at].what != what)) {
        at = (at + 1) % SIM_COUNTED_MAX;
    }
    return &counts->counted[at];
}

/* The entry, made when it is new; NULL when the table is nearly full. */
static struct sim_counted *
entry_of(struct sim_counts *counts, uint32_t what, uint32_t id)
{
    struct sim_counted *counted = look_up(counts, what, id);
    if (counted->id == 0) {
        if (counts->count >= SIM_COUNTED_MAX / 4 * 3) {
            return NULL;
        }
        *counted = (struct sim_counted){.id = id, .what = what};
        counts->count++;
    }
    return counted;
}

/* The parent's id; 0: the world's, or nobody has told. */
static uint32_t
parent_of(struct sim_counts *counts, uint32_t id)
{
    const struct sim_counted *counted = look_up(counts, 0, id);
    return counted->id != 0 ? (uint32_t)counted->whole : 0;
}

void
sim_counts_init(struct sim_counts *counts, const struct sim_facts *facts)
{
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        struct sim_counted *counted = fact->kind == SIM_FACT_ACTOR && fact->b != 0
                                              ? entry_of(counts, 0, (uint32_t)fact->a)
                                              : NULL;
        if (counted != NULL) {
            counted->whole = fact->b;
        }
    }
}

void
sim_counts_add(struct sim_counts *counts, uint32_t what, uint32_t id, int64_t own)
{
    rt_assert(what != 0);
    for (uint32_t i = 0; i < ANCESTORS_MAX && id != 0; i++) {
        struct sim_counted *counted = entry_of(counts, what, id);
        if (counted == NULL) {
            return;
        }
        counted->whole += own;
        id = parent_of(counts, id);
    }
}

void
sim_counts_begin(struct sim_counts *counts, uint32_t what)
{
    counts->run++;
    counts->what = what;
    counts->next[0] = 0;
    counts->previous[0] = 0;
}

/* Before `place`; 0: behind the last. */
static void
line_up(struct sim_counts *counts, uint32_t actor, uint32_t place)
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
    const struct sim_counted *counted = look_up(counts, counts->what, id);
    int64_t whole = counted->id != 0 ? counted->whole : 0;
    counts->left[actor] = whole;
    counts->known[actor] = counts->run;
    bool has_maker = parent != 0 && sim_counts_knows(counts, parent);
    line_up(counts, actor, has_maker ? parent : 0);
    if (has_maker) {
        counts->left[parent] -= whole;
    }
}
