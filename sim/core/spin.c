/*
 * spin.c -- a step that spins on the clock.
 *
 * While a step runs no other actor does, and the clock stands still: a loop that reads it until
 * some time would never end. The first SIM_CLOCK_CALLS calls of a step cost nothing. After that
 * each call costs one ns more than the call before: a wait of a millisecond takes 1,400 further
 * calls, one of an hour 2.7 million, and an endless wait reaches the time limit. The counter of
 * steps moves meanwhile, so that such a step is not taken for a hang.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* This many calls take about as long as a step. */
#define CALLS_A_STEP 16u

void
sim__clock_spins(struct sim_world *world)
{
    if (world->mock_time) {
        return;
    }
    if (world->clock_calls % CALLS_A_STEP == 0) {
        sim_world_spend(world, 1);
    }
    rt_assert(world->clock_calls > SIM_CLOCK_CALLS);
    world->work_ns += world->clock_calls - SIM_CLOCK_CALLS;
    if (world->now_ns + world->work_ns > world->options.time_ns_max) {
        sim_fail(world, SIM_VERDICT_TIME_LIMIT, SIM_ORACLE_LIMIT, world->current, 0,
                "one step has called sim_now or sim_work %llu times, and has not returned after "
                "%llu ms of virtual time",
                (unsigned long long)world->clock_calls,
                (unsigned long long)(world->options.time_ns_max / 1000000));
    }
}
