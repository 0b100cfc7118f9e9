/*
 * footprints.h -- what the next step of an actor will touch, guessed from earlier runs.
 *
 * All that facts of kind FOOTPRINT say of a state is a *guess*: the locations (learn/states.h) of
 * the next step of an actor in that state. It is wrong where the code takes a path that it never
 * took before; a search is then less well aimed but no less sound, as it only chooses an order.
 *
 * Reach. At every choice each pair of runnable actors is checked for a conflict, so a guess also
 * has a *reach*: a bit for each resource, hashed to 64, and one word for each mode. Two resources
 * may share a bit, which shows a conflict where there is none. An unknown state reaches everything.
 *
 * Ownership. One struct, of fixed size, zeroed before sim_footprints_init; nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/probe.h"
#include "sim/search/learn/facts.h"
#include "sim/search/learn/states.h"
#include "sim/search/ordering.h"

#define SIM_GUESS_LOCATIONS 7u
#define SIM_GUESSES_BITS 13u
#define SIM_GUESSES (1u << SIM_GUESSES_BITS)

/* By mode: a bit for each resource. */
struct sim_reach {
    uint64_t read;
    uint64_t add;
    uint64_t write;
};

struct sim_guess {
    struct sim_key state;
    uint8_t count;
    uint8_t mode[SIM_GUESS_LOCATIONS]; /* enum sim_mode; of location i: */
    uint32_t resource[SIM_GUESS_LOCATIONS];
    uint32_t line[SIM_GUESS_LOCATIONS];
    struct sim_reach reach; /* Also of locations beyond SIM_GUESS_LOCATIONS. */
};

struct sim_footprints {
    struct sim_states states;
    struct sim_reach own[SIM_STATES_ACTORS];          /* Reach of an actor's next step, … */
    uint32_t reached[SIM_STATES_ACTORS];              /* … valid for this state, … */
    uint32_t updated[SIM_STATES_ACTORS];              /* … in this run; … */
    const struct sim_guess *guess[SIM_STATES_ACTORS]; /* … and its guess; NULL: none. */
    uint32_t count;
    struct sim_guess guesses[SIM_GUESSES];
};

/* Fills the table from `facts`. */
void sim_footprints_init(struct sim_footprints *footprints, const struct sim_facts *facts);

/* Begins a run. */
static inline void
sim_footprints_begin(struct sim_footprints *footprints)
{
    sim_states_begin(&footprints->states);
}

/* Takes the next event. */
static inline void
sim_footprints_event(struct sim_footprints *footprints, const struct sim_event *event)
{
    sim_states_event(&footprints->states, event);
}

/* An actor is to be chosen: the last step is over, unless a loop chooses within it. */
static inline void
sim_footprints_asked(struct sim_footprints *footprints, const struct sim_ordering *ordering,
        const uint16_t *actors)
{
    if (actors != ordering->described) {
        sim_states_end_step(&footprints->states);
    }
}

/* sim_footprints_guess and _reach for an actor whose state has changed. */
void sim__footprints_update(struct sim_footprints *footprints, uint32_t actor);

/* The guess for the next step of `actor`; NULL: nothing is known. */
static inline const struct sim_guess *
sim_footprints_guess(struct sim_footprints *footprints, uint32_t actor)
{
    if (footprints->updated[actor] != footprints->states.run ||
            footprints->reached[actor] != footprints->states.actors[actor].state) {
        sim__footprints_update(footprints, actor);
    }
    return footprints->guess[actor];
}

/* The reach of the next step of `actor`: everything, where nothing is known. */
static inline const struct sim_reach *
sim_footprints_reach(struct sim_footprints *footprints, uint32_t actor)
{
    (void)sim_footprints_guess(footprints, actor);
    return &footprints->own[actor];
}

/* The bit of a resource. */
static inline uint64_t
sim_reach_bit(uint32_t resource)
{
    return UINT64_C(1) << ((resource * UINT32_C(0x9e3779b1)) >> 26);
}

/* In any mode. */
static inline uint64_t
sim_reach_all(const struct sim_reach *reach)
{
    return reach->read | reach->add | reach->write;
}

static inline bool
sim_reach_conflict(const struct sim_reach *a, const struct sim_reach *b)
{
    uint64_t all_a = sim_reach_all(a);
    uint64_t all_b = sim_reach_all(b);
    return ((a->write & all_b) | (all_a & b->write) | (a->read & b->add) | (a->add & b->read)) != 0;
}

/* `winner` of the runnable `actors` goes first: it and all whose next steps conflict with its next
 * step lose their priorities. */
void sim_footprints_race(struct sim_footprints *footprints, struct sim_priorities *priorities,
        const uint16_t *actors, uint32_t count, uint32_t winner);
