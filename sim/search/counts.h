/*
 * counts.h -- how many events of some sort each actor will make, by earlier runs.
 *
 * Sampling by counts draws the next actor in proportion to its remaining events. These include the
 * events of descendants that are not yet born; at a birth the child's share moves from its parent
 * to itself.
 *
 * Counts are means over the runs in which an actor was seen to make such events at all, in
 * sixteenths. Actors are known by their stable ids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/probe.h"
#include "sim/search/learn/facts.h"
#include "sim/search/ordering.h"

/* One event. */
#define SIM_COUNT_ONE 16

#define SIM_COUNTED_BITS 13u
#define SIM_COUNTED_MAX (1u << SIM_COUNTED_BITS)

/* An actor by its stable id. */
struct sim_counted {
    struct sim_key id;
    uint32_t parent; /* 0: the world made it, or its parent is unknown. */
    uint32_t stamp;  /* Other than that of the table: it has made no events. */
    int64_t whole;   /* Its events, with those of its descendants. */
};

struct sim_counts {
    uint32_t run;
    uint32_t stamp;              /* From 1; sim_counts_forget adds 1. */
    int64_t left[SIM_INDICES];   /* By in-run index; … */
    uint32_t known[SIM_INDICES]; /* … valid where this is the run. */
    uint16_t next[SIM_INDICES];  /* In the order below; 0 is before the first and after the last. */
    uint16_t previous[SIM_INDICES];
    uint32_t count; /* Of the actors in the table. */
    struct sim_counted counted[SIM_COUNTED_MAX];
};

/* Reads the parent of each actor from `facts`; `counts` is zeroed. */
void sim_counts_init(struct sim_counts *counts, const struct sim_facts *facts);

/* Forgets all counts, and no parents: events of another sort are counted from now on. */
void sim_counts_forget(struct sim_counts *counts);

/* The actor `id` made `own` (in sixteenths) events. */
void sim_counts_add(struct sim_counts *counts, uint32_t id, int64_t own);

/* Begins a run. */
void sim_counts_begin(struct sim_counts *counts);

/* The actor with index `actor` and stable id `id` was made by `parent` (index; 0: the world). */
void sim_counts_appear(struct sim_counts *counts, uint32_t actor, uint32_t id, uint32_t parent);

/* Whether sim_counts_appear was called for it in this run. */
static inline bool
sim_counts_knows(const struct sim_counts *counts, uint32_t actor)
{
    return counts->known[actor] == counts->run;
}

/* The actor's remaining events; less than 0 when it has made more than expected. */
static inline int64_t
sim_counts_left(const struct sim_counts *counts, uint32_t actor)
{
    return sim_counts_knows(counts, actor) ? counts->left[actor] : 0;
}

/*
 * The order of birth: a child is right before its parent, and after its older siblings. So children
 * that are not yet born are at their parent's place, and a birth moves no other actor.
 */
static inline uint32_t
sim_counts_next(const struct sim_counts *counts, uint32_t actor)
{
    return counts->next[actor];
}

static inline uint32_t
sim_counts_first(const struct sim_counts *counts)
{
    return counts->next[0];
}

/* It has made one event. */
static inline void
sim_counts_made(struct sim_counts *counts, uint32_t actor)
{
    if (sim_counts_knows(counts, actor)) {
        counts->left[actor] -= SIM_COUNT_ONE;
    }
}

/* A fact's count as a mean over the runs in which it was seen. */
static inline int64_t
sim_counts_mean(const struct sim_fact *fact)
{
    return (int64_t)((fact->sum * SIM_COUNT_ONE + fact->runs / 2) / fact->runs);
}
