/*
 * counts.h -- how many events of some sort each actor will make, as earlier runs had it.
 *
 * Sampling by counts draws who is next in proportion to what each has before it. What an actor
 * has before it includes what those will do whom it has yet to start, and theirs: until they
 * are there, nobody else stands for them. When one comes into being, its share moves from its
 * parent to itself.
 *
 * Counts are means over the runs in which an actor was seen to make such events at all, in
 * sixteenths. Actors are known by their stable ids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_COUNTS_H
#define SIM_SEARCH_COUNTS_H

#include "sim/search/learn/facts.h"
#include "sim/search/ordering.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One event. */
#define SIM_COUNT_ONE 16

#define SIM_COUNTED_MAX (1u << 13)

/* Events by the actor `id`, with those of its descendants. */
struct sim_counted {
    uint32_t id;
    uint32_t stamp; /* Another than that of the table: a free place. */
    int64_t whole;
};

struct sim_counts_parent {
    uint32_t id; /* 0: a free place. */
    uint32_t parent;
};

struct sim_counts {
    uint32_t run;
    uint32_t stamp;              /* Counts from 1: so often were they forgotten. */
    int64_t left[SIM_INDICES];   /* By in-run index; … */
    uint32_t known[SIM_INDICES]; /* … valid where this is the run. */
    uint16_t next[SIM_INDICES]; /* In the order below; 0 is before the first and behind the last. */
    uint16_t previous[SIM_INDICES];
    uint32_t count;        /* Of those counted, … */
    uint32_t parent_count; /* … and of those whose parent is known. Open addressing by id: */
    struct sim_counted counted[SIM_COUNTED_MAX];
    struct sim_counts_parent parents[SIM_COUNTED_MAX];
};

/* Reads who made whom from `facts`; `counts` is zeroed. */
void sim_counts_init(struct sim_counts *counts, const struct sim_facts *facts);

/* Forgets all counts, and no parents: events of another sort are counted from now on. */
void sim_counts_forget(struct sim_counts *counts);

/* The actor `id` made `own` (in sixteenths) events. */
void sim_counts_add(struct sim_counts *counts, uint32_t id, int64_t own);

/* Begins a run. */
void sim_counts_begin(struct sim_counts *counts);

/* The actor with index `actor` and stable id `id` came into being, made by `parent` (index; 0:
 * the world). */
void sim_counts_appear(struct sim_counts *counts, uint32_t actor, uint32_t id, uint32_t parent);

/* Whether its coming into being was told in this run. */
static inline bool
sim_counts_knows(const struct sim_counts *counts, uint32_t actor)
{
    return counts->known[actor] == counts->run;
}

/* What the actor has before it; less than 0 when it has made more than was thought. */
static inline int64_t
sim_counts_left(const struct sim_counts *counts, uint32_t actor)
{
    return sim_counts_knows(counts, actor) ? counts->left[actor] : 0;
}

/*
 * The order of birth: who was made comes right before its maker, and behind the brothers that came
 * before it. So those who are not yet born stand where their maker stands, and nobody changes
 * places with anybody when one is born.
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

#ifdef __cplusplus
}
#endif
#endif
