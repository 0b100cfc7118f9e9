/*
 * changes.h -- which words of memory a run changes, step by step.
 *
 * The run is made again, one step at a time, and after each the arena is held against what it was
 * before. Pointers into the arena are left out, as analysis.h leaves them out: a list that is put
 * back in one place only is no list. So is what a step takes again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_LOOK_CHANGES_H
#define SIM_EXPLAIN_LOOK_CHANGES_H

#include "sim/judge/judge.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_CHANGES_MAX 8192u
/* To compare so many words costs about as much as a step. */
#define SIM_CHANGES_WORDS_A_STEP 64u

struct sim_change {
    uint64_t step;
    uint64_t offset; /* In the arena; a multiple of 8. */
    uint64_t before;
    uint64_t after;
    uint32_t actor_id; /* Whose step it was: the stable id. */
};

struct sim_changes {
    uint32_t count;
    uint64_t to;                            /* The last step. */
    struct sim_change all[SIM_CHANGES_MAX]; /* The last ones, in the order of steps. */
};

/* Memory shared with the workers that are forked from now on; NULL: the system has none. */
struct sim_changes *sim_changes_new(void);
void sim_changes_free(struct sim_changes **changes);

/* For sim_job.analyze: `changes` is the sim_changes. Of a long run only the last steps are looked
 * at. */
void sim_changes_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *changes);

/* The bytes that it changes, as a mask. Neighbours in one word are not its own. */
uint64_t sim_change_bytes(const struct sim_change *change);

/* Words of the arena, copied out and put in, unseen by a sanitizer: what lies in its red zones is
 * looked at as well. `offset` is in bytes, a multiple of 8. */
void sim_words_copy(const struct sim_world *world, size_t offset, uint64_t *to, size_t count);
void sim_word_put(struct sim_world *world, size_t offset, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
