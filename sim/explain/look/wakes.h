/*
 * wakes.h -- which actor wakes which loop in a run, and from where.
 *
 * Wakes of tasks are in the ledger. A loop has no wakers: it blocks, and is woken by a call of
 * sim_loop_wake, or when something becomes ready that it waits for in its host. Here each such call
 * is noted with its stack, also one that finds the loop running.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/experiment.h"

#define SIM_WAKES_MAX 256u

struct sim_loop_wake {
    uint64_t step;
    uint32_t by_id;             /* Whose step it is: the stable id. */
    uint32_t loop_id;           /* Which loop is woken. */
    bool blocked;               /* It was, so it continues because of this wake. */
    struct sim_walk_stop stack; /* Return addresses. */
};

struct sim_wakes {
    uint32_t actor;        /* Index of an actor, set before the run … */
    uint32_t loop_id;      /* … and the loop that it is, or that runs it; 0: there is none. */
    uint64_t blocked_step; /* The last step of that loop. */
    uint32_t count;
    struct sim_loop_wake all[SIM_WAKES_MAX]; /* The last ones, in their order. */
};

/* sim_analyze_fn: `wakes` is the sim_wakes. */
void sim_wakes_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *wakes);
