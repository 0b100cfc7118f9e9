/*
 * attempt.h -- who came to wake a loop that sleeps, and went again.
 *
 * The counterfactual replay (counterfactual/counterfactual.h) tells that a loop was not told. Often
 * somebody did come to tell it: the wake found nobody asleep yet, or turned back at a flag, or went
 * to somebody else. Here the two runs are held against each other:
 *
 *      would      where the loop is woken in the nearest run that passes, and by whom
 *      turned     how far the same one comes on that way here
 *      instead    whom it wakes in that step here
 *      flag       what it would have to find otherwise to wake the loop: a word of memory, tried
 *                 one by one; who wrote it here, and who takes it back in the passing run
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_ATTEMPT_ATTEMPT_H
#define SIM_EXPLAIN_ATTEMPT_ATTEMPT_H

#include "sim/explain/counterfactual/counterfactual.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_attempt {
    uint32_t loop_id;      /* Who sleeps: the stable id. */
    uint64_t blocked_step; /* Since this step. */
    uint32_t by_id;        /* Who came; 0: nobody is known. */
    uint64_t step;         /* When. */
    uint64_t there_step;
    struct sim_walk_stop would; /* Addresses of return; no frames: it is not woken there. */
    bool has_turned;
    struct sim_place turned;
    bool has_beyond; /* No wake is known there: what the same one goes on to. */
    struct sim_place beyond;
    uint32_t instead_id; /* 0: nobody. */
    struct sim_walk_stop instead;
    uint64_t flag_step; /* 0: no word is known. */
    uint32_t flag_id;
    struct sim_walk_stop flag;
    uint64_t clear_step; /* Of the passing run; 0: not known. */
    uint32_t clear_id;
    struct sim_walk_stop clear;
};

/*
 * `actor` is the index, in the failing run, of the loop that sleeps, or of a task that it runs.
 * `by_id` and `step`: who came, where that is known; 0: whoever wakes it in the passing run. Makes
 * the runs that it takes in processes of its own; there must be one that passes.
 */
void sim_attempt_find(const struct sim_counterfactual_runs *runs, struct sim_places *places,
        uint32_t actor, uint32_t by_id, uint64_t step, struct sim_attempt *ret_attempt);

#ifdef __cplusplus
}
#endif
#endif
