/*
 * steps.h -- the footprints of a run's steps, as facts.
 *
 *      OBJECT     a: the resource, its mode in bits 32 and 33   b: the actor's stable id
 *                 once for each step that touches it, in the strongest mode; 0 times for a step
 *                 that only reads it, and after which the task is blocked
 *      RACE       a: the resource
 *                 once for each step whose touch of it was a race (races.h)
 *      FOOTPRINT  a: the state that the step began in, line, mode   b: the resource
 *                 once for each event; with line, mode and b 0: once for each step
 *
 * States, lines and locations: states.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_LEARN_STEPS_H
#define SIM_SEARCH_LEARN_STEPS_H

#include "sim/core/record/recorder.h"
#include "sim/search/learn/facts.h"
#include "sim/search/learn/states.h"

/* The most facts that are noted of one run, give or take those of its last step and event, by
 * sim_facts_of_run. */
#define SIM_STEPS_FACTS_MAX 3000u
#define SIM_STEPS_FACTS_OVER 64u

/* Notes the facts of the run in `recorder` as run `run` of the sweep; of a run that is longer than
 * the ring none, as its actors are not known. `states` is scratch memory, zeroed once. */
void sim_steps_note(struct sim_facts *facts, struct sim_states *states,
        const struct sim_recorder *recorder, uint64_t run);

/* A FOOTPRINT fact's `a`. */
static inline uint64_t
sim_footprint_fact(uint32_t state, uint32_t line, uint32_t mode)
{
    return (uint64_t)state << 34 | (uint64_t)line << 2 | mode;
}

static inline uint32_t
sim_footprint_state(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a >> 34);
}

static inline uint32_t
sim_footprint_line(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a >> 2);
}

static inline uint32_t
sim_footprint_mode(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a & 3);
}

/* An OBJECT fact's `a`. */
static inline uint32_t
sim_object_resource(const struct sim_fact *fact)
{
    return (uint32_t)fact->a;
}

static inline uint32_t
sim_object_mode(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a >> 32);
}

#endif
