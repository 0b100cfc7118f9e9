/*
 * observe.c -- from the events of a run to facts: lengths, actors, and the footprints of steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/observe.h"

#include "runtime/base/assert.h"
#include "sim/search/learn/races.h"
#include "sim/search/learn/states.h"

/* The most facts that are noted of the steps of one run, give or take those of the last one, by
 * sim_facts_of_run. */
#define STEPS_FACTS_MAX 3000u
#define STEPS_FACTS_OVER 64u

_Static_assert(1 + SIM_OBSERVE_ACTORS_MAX + STEPS_FACTS_MAX + STEPS_FACTS_OVER <= SIM_OBSERVE_MAX,
        "as observe.h says");

/* The most resources and locations of one step that are noted; a release of a lock may wake
 * hundreds of tasks. */
#define TOUCHED_MAX 10u
#define LOCATIONS_MAX 12u

struct touched {
    struct sim_access accesses[TOUCHED_MAX];
    uint32_t count;
    uint32_t locations;
    uint32_t actor; /* Its stable id; 0: none. */
    uint32_t index; /* Its index in the run, … */
    uint32_t task;  /* … and its number, if it is a task. */
};

/* Of the run that is observed; too large for the stack. */
static struct sim_races races;
static struct sim_states states;

static void
touch(struct touched *touched, struct sim_access access)
{
    if (!sim_access_merge(touched->accesses, touched->count, access) &&
            touched->count < TOUCHED_MAX) {
        touched->accesses[touched->count++] = access;
    }
}

/* A task that reads an object and blocks will read it again: only the last read counts, however
 * often the task is woken in vain. */
static void
end_step(struct sim_facts *facts, struct touched *touched, bool asleep, uint64_t run)
{
    if (touched->actor == 0) {
        return;
    }
    rt_assert(touched->count <= touched->locations && touched->locations <= LOCATIONS_MAX);
    uint32_t raced = sim_races_step(
            &races, touched->index, touched->task, touched->accesses, touched->count);
    for (uint32_t i = 0; i < touched->count; i++) {
        const struct sim_access *access = &touched->accesses[i];
        bool in_vain = asleep && access->mode == SIM_MODE_READ;
        (void)sim_facts_note(facts, SIM_FACT_OBJECT,
                (uint64_t)access->mode << 32 | access->resource, touched->actor, run, !in_vain);
        if ((raced >> i & 1) != 0) {
            (void)sim_facts_note(facts, SIM_FACT_RACE, access->resource, 0, run, 1);
        }
    }
    *touched = (struct touched){.count = 0};
}

static void
begin_step(struct sim_facts *facts, struct touched *touched, uint64_t run)
{
    touched->actor = states.from.id;
    touched->index = states.stepping;
    touched->task = states.from.object;
    (void)sim_facts_note(facts, SIM_FACT_FOOTPRINT,
            sim_footprint_fact(states.from.state, 0, SIM_MODE_NONE), 0, run, 1);
}

static void
note_locations(struct sim_facts *facts, struct touched *touched, const struct sim_event *event,
        uint64_t run)
{
    struct sim_line_access locations[SIM_ACCESSES_MAX];
    uint32_t count = sim_states_locations(&states, event, locations);
    for (uint32_t i = 0; i < count && touched->locations < LOCATIONS_MAX; i++) {
        touched->locations++;
        touch(touched, (struct sim_access){locations[i].resource, locations[i].mode});
        (void)sim_facts_note(facts, SIM_FACT_FOOTPRINT,
                sim_footprint_fact(states.from.state, locations[i].line, locations[i].mode),
                locations[i].resource, run, 1);
    }
}

static void
observe_steps(struct sim_facts *facts, const struct sim_recorder *recorder, uint64_t run)
{
    struct touched touched = {.count = 0};
    uint32_t most = sim_facts_of_run(facts, run) + STEPS_FACTS_MAX;
    if (sim_recorder_first(recorder) != 0) {
        return;
    }
    sim_states_begin(&states);
    sim_races_begin(&races);
    for (uint64_t i = 0; i < recorder->count && sim_facts_of_run(facts, run) < most; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        bool begins = sim_begins_transition(event->kind);
        if (begins) {
            end_step(facts, &touched, states.asleep, run);
        }
        sim_states_event(&states, event);
        if (event->kind == SIM_EVENT_ACTOR) {
            sim_races_start(&races, event->actor, states.stepping);
        }
        if (begins && states.stepping != 0 && states.from.id != 0) {
            begin_step(facts, &touched, run);
        } else if (touched.actor != 0) {
            note_locations(facts, &touched, event, run);
        }
    }
    end_step(facts, &touched, states.asleep, run);
}

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
        observe_steps(facts, &world->recorder, run);
    }
}
