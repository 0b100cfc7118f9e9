/*
 * attempt.h -- an actor that was about to wake a blocked loop, and did not.
 *
 * The counterfactual replay (counterfactual.h) says that a loop was not notified. Often an actor
 * did attempt it: the wake found the loop not blocked yet, or stopped at a flag, or woke another
 * loop. Here the two runs are compared:
 *
 *      would      where the loop is woken in the nearest run that passes, and by which actor
 *      turned     how far the same actor gets along that call path here
 *      instead    which loop it wakes in that step here
 *      flag       what it would have to find otherwise to wake the loop: a word of memory, tried
 *                 one by one; what wrote it here, and what clears it in the passing run
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/counterfactual/counterfactual.h"

struct sim_attempt {
    uint32_t loop_id;      /* The blocked loop: the stable id. */
    uint64_t blocked_step; /* Since this step. */
    uint32_t by_id;        /* The waker; 0: none is known. */
    uint64_t step;         /* Its attempt. */
    uint64_t there_step;
    struct sim_walk_stop would; /* Return addresses; no frames: it is not woken there. */
    bool has_turned;
    struct sim_place turned;
    bool has_beyond; /* No wake is known there: what the same actor continues to. */
    struct sim_place beyond;
    uint32_t instead_id; /* 0: none. */
    struct sim_walk_stop instead;
    uint64_t flag_step; /* 0: no word is known. */
    uint32_t flag_id;
    struct sim_walk_stop flag;
    uint64_t clear_step; /* Of the passing run; 0: not known. */
    uint32_t clear_id;
    struct sim_walk_stop clear;
};

/*
 * `actor` is the index, in the failing run, of the blocked loop, or of a task that it runs. `by_id`
 * and `step`: the waker and its step, where they are known; 0: the one that wakes it in the passing
 * run, which must be there. Replays are made in separate processes.
 */
void sim_attempt_find(const struct sim_runs *runs, struct sim_places *places, uint32_t actor,
        uint32_t by_id, uint64_t step, struct sim_attempt *ret_attempt);
