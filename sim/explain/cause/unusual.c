/*
 * unusual.c -- the traits of the failing run, by how many runs that pass have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/unusual.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"
#include "sim/core/code/source.h"
#include "sim/explain/cause/reads.h"
#include "sim/explain/lines.h"

#define PASSING_RUNS 20u
#define PASSING_LEAST 10u
#define FAILING_RUNS 8u
#define SEEDS_MAX 200u

struct search {
    const struct sim_fate_evidence *evidence;
    const struct sim_outcome *outcome;
    struct sim_options options;
    struct sim_single single;
    struct sim_traits *own; /* Of the failing run. */
    struct sim_traits *other;
    uint8_t *passes; /* Of each of its own: how many runs that pass have it, … */
    uint8_t *fails;  /* … and how many that fail. */
    uint32_t passing;
    uint32_t failing;
    struct sim_wakers *wakers;
};

/* ---- Runs. ----------------------------------------------------------------------------------- */

static void
count(struct search *search, uint8_t *counts)
{
    for (uint32_t i = 0; i < search->own->count; i++) {
        counts[i] = (uint8_t)(counts[i] + sim_traits_have(search->other, search->own->all[i].key));
    }
}

static void
learn(struct search *search, const struct sim_actor_table *actor_table,
        const struct sim_executed *executed)
{
    struct sim_ledger ledger;
    sim_lines_add(&search->single.worker.shared->recorder, actor_table, executed,
            search->evidence->places);
    sim_ledger_make(&ledger, actor_table);
    sim_wakers_learn(search->wakers, &ledger, executed);
    sim_ledger_free(&ledger);
}

/* Walks the run that was made last, and counts what it has. One that is cut off has more than is
 * seen. */
static void
compare(struct search *search, bool passes)
{
    const struct sim_runs *runs = search->evidence->runs;
    const struct sim_tape tape = sim_single_deviations(&search->single);
    bool checked = search->outcome->verdict == SIM_VERDICT_INVARIANT;
    struct sim_actor_table actor_table;
    sim_actor_table_make(&actor_table, sim_single_recorder(&search->single));
    struct sim_executed *executed =
            sim_executed_run(runs, &tape, search->evidence->code, checked, 0);
    if (executed != NULL && executed->done && passes && search->wakers != NULL) {
        learn(search, &actor_table, executed);
    }
    if (executed != NULL && executed->done && (executed->whole || !passes)) {
        sim_fate_add_atomics(executed, &actor_table);
        sim_traits_find(search->evidence->code, executed, &actor_table, search->other);
        count(search, passes ? search->passes : search->fails);
        search->passing += passes;
        search->failing += !passes;
    }
    sim_executed_free(&executed);
    sim_actor_table_free(&actor_table);
}

/* One run at random, or, each second one, as the failing one up to a decision. */
static void
try_seed(struct search *search, uint32_t seed)
{
    const struct sim_runs *runs = search->evidence->runs;
    struct sim_tape prefix = *runs->failing;
    bool branch = seed % 2 == 0 && prefix.count > 0;
    if (branch) {
        uint32_t nth = seed / 2;
        prefix.count = 1 + nth % runs->failing->count;
    }
    const struct sim_run_spec spec = {
            .scenario = runs->scenario,
            .options = search->options,
            .seed = seed,
            .how = branch ? SIM_HOW_BRANCH : SIM_HOW_RANDOM,
            .tape = branch ? &prefix : NULL,
            .hasty = search->outcome->verdict == SIM_VERDICT_LIVELOCK,
    };
    const struct sim_outcome *outcome = sim_single_run(&search->single, &spec);
    if (outcome == NULL) {
        return;
    }
    bool passes = outcome->verdict == SIM_VERDICT_PASS;
    if (passes || (search->failing < FAILING_RUNS && sim_outcome_same(search->outcome, outcome))) {
        compare(search, passes);
    }
}

static void
make_runs(struct search *search)
{
    for (uint32_t seed = 1;
            seed <= SEEDS_MAX && search->passing < PASSING_RUNS && !search->single.worker.failed &&
            sim_budget_left(search->evidence->runs->budget);
            seed++) {
        try_seed(search, seed);
    }
}

/* ---- Which of them are unusual. -------------------------------------------------------------- */

/* In this order they are named. */
enum { OUTDATED, SIMPLE, CALLED, OF_TWO };

