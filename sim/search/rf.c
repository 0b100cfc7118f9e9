/*
 * rf.c -- `rf`: runs that try to satisfy reads-from constraints.
 *
 * A constraint is about two lines of code, whichever tasks execute them: "the read on line r sees
 * the write on line w", or its negation. All objects can be read and written, not only cells:
 *
 *      cell    set → get       the value is that line's; w = 0: the initial one
 *      slot    store → fire    park before wake; its negation: the wake is first, and lost
 *      task    wake → poll     this poll is caused by that wake (r: where the task was blocked)
 *      timer   arm → expire, and channels, semaphores: put → take …
 *
 * Earlier runs have shown which lines touch an object that several actors touch. Each run draws 1
 * to n constraints: a reading line, a line that may write before it or none, and the sign, whether
 * or not any run has shown the pair.
 *
 * Then of the runnable actors the *wanted* ones go first, the *avoided* ones last; among equals
 * partial order sampling (pos.c) decides:
 *
 *                                       r is next    w is next    another write is next
 *      w → r,       w wrote last        wanted       -            avoided
 *                   another line did    avoided      wanted       -
 *      not w → r,   w wrote last        avoided      avoided      wanted
 *                   another line did    wanted       avoided      -
 *
 * until the constraint has been satisfied once. No actor starves: when all are avoided, one of them
 * runs, and the world itself passes no actor over forever.
 *
 * After: Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox fuzzing for concurrency testing" (RFF),
 * ASPLOS 2024. Deviations:
 *
 *   - Constraints on all objects, not on memory alone.
 *   - No corpus here: `guided` varies the constraints of runs that covered something new.
 *   - A step is a whole poll with several accesses, and which they are is a guess (footprints.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/rf.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/search/footprints.h"

#define STREAM UINT32_C(0x72662121)
#define SHARED 512u
#define USES 2048u
#define PAIRS 2048u
#define READS 512u
#define WRITERS_BITS 10u
#define WRITERS_TRIES 16u

/* A resource, and the actors that touch it. */
struct shared {
    uint32_t resource;
    uint32_t actor; /* The first; 0: there are several. */
    uint32_t use;   /* First of its uses, plus 1; 0: none. */
};

/* A line that touches a resource. */
struct use {
    uint32_t line;
    uint32_t mode; /* enum sim_mode, of all its accesses together. */
    uint32_t next; /* Of the same resource, plus 1. */
};

struct read {
    uint32_t line;
    uint32_t pairs;
};

/* The line that wrote a resource last in a run. */
struct writer {
    struct sim_key resource;
    uint32_t line;
};

enum tier { AVOIDED, NEITHER, WANTED };

struct rf {
    struct sim_ordering ordering;
    struct sim_priorities priorities;
    uint64_t most; /* Constraints of a run. */
    uint32_t count;
    uint32_t version;   /* Moves when a tier may have changed. */
    uint64_t resources; /* Of all constraints. */
    struct sim_constraint constraints[SIM_CONSTRAINTS_MAX];
    uint8_t tier[SIM_INDICES];
    uint32_t tier_version[SIM_INDICES];
    uint32_t tier_state[SIM_INDICES];
    struct writer writers[1u << WRITERS_BITS];
    uint32_t shared_count;
    uint32_t use_count;
    uint32_t pair_count;
    uint32_t read_count;
    struct shared shared[SHARED];
    struct use uses[USES];
    struct sim_constraint pairs[PAIRS]; /* A write that may precede a read; not negative. */
    struct read reads[READS];
    struct sim_footprints footprints;
};

/* A cell can be overwritten without being read; a write to any other object also reads it. */
static bool
observes(uint32_t resource, uint32_t mode)
{
    return mode != SIM_MODE_WRITE || SIM_OBJECT_KIND(resource) != RT_OBJECT_USER;
}

/* ---- Pairs of lines. ------------------------------------------------------------------------- */

static struct shared *
shared_of(struct rf *rf, uint32_t resource)
{
    for (uint32_t i = 0; i < rf->shared_count; i++) {
        if (rf->shared[i].resource == resource) {
            return &rf->shared[i];
        }
    }
    return NULL;
}

static void
learn_object(struct rf *rf, const struct sim_fact *fact)
{
    uint32_t resource = sim_object_resource(fact);
    struct shared *shared = resource >= SIM_RESOURCES ? shared_of(rf, resource) : NULL;
    if (shared != NULL && shared->actor != fact->b) {
        shared->actor = 0;
    } else if (shared == NULL && resource >= SIM_RESOURCES && rf->shared_count < SHARED) {
        rf->shared[rf->shared_count++] = (struct shared){resource, fact->b, 0};
    }
}

