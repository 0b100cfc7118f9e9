/*
 * guest.h -- guests of the runtime in the simulated world.
 *
 * An engine (runtime/fiber/store.h) with stacks of the run and fuel in virtual time:
 * one unit takes a nanosecond. So a guest that computes uses up the task quota, and
 * timers become due meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/fiber/store.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an engine in the arena; zeros in `stack` (copied; NULL: all) are the runtime's defaults. */
struct rt_engine *sim_engine_new(struct sim_world *world, const struct rt_stack_config *stack);

#ifdef __cplusplus
}
#endif
