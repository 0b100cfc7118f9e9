/*
 * counterfactual.h -- what a blocked task would have to find to go on, where nobody goes on.
 *
 * A deadlock has no step that owed a wake. Here the run is made again and again, each time with
 * one thing different, and it is looked whether the blocked task goes on:
 *
 *      deaf       it asked its host for something once, and was told once; were it to ask again, it
 *                 would be told that there is something
 *      dropped  what it is blocked in comes back with nothing, and it goes on at once: a loop
 *                 that should not have fallen asleep
 *      untold     it would have gone on, or not fallen blocked, if it had looked after a later step
 *                 of somebody else, who changed what it looks at and told it nothing
 *      lost       a word is again what a step made of it; a later one wrote over that, and nobody
 *                 had looked in between: without it the run is the same to its end
 *      elsewhere  a word is what a step of the nearest run that passes makes of it, and nobody here
 *
 * What is found is a word of memory and a step; who wrote it is seen by walking that step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_COUNTERFACTUAL_COUNTERFACTUAL_H
#define SIM_EXPLAIN_COUNTERFACTUAL_COUNTERFACTUAL_H

#include "sim/core/code/symbols.h"
#include "sim/engine/worker/budget.h"
#include "sim/explain/look/changes.h"
#include "sim/explain/look/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sim_counterfactual_kind {
    SIM_COUNTERFACTUAL_NONE,
    SIM_COUNTERFACTUAL_NOT_REARMED,
    SIM_COUNTERFACTUAL_DROPPED,
    SIM_COUNTERFACTUAL_NOT_NOTIFIED,
    SIM_COUNTERFACTUAL_LOST,
    SIM_COUNTERFACTUAL_ELSEWHERE
};

struct sim_counterfactual {
    uint32_t kind;   /* enum sim_counterfactual_kind */
    uint32_t object; /* NOT_REARMED: what is ready. */
    bool pretended;  /* DROPPED, NOT_NOTIFIED: it was told of what it asks for, ready or not. */
    uint32_t actor;  /* Who would go on: index in the failing run. */
    /* DROPPED, NOT_REARMED: its last step. Else the step that changes the word; ELSEWHERE: of the
     * passing run. */
    uint64_t step;
    uint32_t writer_id; /* Whose step that is: the stable id. */
    /* DROPPED: the step of somebody else in which what it waits for came; 0: not known. */
    uint64_t arrival_step;
    /* ELSEWHERE, where the blocked task itself writes the word there: the step here in which
     * somebody else would have woken it had that been written before, and whose step that is. 0:
     * none. */
    uint64_t away_step;
    uint32_t away_id;
    uint64_t lost_step;          /* LOST: the step that writes over it. */
    struct sim_walk_stop writer; /* Who changes it; no frames: not known. */
    struct sim_walk_stop eraser; /* LOST: who writes over it. */
};

/* The two runs. All is borrowed. */
struct sim_counterfactual_runs {
    const struct sim_scenario *scenario;
    const struct sim_options *options;
    uint64_t seed;
    uint32_t hang_ms;
    struct sim_budget *budget;
    const struct sim_tape *failing;
    const struct sim_tape *passing; /* NULL: there is none. */
};

/* Makes the runs that it takes, a few hundred at the most, in processes of its own. Where nothing
 * is found, or the system refuses, the kind is NONE. */
void sim_counterfactual_find(const struct sim_counterfactual_runs *runs, struct sim_places *places,
        struct sim_counterfactual *ret_counterfactual);

#ifdef __cplusplus
}
#endif
#endif
