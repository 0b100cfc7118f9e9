/*
 * surw.c -- uniform over the orders in which one object is touched.
 *
 * Each run draws one object that several actors touch, in proportion to how often two touches of it
 * could have had the other order. Steps that do not touch it run in any order (random priorities,
 * redrawn after each step); of those that will touch it, only the *intended* actor may run:
 *
 *      pick:  t := the actor with the highest priority
 *             if its next step will touch the object and no actor is intended: draw an intended
 *                 one, in proportion to the touches that each still has to make
 *             actors that will touch it and are not intended wait; of the others the one with the
 *                 highest priority runs; after the intended actor's touch no actor is intended
 *             if no actor is left: draw another intended one
 *
 * Where counts and guesses are right and no actor waits for another, every order of the touches is
 * equally probable, whatever else the actors do (surw_orders_of_one_object_are_equally_probable).
 * All objects count: cells, slots, tasks (wakes and polls), timers, channels.
 *
 * After: Zhao, Wolff, Mathur, Roychoudhury, "Selectively uniform concurrency testing", ASPLOS 2025.
 * Deviations:
 *
 *   - A step is a whole poll, and what it will touch is a guess (footprints.h), as are counts.
 *   - An object is drawn by its races (learn/races.h), not by its touches. Objects that the same
 *     lines touch, such as the waiters of a lock, weigh together as one.
 *   - A read after which the task blocks is no touch: the task will read again.
 *   - The object and all orders of its touches are derived from one number (spread.h).
 *   - Only a runnable actor is intended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/search/counts.h"
#include "sim/search/footprints.h"

#define STREAM UINT32_C(0x73757277)
#define OBJECTS 512u
#define INDEX_BITS 10u
#define NONE UINT32_MAX

/* A resource that several actors touch, or the beginning of what may become one. */
struct object {
    uint32_t resource;
    uint32_t actor; /* The first that touched it; 0: several did. */
    uint32_t modes; /* enum sim_mode, of all touches. */
    uint64_t races; /* In all runs. */
    uint64_t lines; /* That touch it, hashed to bits. */
    uint64_t weight;
    uint32_t facts; /* First of those about who touches it, plus 1; 0: none. */
};

/* The place of an object. */
struct index {
    struct sim_key resource;
    uint32_t place;
};

/* Whether the next step of an actor will touch the object, as guessed for a state. */
struct hint {
    uint32_t run; /* The run in which the rest was written. */
    uint32_t state;
    bool touches;
};

struct surw {
    struct sim_ordering ordering;
    uint32_t object;              /* Of this run; 0: none. */
    uint64_t bit;                 /* Its bit in a reach. */
    uint32_t intended;            /* In-run index, or NONE. */
    uint32_t touched_step;        /* The last step of which a touch was counted. */
    uint32_t reader;              /* The actor that has only read it in this step; 0: none. */
    uint64_t weight[SIM_INDICES]; /* All 0 except while one is drawn. */
    struct sim_priorities priorities;
    struct hint hints[SIM_INDICES];
    uint32_t count;
    uint64_t weight_of_all;
    const struct sim_facts *facts;
    uint32_t next_fact[SIM_LEARNED_FACTS]; /* About the same object, plus 1. */
    uint32_t counted;                      /* The object of which counts are in the table. */
    struct object objects[OBJECTS];
    struct index index[1u << INDEX_BITS]; /* Until they are sifted. */
    struct sim_counts counts;
    struct sim_footprints footprints;
};

/* ---- Which object. --------------------------------------------------------------------------- */

static struct index *
index_of(struct surw *surw, uint32_t resource)
{
    struct index *all = surw->index;
    return &all[sim_probe_all(all, sizeof(*all), INDEX_BITS, 1, resource)];
}

/* NULL: it is unknown. */
static struct object *
find(struct surw *surw, uint32_t resource)
{
    const struct index *index = index_of(surw, resource);
    return index->resource.stamp != 0 ? &surw->objects[index->place] : NULL;
}

/* NULL: it is unknown, and there are too many. */
static struct object *
object_of(struct surw *surw, uint32_t resource)
{
    struct index *index = index_of(surw, resource);
    if (index->resource.stamp == 0 && surw->count < OBJECTS) {
        *index = (struct index){{resource, 1}, surw->count};
        surw->objects[surw->count++] = (struct object){.resource = resource};
    }
    return find(surw, resource);
}

