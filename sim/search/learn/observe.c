/*
 * observe.c -- lengths, actors, and the footprints of their steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/observe.h"

#include "sim/search/learn/steps.h"

_Static_assert(
        1 + SIM_OBSERVE_ACTORS_MAX + SIM_STEPS_FACTS_MAX + SIM_STEPS_FACTS_OVER <= SIM_OBSERVE_MAX,
        "as observe.h says");

/* Of the run that is observed; too large for the stack. */
static struct sim_states states;

static void
observe_actors(struct sim_facts *facts, const struct sim_world *world, uint64_t run)
{
    uint32_t count = world->actor_count < SIM_OBSERVE_ACTORS_MAX ? world->actor_count
                                                                 : SIM_OBSERVE_ACTORS_MAX;
    for (uint32_t i = 1; i < count; i++) {
        const struct sim_actor *actor = world->actors[i];
        uint32_t parent = actor->parent != NULL ? actor->parent->id : 0;
        (void)sim_facts_note(facts, SIM_FACT_ACTOR, actor->id, parent, run, actor->polls);
    }
}

/* The first runs show nearly all footprints, and reading them costs more than a short run: of later
 * runs only each 16th. */
static bool
observes_steps(uint64_t run)
{
    return run < 64 || run % 16 == 0;
}

void
sim_observe(struct sim_facts *facts, const struct sim_world *world, uint64_t run)
{
    (void)sim_facts_note(facts, SIM_FACT_LENGTH, 0, 0, run, world->decider.run_choices);
    observe_actors(facts, world, run);
    if (observes_steps(run)) {
        sim_steps_note(facts, &states, &world->recorder, run);
    }
}
