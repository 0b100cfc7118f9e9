/*
 * arrivals.h -- a task that could make progress as it blocked: what had arrived, and was it read?
 *
 * The step that should have woken the task is its own, and says nothing about others. So each word
 * that another actor had changed is put back, by itself, and the blocked task asked as it blocks:
 * the last word without which it would stay blocked is what had arrived. Then each of the task's
 * own steps since is taken once more with that word as it was before. Where this makes a
 * difference, the task has read the word, and blocked all the same; where it makes none in any
 * step, the word arrived too early, between its check and its store.
 *
 * Where it takes the host to report once more, the task may itself have wiped what had arrived: a
 * word that is put there again, as another actor had left it, lets it make progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/changes.h"

#define SIM_ARRIVED_WORDS 10u

struct sim_arrived_word {
    struct sim_change change;
    uint64_t seen;               /* The last step of the blocked task that read it; 0: none. */
    bool wiped;                  /* The blocked task wrote over it as it blocked. */
    struct sim_walk_stop writer; /* No frames: not known. */
    struct sim_walk_stop wiper;  /* `wiped`: what wrote over it. */
};

/* In memory that outlives the worker, zeroed before. */
struct sim_arrivals {
    struct sim_tries tries;
    bool done;
    uint32_t located; /* Words whose writer has been looked for, or was begun to be. */
    uint32_t count;   /* 0: no word of others makes the difference. */
    struct sim_arrived_word words[SIM_ARRIVED_WORDS]; /* The last written first, after those that
                                                       * were wiped. */
};

/* For a lost wake-up whose missing wake is the blocked task's own step `blocked_step`. Continues
 * after the question of which another worker has died. */
void sim_arrivals_find(
        struct sim_experiment *experiment, uint64_t blocked_step, struct sim_arrivals *arrivals);
