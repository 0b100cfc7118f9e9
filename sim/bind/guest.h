/*
 * guest.h -- guests of the runtime in the simulated world.
 *
 * An engine (runtime/fiber/store.h) whose stacks are the run's and whose fuel is
 * virtual time: one unit takes a nanosecond. A guest that computes thereby uses up
 * the task quota, makes timers due, and is late.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BIND_GUEST_H
#define SIM_BIND_GUEST_H

#include "runtime/fiber/store.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an engine in the arena; zeros in `stack` (copied; NULL: all) are the runtime's own. */
struct rt_engine *sim_engine_new(struct sim_world *world, const struct rt_stack_config *stack);

#ifdef __cplusplus
}
#endif
#endif
