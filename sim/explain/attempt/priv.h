/*
 * priv.h -- what the attempted wake and its questions share: memory that outlives a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_ATTEMPT_PRIV_H
#define SIM_EXPLAIN_ATTEMPT_PRIV_H

#include "sim/explain/attempt/attempt.h"

#define SIM__ATTEMPT_FLAGS 8u

/* A word that turns the waker away; some are the simulator's own. */
struct sim__attempt_flag {
    struct sim_change change; /* After which it does. */
    struct sim_walk_stop writer;
    struct sim_change clear; /* The change of the passing run that takes it back; step 0: none. */
    struct sim_walk_stop clear_writer;
};

struct sim__attempt_shared {
    uint32_t loop_id;
    uint32_t by_id;
    uint64_t step;
    uint64_t there_step; /* Where it is woken in the passing run. */
    struct sim_changes here;
    struct sim_changes there;
    uint32_t asked; /* Words that were tried; a worker may die of one. */
    bool listed;
    bool done;
    uint32_t count;
    struct sim__attempt_flag flags[SIM__ATTEMPT_FLAGS];
};

/* For sim_job.analyze of the failing run: which word turns the waker away; then who wrote it. */
void sim__attempt_ask(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);
/* The same of the passing run: who takes it back. */
void sim__attempt_walk_there(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *shared);

#endif
