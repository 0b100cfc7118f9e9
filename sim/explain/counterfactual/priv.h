/*
 * priv.h -- what the questions and who has them asked share: memory that outlives a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_COUNTERFACTUAL_PRIV_H
#define SIM_EXPLAIN_COUNTERFACTUAL_PRIV_H

#include "sim/explain/counterfactual/counterfactual.h"

#define SIM__COUNTERFACTUAL_HITS 12u

/* An answer: with this, the blocked task goes on. */
struct sim__counterfactual_hit {
    struct sim_counterfactual counterfactual;
    struct sim_change change; /* DROPPED: none. */
    uint32_t waiter_id;
    struct sim_waiting waits; /* What the blocked task waits for here. */
    /* ELSEWHERE: it waits for the same there, when that step begins. */
    bool same_wait;
    bool walked;
};

struct sim__counterfactual_shared {
    struct sim_changes here;
    struct sim_changes there; /* Of the run that passes. */
    struct sim__counterfactual_hit hits[SIM__COUNTERFACTUAL_HITS];
    uint32_t hit_count;
    uint32_t asked; /* Questions that were begun, in their order; a worker may die of one. */
    uint64_t steps; /* That the questions have taken. */
    bool listed;    /* `here` is complete. */
    bool done;
};

/* For sim_job.analyze of the failing run; `shared` is the sim__counterfactual_shared. Continues
 * after the question of which another worker has died. */
void sim__counterfactual_ask(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);

/* The same, of the failing and of the passing run: finds who wrote the words. */
void sim__counterfactual_walk_here(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);
void sim__counterfactual_walk_there(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);

#endif
