/*
 * races.h -- which accesses of an object could have had the other order.
 *
 * Two conflicting accesses of one object by different actors, one right after the other, are a
 * *race* when nothing else orders them: no chain of wakes, starts and accesses of other objects
 * leads from the first to the second. So two actors race for a lock, but not for the data that the
 * lock guards.
 *
 * Clocks. Each actor has a vector clock: so many steps of each other actor happened before. A step
 * joins the clocks of the conflicting steps that touched the same objects before it. As in dpor
 * (dpor/trace.c), but in one pass over the run, and for a limited number of actors: beyond
 * SIM_RACES_ACTORS no race is missed, and some are reported that are none.
 *
 * Ownership. One struct, of fixed size, zeroed before its first use; nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/probe.h"
#include "sim/core/record/footprint.h"

#define SIM_RACES_ACTORS 128u
#define SIM_RACES_RESOURCE_BITS 9u

struct sim_races_clock {
    uint32_t steps[SIM_RACES_ACTORS];
};

/* The accesses of a run to a resource. */
struct sim_races_resource {
    struct sim_key number;                          /* Of this run. */
    uint32_t actor;                                 /* Of the last touch, … */
    uint32_t step;                                  /* … the number of the actor's step, … */
    uint32_t mode;                                  /* … enum sim_mode. */
    struct sim_races_clock touched[SIM_MODE_WRITE]; /* By mode, from READ on. */
};

struct sim_races {
    uint32_t run;                     /* Counts runs from 1. */
    uint32_t begun[SIM_RACES_ACTORS]; /* The run in which the clock was written. */
    struct sim_races_clock clocks[SIM_RACES_ACTORS];
    struct sim_races_resource resources[1u << SIM_RACES_RESOURCE_BITS];
};

/* Begins a run. */
void sim_races_begin(struct sim_races *races);

/* `maker` (in-run indices; 0: the world) has started `actor`. */
void sim_races_start(struct sim_races *races, uint32_t actor, uint32_t maker);

/* A step of `actor`, a task with the number `task` (0: it is none), with its accesses, at most 32,
 * each of another resource. Returns a bit for each access that was a race. */
uint32_t sim_races_step(struct sim_races *races, uint32_t actor, uint32_t task,
        const struct sim_access *accesses, uint32_t count);
