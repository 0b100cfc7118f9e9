/*
 * worker.h -- the thread of a blocking pool, as an actor of the world.
 *
 * The duration of a piece of work is a decision; the work itself runs in one step,
 * as a run is one thread. Interleavings within it are not explored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/shard/blocking.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a blocking pool with its worker, called `name` (borrowed). Work takes from min_ns to max_ns
 * of virtual time. */
struct rt_blocking_pool *sim_blocking_pool_new(
        struct sim_world *world, const char *name, uint64_t min_ns, uint64_t max_ns);

#ifdef __cplusplus
}
#endif
