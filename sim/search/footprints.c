/*
 * footprints.c -- a table of guesses, made from facts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/footprints.h"

/* The guess for `state`, or the free entry for it. */
static struct sim_guess *
find(struct sim_footprints *footprints, uint32_t state)
{
    struct sim_guess *all = footprints->guesses;
    return &all[sim_probe_all(all, sizeof(*all), SIM_GUESSES_BITS, 1, state)];
}

static void
reach_for(struct sim_reach *reach, uint32_t resource, uint32_t mode)
{
    uint64_t bit = sim_reach_bit(resource);
    reach->read |= mode == SIM_MODE_READ ? bit : 0;
    reach->add |= mode == SIM_MODE_ADD ? bit : 0;
    reach->write |= mode == SIM_MODE_WRITE ? bit : 0;
}

/* A table that is nearly full takes no new states: lookups must end, and soon. */
static void
learn(struct sim_footprints *footprints, const struct sim_fact *fact)
{
    struct sim_guess *guess = find(footprints, sim_footprint_state(fact));
    if (guess->state.stamp == 0) {
        if (footprints->count >= SIM_GUESSES / 4 * 3) {
            return;
        }
        guess->state = (struct sim_key){sim_footprint_state(fact), 1};
        footprints->count++;
    }
    reach_for(&guess->reach, fact->b, sim_footprint_mode(fact));
    if (guess->count < SIM_GUESS_LOCATIONS && fact->b != 0) {
        guess->mode[guess->count] = (uint8_t)sim_footprint_mode(fact);
        guess->resource[guess->count] = fact->b;
        guess->line[guess->count] = sim_footprint_line(fact);
        guess->count++;
    }
}

void
sim_footprints_init(struct sim_footprints *footprints, const struct sim_facts *facts)
{
    for (uint32_t i = 0; i < facts->count; i++) {
        if (facts->entries[i].kind == SIM_FACT_FOOTPRINT) {
            learn(footprints, &facts->entries[i]);
        }
    }
}

void
sim__footprints_update(struct sim_footprints *footprints, uint32_t actor)
{
    const struct sim_standing *standing = sim_states_of(&footprints->states, actor);
    struct sim_reach *own = &footprints->own[actor];
    const struct sim_guess *guess = NULL;
    if (standing != NULL) {
        const struct sim_guess *found = find(footprints, standing->state);
        guess = found->state.stamp != 0 ? found : NULL;
    }
    *own = guess != NULL ? guess->reach : (struct sim_reach){0, 0, UINT64_MAX};
    if (standing != NULL && standing->object != 0) {
        reach_for(own, standing->object, SIM_MODE_WRITE); /* A poll is of its task. */
    }
    footprints->guess[actor] = guess;
    footprints->updated[actor] = footprints->states.run;
    footprints->reached[actor] = footprints->states.actors[actor].state;
}

void
sim_footprints_race(struct sim_footprints *footprints, struct sim_priorities *priorities,
        const uint16_t *actors, uint32_t count, uint32_t winner)
{
    const struct sim_reach *reach = sim_footprints_reach(footprints, winner);
    for (uint32_t i = 0; i < count; i++) {
        if (sim_reach_conflict(reach, sim_footprints_reach(footprints, actors[i]))) {
            sim_priority_forget(priorities, actors[i]);
        }
    }
    sim_priority_forget(priorities, winner);
}
