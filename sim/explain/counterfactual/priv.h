/*
 * priv.h -- what the questions and their parent share: memory that outlives a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/counterfactual/counterfactual.h"
#include "sim/explain/look/changes.h"

#define SIM__COUNTERFACTUAL_HITS 12u
#define SIM__COUNTERFACTUAL_TRIES 800u

/* An answer: with this, the blocked task makes progress. */
struct sim__counterfactual_hit {
    struct sim_counterfactual found;
    struct sim_change change; /* DROPPED: none. */
    uint32_t waiter_id;
    struct sim_waiting waits; /* What the blocked task waits for here. */
    /* ELSEWHERE: it waits for the same there, when that step begins. */
    bool same_wait;
    bool walked;
};

struct sim__counterfactual_shared {
    struct sim_changes here;
    struct sim_changes there; /* Of the passing run. */
    struct sim__counterfactual_hit hits[SIM__COUNTERFACTUAL_HITS];
    uint32_t hit_count;
    struct sim_tries tries;
    uint8_t answers[SIM__COUNTERFACTUAL_TRIES]; /* By the number of the question. */
    enum sim_counterfactual_of of;
    uint64_t wake_step; /* OF_UNPOLLED: the step in which the task was woken. */
    uint32_t left_next; /* Of the list of the world. */
    uint32_t left_count;
    uint32_t left_tries; /* The number of the last question for it. */
    bool left_known;     /* `left` is complete. */
    struct sim_silence left[SIM_LEFT_MAX];
    bool listed; /* `here` is complete. */
    bool done;
};

/* Each a sim_analyze_fn whose results are the sim__counterfactual_shared. The questions, of the
 * failing run: continues after the one of which another worker has died. */
void sim__counterfactual_ask(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);

/* Of the failing and of the passing run: finds what wrote the words. */
void sim__counterfactual_walk_here(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);
void sim__counterfactual_walk_there(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);