static void
learn_use(struct rf *rf, const struct sim_fact *fact)
{
    struct shared *shared = fact->b != 0 ? shared_of(rf, fact->b) : NULL;
    if (shared == NULL || shared->actor != 0) {
        return;
    }
    for (uint32_t at = shared->use; at != 0; at = rf->uses[at - 1].next) {
        if (rf->uses[at - 1].line == sim_footprint_line(fact)) {
            rf->uses[at - 1].mode |= sim_footprint_mode(fact);
            return;
        }
    }
    if (rf->use_count < USES) {
        rf->uses[rf->use_count++] =
                (struct use){sim_footprint_line(fact), sim_footprint_mode(fact), shared->use};
        shared->use = rf->use_count;
    }
}

static void
add_read(struct rf *rf, uint32_t line)
{
    for (uint32_t i = 0; i < rf->read_count; i++) {
        if (rf->reads[i].line == line) {
            rf->reads[i].pairs++;
            return;
        }
    }
    if (rf->read_count < READS) {
        rf->reads[rf->read_count++] = (struct read){line, 1};
    }
}

/* NULL: no run has shown that both lines touch one object. */
static struct sim_constraint *
find_pair(struct rf *rf, uint32_t write, uint32_t read)
{
    for (uint32_t i = 0; i < rf->pair_count; i++) {
        if (rf->pairs[i].write == write && rf->pairs[i].read == read) {
            return &rf->pairs[i];
        }
    }
    return NULL;
}

static void
add_pair(struct rf *rf, uint32_t write, uint32_t read, uint32_t resource)
{
    struct sim_constraint *pair = find_pair(rf, write, read);
    if (pair != NULL) {
        pair->resources |= sim_reach_bit(resource);
    } else if (rf->pair_count < PAIRS) {
        rf->pairs[rf->pair_count++] = (struct sim_constraint){
                .write = write, .read = read, .resources = sim_reach_bit(resource)};
        add_read(rf, read);
    }
}

static void
pair_up(struct rf *rf, const struct shared *shared)
{
    for (uint32_t r = shared->use; r != 0; r = rf->uses[r - 1].next) {
        const struct use *read = &rf->uses[r - 1];
        if (!observes(shared->resource, read->mode)) {
            continue;
        }
        add_pair(rf, 0, read->line, shared->resource);
        for (uint32_t w = shared->use; w != 0; w = rf->uses[w - 1].next) {
            if (rf->uses[w - 1].mode != SIM_MODE_READ) {
                add_pair(rf, rf->uses[w - 1].line, read->line, shared->resource);
            }
        }
    }
}

static void
learn(struct rf *rf, const struct sim_facts *facts)
{
    for (uint32_t i = 0; i < facts->count; i++) {
        if (facts->entries[i].kind == SIM_FACT_OBJECT) {
            learn_object(rf, &facts->entries[i]);
        }
    }
    for (uint32_t i = 0; i < facts->count; i++) {
        if (facts->entries[i].kind == SIM_FACT_FOOTPRINT) {
            learn_use(rf, &facts->entries[i]);
        }
    }
    for (uint32_t i = 0; i < rf->shared_count; i++) {
        pair_up(rf, &rf->shared[i]);
    }
}

/* ---- The constraints of a run. --------------------------------------------------------------- */

static bool
is_read_constrained(const struct rf *rf, uint32_t line)
{
    for (uint32_t i = 0; i < rf->count; i++) {
        if (rf->constraints[i].read == line) {
            return true;
        }
    }
    return false;
}

static void
constrain(struct rf *rf, const struct sim_constraint *pair, bool negative)
{
    rt_assert(rf->count < SIM_CONSTRAINTS_MAX);
    rf->constraints[rf->count] = *pair;
    rf->constraints[rf->count++].negative = negative;
    rf->resources |= pair->resources;
}

/* One constraint a reading line: two on one would mostly contradict each other. */
static void
draw_constraint(struct rf *rf)
{
    const struct read *read = &rf->reads[sim_spread_below(&rf->ordering.spread, rf->read_count)];
    uint32_t place = sim_spread_below(&rf->ordering.spread, read->pairs);
    bool negative = sim_spread_below(&rf->ordering.spread, 2) != 0;
    if (is_read_constrained(rf, read->line)) {
        return;
    }
    for (uint32_t i = 0; i < rf->pair_count; i++) {
        if (rf->pairs[i].read == read->line && place-- == 0) {
            constrain(rf, &rf->pairs[i], negative);
            return;
        }
    }
}