static void
learn_object(struct surw *surw, const struct sim_fact *fact)
{
    struct object *object = object_of(surw, sim_object_resource(fact));
    if (object == NULL) {
        return;
    }
    if (object->modes == 0) {
        object->actor = fact->b;
    } else if (object->actor != fact->b) {
        object->actor = 0;
    }
    object->modes |= sim_object_mode(fact);
    uint32_t place = (uint32_t)(fact - surw->facts->entries);
    surw->next_fact[place] = object->facts;
    object->facts = place + 1;
}

static void
learn_race(struct surw *surw, const struct sim_fact *fact)
{
    struct object *object = find(surw, (uint32_t)fact->a);
    if (object != NULL) {
        object->races += fact->sum;
    }
}

static void
learn_line(struct surw *surw, const struct sim_fact *fact)
{
    struct object *object = fact->b != 0 ? find(surw, fact->b) : NULL;
    if (object != NULL) {
        object->lines |= sim_reach_bit(sim_footprint_line(fact));
    }
}

static uint64_t
count_alike(const struct surw *surw, const struct object *object)
{
    uint64_t alike = 0;
    for (uint32_t i = 0; i < surw->count; i++) {
        alike += surw->objects[i].lines == object->lines;
    }
    return alike;
}

/* Keeps only those whose order can matter. Those that the same lines touch weigh as one. */
static void
sift(struct surw *surw)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < surw->count; i++) {
        if (surw->objects[i].actor == 0 && surw->objects[i].modes != SIM_MODE_READ) {
            surw->objects[kept++] = surw->objects[i];
        }
    }
    surw->count = kept;
    for (uint32_t i = 0; i < surw->count; i++) {
        struct object *object = &surw->objects[i];
        object->weight = SIM_COUNT_ONE * object->races / count_alike(surw, object) + 1;
        surw->weight_of_all += object->weight;
    }
}

/* Of the drawn object alone: counts of all would exceed the table. */
static void
count_touches(struct surw *surw, const struct object *object)
{
    if (surw->counted == object->resource) {
        return;
    }
    surw->counted = object->resource;
    sim_counts_forget(&surw->counts);
    for (uint32_t at = object->facts; at != 0; at = surw->next_fact[at - 1]) {
        const struct sim_fact *fact = &surw->facts->entries[at - 1];
        sim_counts_add(&surw->counts, fact->b, sim_counts_mean(fact));
    }
}

static void
draw_object(struct surw *surw)
{
    surw->object = 0;
    if (surw->count == 0) {
        return;
    }
    uint64_t drawn = sim_spread_peek(&surw->ordering.spread, surw->weight_of_all);
    uint32_t i = 0;
    while (drawn >= surw->objects[i].weight) {
        drawn -= surw->objects[i++].weight;
    }
    rt_assert(i < surw->count);
    sim_spread_narrow(&surw->ordering.spread, drawn, surw->objects[i].weight);
    surw->object = surw->objects[i].resource;
    surw->bit = sim_reach_bit(surw->object);
    count_touches(surw, &surw->objects[i]);
}

static void
surw_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct surw *surw = (void *)strategy;
    sim_ordering_begin(&surw->ordering, seed, STREAM);
    draw_object(surw);
    sim_footprints_begin(&surw->footprints);
    sim_counts_begin(&surw->counts);
    surw->intended = NONE;
    surw->touched_step = 0;
    surw->reader = 0;
}

/* ---- Picking. -------------------------------------------------------------------------------- */

static bool
guesses_touch(struct surw *surw, uint32_t actor)
{
    const struct sim_guess *guess = sim_footprints_guess(&surw->footprints, actor);
    if (guess == NULL || (sim_reach_all(&guess->reach) & surw->bit) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < guess->count; i++) {
        if (guess->resource[i] == surw->object) {
            return true;
        }
    }
    return false;
}

