/*
 * changes.h -- which words of memory a run changes, step by step.
 *
 * A replay takes one step at a time, and after each the arena is compared with what it was before.
 * Left out are pointers into the arena (sim_word_is_link), and memory that the step allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/experiment.h"

#define SIM_CHANGES_MAX 8192u
/* To compare so many words costs about as much as a step. */
#define SIM_CHANGES_WORDS_A_STEP 64u

struct sim_changes {
    uint32_t count;
    uint64_t to;                            /* The last step. */
    struct sim_change all[SIM_CHANGES_MAX]; /* The last ones, in the order of steps. */
};

/* sim_analyze_fn: `changes` is the sim_changes. Of a long run only the last steps are read. */
void sim_changes_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *changes);

/* The next change of the same bytes after change `index`; NULL: none. */
const struct sim_change *sim_changes_next(const struct sim_changes *changes, uint32_t index);