static struct rf *
begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct rf *rf = (void *)strategy;
    sim_ordering_begin(&rf->ordering, seed, STREAM);
    sim_footprints_begin(&rf->footprints);
    rf->count = 0;
    rf->resources = 0;
    rf->version++;
    return rf;
}

static void
rf_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct rf *rf = begin(strategy, seed);
    if (rf->read_count > 0) {
        uint32_t count = 1 + sim_ordering_below(&rf->ordering, (uint32_t)rf->most);
        for (uint32_t i = 0; i < count; i++) {
            draw_constraint(rf);
        }
    }
}

static void
inherit(struct rf *rf, const struct sim_corpus_set *parent)
{
    for (uint32_t i = 0; i < parent->count; i++) {
        const struct sim_corpus_pair *wanted = &parent->constraints[i];
        const struct sim_constraint *pair = find_pair(rf, wanted->write, wanted->read);
        if (pair != NULL) {
            constrain(rf, pair, wanted->negative != 0);
        }
    }
}

/* Another line that may write before the same read, if there is one. */
static void
change_writer(struct rf *rf, struct sim_constraint *constraint)
{
    uint32_t first = sim_ordering_below(&rf->ordering, rf->pair_count);
    for (uint32_t i = 0; i < rf->pair_count; i++) {
        const struct sim_constraint *pair = &rf->pairs[(first + i) % rf->pair_count];
        if (pair->read == constraint->read && pair->write != constraint->write) {
            constraint->write = pair->write;
            constraint->resources = pair->resources;
            return;
        }
    }
}

enum change { ONE_MORE, ONE_LESS, ANOTHER_WRITER, NEGATED, CHANGES };

void
sim_rf_begin_with(struct sim_strategy *strategy, uint64_t seed, const struct sim_corpus_set *parent)
{
    struct rf *rf = begin(strategy, seed);
    inherit(rf, parent);
    uint32_t change = sim_ordering_below(&rf->ordering, CHANGES);
    uint32_t place = rf->count > 0 ? sim_ordering_below(&rf->ordering, rf->count) : 0;
    if (rf->count == 0 || (change == ONE_MORE && rf->count < SIM_CONSTRAINTS_MAX)) {
        if (rf->read_count > 0) {
            draw_constraint(rf);
        }
    } else if (change == ONE_LESS) {
        rf->constraints[place] = rf->constraints[--rf->count];
    } else if (change == ANOTHER_WRITER) {
        change_writer(rf, &rf->constraints[place]);
    } else {
        rf->constraints[place].negative = !rf->constraints[place].negative;
    }
    rf->resources = 0;
    for (uint32_t i = 0; i < rf->count; i++) {
        rf->resources |= rf->constraints[i].resources;
    }
}

/* ---- Events. --------------------------------------------------------------------------------- */

/* The entry of `resource`, or a free one; a full neighbourhood loses its first one. */
static struct writer *
writer_of(struct rf *rf, uint32_t resource)
{
    struct writer *all = rf->writers;
    uint32_t place =
            sim_probe(all, sizeof(*all), WRITERS_BITS, WRITERS_TRIES, rf->ordering.run, resource);
    return &all[place != UINT32_MAX ? place : sim_probe_start(WRITERS_BITS, resource)];
}

/* 0: none in this run, or it is forgotten. */
static uint32_t
last_writer(struct rf *rf, uint32_t resource)
{
    const struct writer *writer = writer_of(rf, resource);
    bool known = writer->resource.stamp == rf->ordering.run && writer->resource.key == resource;
    return known ? writer->line : 0;
}

static void
access(struct rf *rf, const struct sim_line_access *location)
{
    uint64_t bit = sim_reach_bit(location->resource);
    uint32_t last = last_writer(rf, location->resource);
    for (uint32_t i = 0; i < rf->count; i++) {
        struct sim_constraint *constraint = &rf->constraints[i];
        if (!constraint->satisfied && location->line == constraint->read && location->observes &&
                (constraint->resources & bit) != 0 &&
                (last == constraint->write) != constraint->negative) {
            constraint->satisfied = true;
            rf->version++;
        }
    }
    if (location->mode != SIM_MODE_READ && last != location->line) {
        *writer_of(rf, location->resource) =
                (struct writer){{location->resource, rf->ordering.run}, location->line};
        rf->version++;
    }
}

static void
take_event(struct rf *rf, const struct sim_event *event)
{
    struct sim_line_access locations[SIM_ACCESSES_MAX];
    sim_footprints_event(&rf->footprints, event);
    if (event->object == 0 || (rf->resources & sim_reach_bit(event->object)) == 0) {
        return;
    }
    uint32_t count = sim_states_locations(&rf->footprints.states, event, locations);
    for (uint32_t i = 0; i < count; i++) {
        access(rf, &locations[i]);
    }
}