/* Whether the next step of `actor` will touch the object. */
static inline bool
will_touch(struct surw *surw, uint32_t actor)
{
    const struct sim_states *states = &surw->footprints.states;
    const struct sim_standing *standing = &states->actors[actor];
    struct hint *hint = &surw->hints[actor];
    if (surw->object == 0) {
        return false;
    }
    if (standing->object == surw->object && standing->run == states->run) {
        return standing->woken;
    }
    if (hint->run != states->run || hint->state != standing->state) {
        *hint = (struct hint){states->run, standing->state, guesses_touch(surw, actor)};
    }
    return hint->touches;
}

static uint64_t
weight_of(struct surw *surw, uint32_t actor)
{
    if (!sim_counts_knows(&surw->counts, actor)) {
        return 0;
    }
    int64_t left = sim_counts_left(&surw->counts, actor);
    if (left > 0) {
        return (uint64_t)left;
    }
    return will_touch(surw, actor) ? SIM_COUNT_ONE : 0;
}

/* Draws the intended actor; `waiting` is one that will touch the object. Actors are counted off in
 * the order of birth, so that a number means the same order of touches whatever the queue is. */
static void
intend(struct surw *surw, const uint16_t *actors, uint32_t count, uint32_t waiting)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        surw->weight[actors[i]] = weight_of(surw, actors[i]);
        total += surw->weight[actors[i]];
    }
    surw->intended = waiting;
    if (total == 0) {
        return; /* The recorder saw none of them begin. */
    }
    uint64_t drawn = sim_spread_peek(&surw->ordering.spread, total);
    uint32_t actor = sim_counts_first(&surw->counts);
    while (drawn >= surw->weight[actor]) {
        drawn -= surw->weight[actor];
        actor = sim_counts_next(&surw->counts, actor);
    }
    sim_spread_narrow(&surw->ordering.spread, drawn, surw->weight[actor]);
    surw->intended = actor;
    for (uint32_t i = 0; i < count; i++) {
        surw->weight[actors[i]] = 0;
    }
}

/* Places of the highest priorities: among actors that may run, and among those that will touch the
 * object and are not intended. */
struct best {
    uint32_t place[2]; /* NONE: there is none. */
    uint64_t priority[2];
};

enum { FREE, WAITING };

/* Without a branch: with random priorities the CPU would mispredict every other one. */
static inline void
compare(struct best *best, uint32_t side, uint32_t place, uint64_t priority)
{
    bool better = (best->place[side] == NONE) | (priority > best->priority[side]);
    best->place[side] = better ? place : best->place[side];
    best->priority[side] = better ? priority : best->priority[side];
}

static inline void
find_best(struct surw *surw, const uint16_t *actors, uint32_t count, struct best *ret)
{
    *ret = (struct best){{NONE, NONE}, {0, 0}};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t actor = actors[i];
        uint64_t priority = sim_priority_of(&surw->priorities, &surw->ordering, actor);
        bool waits = (actor != surw->intended) & will_touch(surw, actor);
        compare(ret, waits ? WAITING : FREE, i, priority);
    }
}

/* Whether an actor that will touch the object has the highest priority, and none is intended. */
static bool
undecided(const struct surw *surw, const struct best *best)
{
    if (best->place[WAITING] == NONE) {
        return false;
    }
    if (best->place[FREE] == NONE) {
        return true; /* The intended actor is not runnable. */
    }
    return surw->intended == NONE && best->priority[WAITING] > best->priority[FREE];
}

/* The newly intended actor may run too; before, no actor was intended, or none that is runnable. */
static void
admit(const struct surw *surw, const uint16_t *actors, struct best *best)
{
    uint32_t place = 0;
    while (actors[place] != surw->intended) {
        place++;
    }
    compare(best, FREE, place, surw->priorities.value[surw->intended]);
}

static void
count(struct surw *surw, uint32_t actor)
{
    sim_counts_made(&surw->counts, actor);
    surw->intended = actor == surw->intended ? NONE : surw->intended;
}

/* The step is over. As in observe.c, a read counts unless the task blocked after it. */
static void
end_step(struct surw *surw)
{
    if (surw->reader != 0 && !surw->footprints.states.asleep) {
        count(surw, surw->reader);
    }
    surw->reader = 0;
}

