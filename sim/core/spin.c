/*
 * spin.c -- a step that spins on the clock.
 *
 * While a step runs no other actor does, and the clock stands still: a loop that reads it until
 * some time would never end. A call of the clock costs nothing as long as a step makes no more of
 * them than a program that reads the clock for each of some thousand things. Beyond that each call
 * costs one ns more than the call before it: a wait of a millisecond takes 1,400 further calls, one
 * of an hour 2.7 million, and a wait without an end reaches the limit of virtual time. The counter
 * of steps moves meanwhile: such a step is slow, and is no hang.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* So many calls take about as long as a step. */
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
    world->work_ns += world->clock_calls - SIM_CLOCK_CALLS;
    if (world->now_ns + world->work_ns > world->options.time_ns_max) {
        sim_fail(world, SIM_VERDICT_TIME_LIMIT, SIM_ORACLE_LIMIT, world->current, 0,
                "one step has called sim_now or sim_work %llu times, and has not returned after "
                "%llu ms of virtual time",
                (unsigned long long)world->clock_calls,
                (unsigned long long)(world->options.time_ns_max / 1000000));
    }
}
