/*
 * teach.h -- what the runs of a sweep teach the next ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/sweep/batch.h"
#include "sim/search/learn/learned.h"

/*
 * Adds what `batch` taught to `epochs`, in the order of run index. Of each run `fresh` gets how
 * many coverage points it was the first to reach.
 */
void sim_teach(struct sim_epochs *epochs, struct sim_batch *batch);

/* How many runs from `index` on may be handed out now to a strategy that learns: up to the end of
 * the epoch; 0: the one before the last is not merged yet. */
uint64_t sim_teachable(const struct sim_epochs *epochs, uint64_t index);
