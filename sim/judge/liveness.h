/*
 * liveness.h -- a run that became free of faults, and did not come to its end: is it to blame?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/judge/judge.h"

/* What a run was like when it ended; a replay up to there does not tell. */
struct sim_health {
    bool fault_free;
    uint64_t injections;
    uint64_t step; /* Where it became free of faults. */
    uint64_t ns;
};

static inline struct sim_health
sim_health_of(const struct sim_world *world)
{
    return (struct sim_health){
            world->fault_free, world->injections, world->fault_free_step, world->fault_free_ns};
}

/*
 * For a run of `what` that ended with oracle `liveness`, or at the limit of steps or time. True: it
 * became free of faults and goes on forever, and *outcome says so, livelock by `liveness`. False:
 * it was not free of faults, or is excused; *outcome is as it was. `tape` is what the run wrote;
 * borrowed.
 */
bool sim_judge_liveness(struct sim_world *world, const struct sim_case *what,
        const struct sim_tape *tape, const struct sim_health *health, struct sim_outcome *outcome);