/* One of the failing run's own traits that each run has that fails, and few that pass. */
struct candidate {
    uint32_t passes;
    uint32_t rank;
    uint32_t first;
    uint32_t index;
};

/* What is seen in one line says more than what two lines, or two actors, have to do with each
 * other; only what was used too late says more, but where a run stalls. */
static uint32_t
rank_of(const struct search *search, const struct sim_trait *trait)
{
    bool stalls = search->outcome->verdict == SIM_VERDICT_DEADLOCK ||
                  search->outcome->verdict == SIM_VERDICT_LOST_WAKEUP ||
                  search->outcome->verdict == SIM_VERDICT_LIVELOCK;
    static const uint32_t ranks[] = {
            [SIM_TRAIT_BRANCH] = SIMPLE,
            [SIM_TRAIT_READ] = SIMPLE,
            [SIM_TRAIT_OVERWRITTEN] = SIMPLE,
            [SIM_TRAIT_STALE] = OF_TWO,
            [SIM_TRAIT_UNREAD] = OF_TWO,
            [SIM_TRAIT_WHILE] = OF_TWO,
            [SIM_TRAIT_LOST] = SIMPLE,
            [SIM_TRAIT_OUTDATED] = OUTDATED,
            [SIM_TRAIT_ASKED_AGAIN] = OUTDATED,
            [SIM_TRAIT_REUSED] = OUTDATED,
            [SIM_TRAIT_MERGED] = OUTDATED,
            [SIM_TRAIT_OVERTAKES] = OUTDATED,
            [SIM_TRAIT_NOT_CANCELLED] = OUTDATED,
    };
    if (ranks[trait->kind] == OUTDATED && stalls) {
        return OF_TWO;
    }
    return trait->called ? CALLED : ranks[trait->kind];
}

/* The rarest in runs that pass, then the simplest, then the last. */
static int
compare_candidates(const void *a, const void *b)
{
    const struct candidate *one = a;
    const struct candidate *other = b;
    if (one->passes != other->passes) {
        return one->passes < other->passes ? -1 : 1;
    }
    if (one->rank != other->rank) {
        return one->rank < other->rank ? -1 : 1;
    }
    if (one->first != other->first) {
        return one->first > other->first ? -1 : 1;
    }
    return one->index < other->index ? -1 : one->index > other->index;
}

/* What is executed at `pc` is of that function, or inlined into it. */
static bool
is_within(const struct sim_fate_evidence *evidence, uintptr_t pc, const char *function)
{
    struct sim_place places[SIM_INLINED_MAX];
    uint32_t count = sim_places_at(evidence->places, pc, false, places, SIM_INLINED_MAX);
    bool within = false;
    for (uint32_t i = 0; i < count; i++) {
        within = within || strcmp(places[i].function, function) == 0;
    }
    return within;
}

uint32_t
sim__goes_to(const struct sim_fate_evidence *evidence, uint32_t jump, const struct sim_place *from)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place place;
    for (uint32_t i = jump + 1; i < here->count; i++) {
        const struct sim_instruction *next = &here->all[i];
        if (next->actor_id != here->all[jump].actor_id || next->stack < here->all[jump].stack) {
            continue;
        }
        if (next->stack > here->all[jump].stack || !is_within(evidence, next->pc, from->function)) {
            return 0;
        }
        if (sim__reader_at(evidence, next->pc, &place) && !sim__is_same_line(&place, from) &&
                strcmp(place.function, from->function) == 0 &&
                !sim_source_ends_block(place.file, place.line)) {
            return place.line;
        }
    }
    return 0;
}

/* As a line of the reader's. False: it is in none; `within`: then the one that called it. */
static bool
describe(const struct sim_fate_evidence *evidence, const struct sim_trait *trait, bool within,
        struct sim_unusual_trait *ret)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place place;
    *ret = (struct sim_unusual_trait){.kind = trait->kind, .first = trait->first, .within = within};
    if (sim__reader_at(evidence, here->all[trait->first].pc, &place) == within) {
        return false;
    }
    ret->at = sim__located(evidence, evidence->failing, here, trait->first);
    ret->at.caller.line = trait->called ? ret->at.caller.line : 0;
    if (trait->other != UINT32_MAX) {
        ret->other = sim__located(evidence, evidence->failing, here, trait->other);
    }
    if (trait->third != UINT32_MAX) {
        ret->third = sim__located(evidence, evidence->failing, here, trait->third);
    }
    if (trait->kind == SIM_TRAIT_BRANCH && !within) {
        ret->line = sim__goes_to(evidence, trait->first, &ret->at.place);
    }
    return ret->at.place.line != 0 && (trait->other == UINT32_MAX || ret->other.place.line != 0);
}

