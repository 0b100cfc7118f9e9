/*
 * races.h -- which touches of an object could have come in the other order.
 *
 * Two touches of one object by different actors, in conflict, one right after the other, are a
 * *race* when nothing else orders them: no chain of wakes, starts and touches of other objects
 * leads from the first to the second. So whoever is let into a critical section races for
 * its lock with who was in there before, and not for what the lock guards.
 *
 * Clocks. Each actor has one, with a number for each other actor: so many of its steps came before.
 * A step takes over what those steps knew that touched the same objects before it, in conflict.
 * As in dpor (strategy/dpor_trace.c), but while the run is read, and for few actors and objects:
 * with SIM_RACES_ACTORS and more no race of theirs is missed, and some are none.
 *
 * Ownership. One struct, of fixed size, zeroed before its first use; nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_LEARN_RACES_H
#define SIM_SEARCH_LEARN_RACES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/footprint.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_RACES_ACTORS 128u
#define SIM_RACES_RESOURCES 512u /* A power of two. */

struct sim_races_clock {
    uint32_t steps[SIM_RACES_ACTORS];
};

/* What a run has done with a resource. */
struct sim_races_resource {
    uint32_t run; /* The run in which the rest was written. */
    uint32_t resource;
    uint32_t actor;                                 /* Of the last touch, … */
    uint32_t step;                                  /* … the how manieth step of the actor, … */
    uint32_t mode;                                  /* … enum sim_mode. */
    struct sim_races_clock touched[SIM_MODE_WRITE]; /* By mode, from READ on. */
};

struct sim_races {
    uint32_t run;                     /* Counts runs from 1. */
    uint32_t begun[SIM_RACES_ACTORS]; /* The run in which the clock was written. */
    struct sim_races_clock clocks[SIM_RACES_ACTORS];
    struct sim_races_resource resources[SIM_RACES_RESOURCES];
};

/* Begins a run. */
void sim_races_begin(struct sim_races *races);

/* `maker` (in-run indices; 0: the world) has started `actor`. */
void sim_races_start(struct sim_races *races, uint32_t actor, uint32_t maker);

/* A step of `actor`, a task with the number `task` (0: it is none), with all that it touches, at
 * most 32 resources, none twice. Returns a bit for each access that was a race. */
uint32_t sim_races_step(struct sim_races *races, uint32_t actor, uint32_t task,
        const struct sim_access *accesses, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