/* ---- Picking. -------------------------------------------------------------------------------- */

static void
weigh(const struct sim_constraint *constraint, uint32_t last, uint32_t line, bool writes,
        bool *wanted, bool *avoided)
{
    bool fulfilled = last == constraint->write;
    if (line == constraint->read) {
        if (fulfilled != constraint->negative) {
            *wanted = true;
        } else if (constraint->write != 0 || constraint->negative) {
            *avoided = true;
        }
    } else if (writes && line == constraint->write) {
        if (constraint->negative) {
            *avoided = true;
        } else if (!fulfilled) {
            *wanted = true;
        }
    } else if (writes && fulfilled) {
        *(constraint->negative ? wanted : avoided) = true;
    }
}

static enum tier
find_tier(struct rf *rf, uint32_t actor)
{
    const struct sim_guess *guess = sim_footprints_guess(&rf->footprints, actor);
    bool wanted = false;
    bool avoided = false;
    if (guess == NULL || (sim_reach_all(&guess->reach) & rf->resources) == 0) {
        return NEITHER;
    }
    for (uint32_t s = 0; s < guess->count; s++) {
        uint64_t bit = sim_reach_bit(guess->resource[s]);
        if ((rf->resources & bit) == 0) {
            continue;
        }
        uint32_t last = last_writer(rf, guess->resource[s]);
        for (uint32_t i = 0; i < rf->count; i++) {
            const struct sim_constraint *constraint = &rf->constraints[i];
            if (!constraint->satisfied && (constraint->resources & bit) != 0) {
                weigh(constraint, last, guess->line[s], guess->mode[s] != SIM_MODE_READ, &wanted,
                        &avoided);
            }
        }
    }
    return wanted == avoided ? NEITHER : wanted ? WANTED : AVOIDED;
}

static enum tier
tier_of(struct rf *rf, uint32_t actor)
{
    uint32_t state = rf->footprints.states.actors[actor].state;
    if (rf->tier_version[actor] != rf->version || rf->tier_state[actor] != state) {
        rf->tier[actor] = (uint8_t)find_tier(rf, actor);
        rf->tier_version[actor] = rf->version;
        rf->tier_state[actor] = state;
    }
    return rf->tier[actor];
}

static uint32_t
rf_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct rf *rf = (void *)ordering;
    sim_footprints_asked(&rf->footprints, ordering, actors);
    uint32_t best = 0;
    enum tier tier = AVOIDED;
    uint64_t highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        enum tier its = tier_of(rf, actors[i]);
        uint64_t priority = sim_priority_of(&rf->priorities, ordering, actors[i]);
        if (i == 0 || its > tier || (its == tier && priority > highest)) {
            best = i;
            tier = its;
            highest = priority;
        }
    }
    sim_footprints_race(&rf->footprints, &rf->priorities, actors, count, actors[best]);
    return best;
}

SIM_STRATEGY_EVENTS(rf_events, rf, take_event)

static void
rf_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct rf *rf = memory;
    rf->ordering.pick = rf_pick;
    rf->most = sim_search_param(setting->search, "n");
    sim_footprints_init(&rf->footprints, &setting->learned->facts);
    learn(rf, &setting->learned->facts);
}

uint32_t
sim_rf_constraints(
        const struct sim_strategy *strategy, struct sim_constraint ret[SIM_CONSTRAINTS_MAX])
{
    const struct rf *rf = (const void *)strategy;
    memcpy(ret, rf->constraints, rf->count * sizeof(*ret));
    return rf->count;
}

void
sim_rf_note(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run)
{
    const struct rf *rf = (const void *)strategy;
    for (uint32_t i = 0; i < rf->count; i++) {
        const struct sim_constraint *constraint = &rf->constraints[i];
        (void)sim_facts_note(facts, SIM_FACT_WANTED,
                (uint64_t)constraint->write << 32 | constraint->read,
                (uint32_t)run << 1 | constraint->negative, run, 1);
    }
}

const struct sim_strategy_kind sim_strategy_rf = {
        .name = "rf",
        .about = "constraints on which line reads what which line wrote",
        .params = {{"n", "constraints of a run, at most", 2, 1, SIM_CONSTRAINTS_MAX}},
        .adaptive = true,
        .size = sizeof(struct rf),
        .ops = {.begin = rf_begin, .choose = sim_ordering_choose, .events = rf_events},
        .init = rf_init,
        .note = sim_rf_note,
};
