/*
 * arrivals.h -- a task that could make progress as it blocked: what had arrived, and was it read?
 *
 * Here the step that owed the wake is the blocked task's own, and says nothing about others. So
 * each word that somebody else had changed is put back, by itself, and the blocked task asked as it
 * falls asleep: the last one without which it would sleep on is what had come. Then each of the
 * blocked task's own steps since is taken once more with that word as it was before: where this
 * makes a difference, the blocked task has looked at it, and slept all the same; where it makes
 * none in any, it came too early, between its look and its store.
 *
 * Where it takes the host to report once more, the blocked task may have wiped out by itself what
 * had come: a word that is put there again, as somebody else had left it, lets it go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_LOOK_ARRIVALS_H
#define SIM_EXPLAIN_LOOK_ARRIVALS_H

#include "sim/explain/look/changes.h"
#include "sim/explain/look/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_ARRIVED_WORDS 10u

struct sim_arrived_word {
    struct sim_change change;
    uint64_t seen;               /* The last step of the blocked task that looked at it; 0: none. */
    bool wiped;                  /* The blocked task wrote over it as it fell asleep. */
    struct sim_walk_stop writer; /* No frames: not known. */
    struct sim_walk_stop wiper;  /* `wiped`: who wrote over it. */
};

/* Lies in memory that outlives the worker, zeroed before. */
struct sim_arrivals {
    uint32_t asked; /* Questions that were begun: a worker may die of one. */
    bool done;
    uint32_t located; /* Words whose writer has been looked for, or was begun to be. */
    uint32_t count;   /* 0: no word of others makes the difference. */
    struct sim_arrived_word words[SIM_ARRIVED_WORDS]; /* The last that was written in front,
                                                  * but for those that were wiped out. */
};

/* For a worker whose run has ended as `outcome` says, a lost wake-up that was owed by the blocked
 * task's own step `slept`; what the run has written down is set aside (sim_keep). Goes on behind
 * the question of which another worker has died. */
void sim_arrivals_find(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, uint64_t blocked_step, struct sim_arrivals *arrivals);

#ifdef __cplusplus
}
#endif
#endif