/* Two that say the same: in one step, while another is at one place. */
static bool
is_alike(const struct sim_unusual_trait *a, const struct sim_unusual_trait *b)
{
    return a->kind == SIM_TRAIT_WHILE && b->kind == SIM_TRAIT_WHILE && a->at.step == b->at.step &&
           a->at.part == b->at.part && sim__is_same_line(&a->other.place, &b->other.place);
}

/* The one of the same function that is named, else one that says the same; NULL: none is. */
static struct sim_unusual_trait *
named_of(struct sim_unusual *unusual, const struct sim_unusual_trait *trait)
{
    struct sim_unusual_trait *alike = NULL;
    for (uint32_t i = 0; i < unusual->count; i++) {
        if (strcmp(unusual->all[i].at.place.function, trait->at.place.function) == 0) {
            return &unusual->all[i];
        }
        if (is_alike(&unusual->all[i], trait)) {
            alike = &unusual->all[i];
        }
    }
    return alike;
}

/* A function is named once. Of what is as rare there, and as simple, a condition says more than
 * what is read for it, and the first more than what follows of it; the last comes here first. */
static void
add(struct sim_unusual *unusual, const struct sim_unusual_trait *trait)
{
    struct sim_unusual_trait *named = named_of(unusual, trait);
    if (named == NULL && unusual->count < SIM_UNUSUAL_MAX) {
        unusual->all[unusual->count++] = *trait;
    } else if (named != NULL && named->passes == trait->passes && named->rank == trait->rank &&
               (trait->kind == SIM_TRAIT_BRANCH || named->kind != SIM_TRAIT_BRANCH)) {
        *named = *trait;
    }
}

static void
note_condition(struct sim_unusual *unusual, const struct sim_instruction *jump)
{
    if (jump->jump && unusual->condition_count < SIM_UNUSUAL_CONDITIONS) {
        unusual->conditions[unusual->condition_count].pc = jump->pc;
        unusual->conditions[unusual->condition_count++].taken = jump->taken;
    }
}

/* Those of the line that fails are the failure. `within`: of libraries, where there are no others.
 */
static void
choose(const struct search *search, const struct candidate *all, uint32_t all_count, bool within,
        const struct sim_location *fails, struct sim_unusual *ret)
{
    for (uint32_t i = 0; i < all_count; i++) {
        const struct sim_trait *own = &search->own->all[all[i].index];
        struct sim_unusual_trait trait;
        bool rare = ret->count == 0 || all[i].passes <= ret->all[0].passes + search->passing / 4u;
        if (rare && (!within || own->kind == SIM_TRAIT_BRANCH) &&
                describe(search->evidence, own, within, &trait) &&
                !(fails != NULL && own->kind < SIM_TRAIT_OUTDATED &&
                        sim__is_same_line(&fails->place, &trait.at.place))) {
            trait.passes = all[i].passes;
            trait.fails = search->fails[all[i].index];
            trait.rank = all[i].rank;
            add(ret, &trait);
        }
    }
}

static uint32_t
find_candidates(const struct search *search, struct candidate *ret)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < search->own->count; i++) {
        const struct sim_trait *trait = &search->own->all[i];
        /* Of these also what half of those that fail do: there may be another way to the same. */
        uint32_t half = (search->failing + 1) / 2;
        uint32_t least = trait->kind > SIM_TRAIT_OUTDATED ? half : search->failing;
        /* With the failing run itself, twice as often as in those that pass. */
        if (search->fails[i] >= least && (search->fails[i] + 1u) * search->passing >=
                                                 2u * search->passes[i] * (search->failing + 1)) {
            ret[found++] = (struct candidate){.passes = search->passes[i],
                    .rank = rank_of(search, trait),
                    .first = trait->first,
                    .index = i};
        }
    }
    sim_sort(ret, found, sizeof(*ret), compare_candidates);
    return found;
}

