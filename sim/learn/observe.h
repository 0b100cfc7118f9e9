/*
 * observe.h -- looking at a run that is over, for what it teaches.
 *
 * One look for all strategies: whoever drew the run, what it taught is noted the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_LEARN_OBSERVE_H
#define SIM_LEARN_OBSERVE_H

#include "sim/learn/lore.h"
#include "sim/world/world.h"

/* Facts that one run may teach: what comes after is left out. */
#define SIM_OBSERVE_MAX 4096u

/* Notes what the run that `world` has just ended taught, as run `run` of the sweep. The world must
 * not have begun another one. */
void sim_observe(struct sim_facts *facts, const struct sim_world *world, uint64_t run);

#endif
