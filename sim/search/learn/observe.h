/*
 * observe.h -- notes the facts (facts.h) of a run that is over, whichever strategy made it: its
 * length, its actors, and what its steps touched and raced for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/world.h"
#include "sim/search/learn/learned.h"

/* Actors of a run that get facts. */
#define SIM_OBSERVE_ACTORS_MAX 512u
/* Facts that are noted of one run at most: its length, its actors, its steps. */
#define SIM_OBSERVE_MAX 3584u

/* Notes the facts of the last run of `world` as run `run` of the sweep. The world must not have
 * begun another one. Of a run that is longer than the ring no steps are noted, as its actors are
 * not known. */
void sim_observe(struct sim_facts *facts, const struct sim_world *world, uint64_t run);