/* The rarest first, of them those of one line, then as they come in the run. */
static int
compare_traits(const void *a, const void *b)
{
    const struct sim_unusual_trait *one = a;
    const struct sim_unusual_trait *other = b;
    if (one->passes != other->passes) {
        return one->passes < other->passes ? -1 : 1;
    }
    if ((one->rank > CALLED) != (other->rank > CALLED) ||
            (one->kind > SIM_TRAIT_OUTDATED) != (other->kind > SIM_TRAIT_OUTDATED)) {
        return one->rank < other->rank ? -1 : 1;
    }
    return one->first < other->first ? -1 : one->first > other->first;
}

static void
rank(const struct search *search, const struct sim_location *fails, struct sim_unusual *ret)
{
    struct candidate *candidates = sim_heap_new(search->own->count + 1u, sizeof(*candidates));
    uint32_t found = find_candidates(search, candidates);
    for (uint32_t i = 0; i < found && candidates[i].passes == 0; i++) {
        if (candidates[i].rank == SIMPLE || candidates[i].rank == CALLED) {
            note_condition(ret, &search->evidence->here->all[candidates[i].first]);
        }
    }
    choose(search, candidates, found, false, fails, ret);
    for (uint32_t i = 0; i < ret->count; i++) {
        bool simple = ret->all[i].rank == SIMPLE || ret->all[i].rank == CALLED;
        ret->simple = ret->simple || (simple && ret->all[i].passes == 0);
    }
    if (ret->count == 0) {
        choose(search, candidates, found, true, fails, ret);
    }
    sim_sort(ret->all, ret->count, sizeof(ret->all[0]), compare_traits);
    free(candidates);
}

void
sim_unusual_find(const struct sim_fate_evidence *evidence, const struct sim_outcome *outcome,
        const struct sim_location *fails, struct sim_wakers *wakers, struct sim_unusual *ret)
{
    const struct sim_runs *runs = evidence->runs;
    struct search search = {.evidence = evidence,
            .wakers = wakers,
            .outcome = outcome,
            .options = *runs->options,
            .own = sim_heap_new(1, sizeof(*search.own)),
            .other = sim_heap_new(1, sizeof(*search.other)),
            .passes = sim_heap_new(SIM_TRAITS_MAX, 1),
            .fails = sim_heap_new(SIM_TRAITS_MAX, 1)};
    *ret = (struct sim_unusual){.passing = 0};
    if (outcome->verdict == SIM_VERDICT_LATE_WAKEUP) {
        search.options.audit_one_in = 1; /* Only an audit sees it. */
    }
    sim_single_init(&search.single, NULL, &sim_shared_for_candidates, runs->hang_ms);
    search.single.budget = runs->budget;
    sim_traits_find(evidence->code, evidence->here, evidence->failing->actor_table, search.own);
    make_runs(&search);
    sim_single_fini(&search.single);
    if (search.passing >= PASSING_LEAST) {
        ret->passing = search.passing;
        ret->failing = search.failing;
        rank(&search, fails, ret);
    }
    free(search.own);
    free(search.other);
    free(search.passes);
    free(search.fails);
}

static bool
is_unusual(const struct sim_unusual *unusual, const struct sim_branch *branch)
{
    for (uint32_t i = 0; i < unusual->condition_count; i++) {
        if (unusual->conditions[i].pc == branch->pc &&
                unusual->conditions[i].taken == branch->taken) {
            return true;
        }
    }
    return false;
}

void
sim_unusual_keep(const struct sim_unusual *unusual, struct sim_branches *branches)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < branches->count; i++) {
        const struct sim_branch branch = branches->all[i];
        if (unusual == NULL || !unusual->simple || is_unusual(unusual, &branch)) {
            branches->all[left++] = branch;
        }
    }
    branches->count = left;
}

bool
sim_unusual_has(const struct sim_fate_evidence *evidence, uint32_t index)
{
    const struct sim_unusual *unusual = evidence->unusual;
    const struct sim_instruction *jump = &evidence->here->all[index];
    for (uint32_t i = 0; unusual != NULL && i < unusual->count; i++) {
        const struct sim_instruction *first = &evidence->here->all[unusual->all[i].first];
        if (unusual->all[i].kind == SIM_TRAIT_BRANCH && first->pc == jump->pc &&
                first->taken == jump->taken) {
            return true;
        }
    }
    return false;
}
