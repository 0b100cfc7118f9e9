/*
 * unusual.c -- the traits of the failing run, without those of runs that pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/unusual.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"
#include "sim/explain/cause/reads.h"

#define PASSING_RUNS 20u
#define PASSING_LEAST 10u
#define FAILING_RUNS 4u
#define SEEDS_MAX 200u

struct search {
    const struct sim_fate_evidence *evidence;
    const struct sim_outcome *outcome;
    struct sim_options options;
    struct sim_single single;
    struct sim_traits *own; /* Of the failing run; those that are left, in front. */
    struct sim_traits *other;
    uint32_t left;
    uint32_t passing;
    uint32_t failing;
};

/* ---- Runs. ----------------------------------------------------------------------------------- */

static void
keep(struct search *search, bool passes)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < search->left; i++) {
        const struct sim_trait trait = search->own->all[i];
        if (sim_traits_have(search->other, trait.key) != passes) {
            search->own->all[left++] = trait;
        }
    }
    search->left = left;
}

/* Walks the run that was made last; what it has is struck out, or, where it fails, what it has
 * not. One that is cut off has more than is seen. */
static void
compare(struct search *search, bool passes)
{
    const struct sim_runs *runs = search->evidence->runs;
    const struct sim_tape tape = sim_single_deviations(&search->single);
    bool checked = search->outcome->verdict == SIM_VERDICT_INVARIANT;
    struct sim_actor_table actor_table;
    sim_actor_table_make(&actor_table, sim_single_recorder(&search->single));
    struct sim_executed *executed = sim_executed_run(runs, &tape, search->evidence->code, checked);
    if (executed != NULL && executed->done && (executed->whole || !passes)) {
        sim_fate_add_atomics(executed, &actor_table);
        sim_traits_find(executed, search->other);
        keep(search, passes);
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
strike_out(struct search *search)
{
    for (uint32_t seed = 1;
            seed <= SEEDS_MAX && search->passing < PASSING_RUNS && search->left > 0 &&
            !search->single.worker.failed && sim_budget_left(search->evidence->runs->budget);
            seed++) {
        try_seed(search, seed);
    }
}

/* ---- What is left. --------------------------------------------------------------------------- */

static int
compare_first(const void *a, const void *b)
{
    const struct sim_trait *one = a;
    const struct sim_trait *other = b;
    return one->first < other->first ? -1 : one->first > other->first;
}

static bool
is_simple(const struct sim_trait *trait)
{
    return trait->kind != SIM_TRAIT_STALE && trait->kind != SIM_TRAIT_UNREAD;
}

/* The line to which its actor goes from a condition. */
static uint32_t
goes_to(const struct sim_fate_evidence *evidence, uint32_t jump, const struct sim_place *from)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place place;
    for (uint32_t i = jump + 1; i < here->count; i++) {
        const struct sim_instruction *next = &here->all[i];
        if (next->actor_id != here->all[jump].actor_id) {
            continue;
        }
        if (next->stack > here->all[jump].stack) {
            return 0;
        }
        if (next->stack == here->all[jump].stack && sim__reader_at(evidence, next->pc, &place) &&
                !sim__is_same_line(&place, from)) {
            return strcmp(place.function, from->function) == 0 ? place.line : 0;
        }
    }
    return 0;
}

/* Of what is never read only the blocked actor counts: others may have read all that they need. */
static bool
is_asked(const struct sim_fate_evidence *evidence, const struct sim_trait *trait)
{
    return trait->kind != SIM_TRAIT_UNREAD ||
           evidence->here->all[trait->other].actor_id ==
                   sim_actor_table_id(evidence->failing->actor_table, evidence->part);
}

/* As a line of the reader's. False: it is in none; `within`: then the one that called it. */
static bool
describe(const struct sim_fate_evidence *evidence, const struct sim_trait *trait, bool within,
        struct sim_unusual_trait *ret)
{
    const struct sim_executed *here = evidence->here;
    struct sim_place place;
    *ret = (struct sim_unusual_trait){.kind = trait->kind, .within = within};
    if (sim__reader_at(evidence, here->all[trait->first].pc, &place) == within) {
        return false;
    }
    ret->at = sim__located(evidence, evidence->failing, here, trait->first);
    if (trait->other != UINT32_MAX) {
        ret->other = sim__located(evidence, evidence->failing, here, trait->other);
    }
    if (trait->third != UINT32_MAX) {
        ret->third = sim__located(evidence, evidence->failing, here, trait->third);
    }
    if (trait->kind == SIM_TRAIT_BRANCH && !within) {
        ret->line = goes_to(evidence, trait->first, &ret->at.place);
    }
    return trait->other == UINT32_MAX || ret->other.place.line != 0;
}

static bool
is_same_turn(const struct sim_unusual_trait *a, const struct sim_unusual_trait *b)
{
    return a->at.step == b->at.step && a->at.part == b->at.part;
}

/* In the same function and step: one of both is enough. */
static bool
is_beside(const struct sim_unusual_trait *a, const struct sim_unusual_trait *b)
{
    return is_same_turn(a, b) && strcmp(a->at.place.function, b->at.place.function) == 0;
}

/* Conditions say more than what is read for them. Of a step the first one stays, and the last one;
 * so of all the first two and the last two. */
static void
add(struct sim_unusual *unusual, const struct sim_unusual_trait *trait)
{
    struct sim_unusual_trait *last = &unusual->all[unusual->count - (unusual->count > 0)];
    bool turn = unusual->count >= 2 && is_same_turn(last, trait) && is_same_turn(last - 1, trait);
    if (unusual->count > 0 && is_beside(last, trait)) {
        if (trait->kind == SIM_TRAIT_BRANCH && last->kind != SIM_TRAIT_BRANCH) {
            *last = *trait;
        }
    } else if (turn) {
        *last = *trait;
    } else if (unusual->count < SIM_UNUSUAL_MAX) {
        unusual->all[unusual->count++] = *trait;
    } else {
        last[-1] = *last;
        *last = *trait;
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

/* Those of the line that fails are the failure. */
static void
choose(struct search *search, bool simple, bool within, const struct sim_location *fails,
        struct sim_unusual *ret)
{
    for (uint32_t i = 0; i < search->left; i++) {
        struct sim_unusual_trait trait;
        if (is_simple(&search->own->all[i]) == simple &&
                (!within || search->own->all[i].kind == SIM_TRAIT_BRANCH) &&
                is_asked(search->evidence, &search->own->all[i]) &&
                describe(search->evidence, &search->own->all[i], within, &trait) &&
                !(fails != NULL && sim__is_same_line(&fails->place, &trait.at.place))) {
            add(ret, &trait);
            note_condition(ret, &search->evidence->here->all[search->own->all[i].first]);
        }
    }
}

void
sim_unusual_find(const struct sim_fate_evidence *evidence, const struct sim_outcome *outcome,
        const struct sim_location *fails, struct sim_unusual *ret)
{
    const struct sim_runs *runs = evidence->runs;
    struct search search = {.evidence = evidence,
            .outcome = outcome,
            .options = *runs->options,
            .own = sim_heap_new(1, sizeof(*search.own)),
            .other = sim_heap_new(1, sizeof(*search.other))};
    *ret = (struct sim_unusual){.passing = 0};
    if (outcome->verdict == SIM_VERDICT_LATE_WAKEUP) {
        search.options.audit_one_in = 1; /* Only an audit sees it. */
    }
    sim_single_init(&search.single, NULL, &sim_shared_for_candidates, runs->hang_ms);
    search.single.budget = runs->budget;
    sim_traits_find(evidence->here, search.own);
    search.left = search.own->count;
    strike_out(&search);
    sim_single_fini(&search.single);
    if (search.passing >= PASSING_LEAST) {
        ret->passing = search.passing;
        ret->failing = search.failing;
        sim_sort(search.own->all, search.left, sizeof(search.own->all[0]), compare_first);
        choose(&search, true, false, fails, ret);
        ret->simple = ret->count > 0;
        if (!ret->simple) {
            choose(&search, false, false, fails, ret);
        }
        if (ret->count == 0) {
            choose(&search, true, true, fails, ret);
        }
    }
    free(search.own);
    free(search.other);
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
