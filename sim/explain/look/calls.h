/*
 * calls.h -- who made a call that the run has recorded (core/record/call.h), by its stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/experiment.h"

#define SIM_CALL_STACKS 16u

struct sim_call_stacks {
    uint32_t count;
    struct sim_call_watch all[SIM_CALL_STACKS];
};

/* A sim_analyze_fn, in whose results `stacks` says which calls: makes the run once more, and takes
 * the stack of each. */
void sim_call_stacks_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *stacks);