static uint32_t
surw_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct surw *surw = (void *)ordering;
    sim_footprints_asked(&surw->footprints, ordering, actors);
    end_step(surw);
    struct best best;
    find_best(surw, actors, count, &best);
    if (undecided(surw, &best)) {
        intend(surw, actors, count, actors[best.place[WAITING]]);
        admit(surw, actors, &best);
    }
    uint32_t place = best.place[FREE];
    rt_assert(place < count);
    sim_priority_forget(&surw->priorities, actors[place]);
    return place;
}

/* ---- Events. --------------------------------------------------------------------------------- */

/* A new actor takes over some of its parent's touches; if the parent is intended, the child becomes
 * so in proportion. */
static void
appear(struct surw *surw, const struct sim_event *event)
{
    uint32_t parent = surw->footprints.states.stepping;
    int64_t before = parent != 0 ? sim_counts_left(&surw->counts, parent) : 0;
    sim_counts_appear(&surw->counts, event->actor, (uint32_t)event->argument, parent);
    int64_t moved = sim_counts_left(&surw->counts, event->actor);
    if (parent == 0 || surw->intended != parent || moved <= 0 || before < moved) {
        return;
    }
    uint64_t drawn = sim_spread_peek(&surw->ordering.spread, (uint64_t)before);
    bool child = drawn < (uint64_t)moved;
    surw->intended = child ? event->actor : parent;
    sim_spread_narrow(&surw->ordering.spread, child ? drawn : drawn - (uint64_t)moved,
            (uint64_t)(child ? moved : before - moved));
}

/* A cheap test first: most events are of other objects. */
static inline bool
may_touch(const struct surw *surw, const struct sim_event *event)
{
    return event->object == surw->object ? surw->object != 0
                                         : surw->object != 0 && surw->object < SIM_RESOURCES;
}

/* Counts a touch, once a step. The intended actor remains so until then: a loop that may touch the
 * object in each round, by the guess, does so once. */
static void
touch(struct surw *surw, const struct sim_event *event)
{
    const struct sim_states *states = &surw->footprints.states;
    struct sim_line_access locations[SIM_ACCESSES_MAX];
    if (surw->touched_step == event->step) {
        return;
    }
    uint32_t location_count = sim_states_locations(states, event, locations);
    for (uint32_t i = 0; i < location_count; i++) {
        if (locations[i].resource != surw->object) {
            continue;
        }
        if (locations[i].mode == SIM_MODE_READ) {
            surw->reader = states->stepping;
            continue;
        }
        surw->reader = 0;
        surw->touched_step = event->step;
        count(surw, states->stepping);
        return;
    }
}

static void
take_event(struct surw *surw, const struct sim_event *event)
{
    if (event->kind == SIM_EVENT_ACTOR) {
        appear(surw, event);
    }
    if (sim_begins_transition(event->kind)) {
        end_step(surw);
    }
    sim_footprints_event(&surw->footprints, event);
    if (may_touch(surw, event)) {
        touch(surw, event);
    }
}

SIM_STRATEGY_EVENTS(surw_events, surw, take_event)

static void
surw_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct surw *surw = memory;
    const struct sim_facts *facts = &setting->learned->facts;
    surw->ordering.pick = surw_pick;
    sim_footprints_init(&surw->footprints, facts);
    sim_counts_init(&surw->counts, facts);
    surw->facts = facts;
    for (uint32_t i = 0; i < facts->count; i++) {
        if (facts->entries[i].kind == SIM_FACT_OBJECT) {
            learn_object(surw, &facts->entries[i]);
        }
    }
    for (uint32_t i = 0; i < facts->count; i++) {
        if (facts->entries[i].kind == SIM_FACT_FOOTPRINT) {
            learn_line(surw, &facts->entries[i]);
        } else if (facts->entries[i].kind == SIM_FACT_RACE) {
            learn_race(surw, &facts->entries[i]);
        }
    }
    sift(surw);
}

const struct sim_strategy_kind sim_strategy_surw = {
        .name = "surw",
        .about = "one object a run, and all orders of its touches equally probable",
        .adaptive = true,
        .size = sizeof(struct surw),
        .ops = {.begin = surw_begin, .choose = sim_ordering_choose, .events = surw_events},
        .init = surw_init,
};
