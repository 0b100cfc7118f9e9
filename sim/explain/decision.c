/*
 * decision.c -- flipping what a run needs, and counting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/decision.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/engine/shrink/shrink.h"

/* Bounds are numbers of runs, not of seconds: the same failure has the same explanation. */
#define REDUCE_RUNS 400u /* Of a run that passes; a failure has as many as `shrink` gives it. */
#define FLIP_SINGLES 48u
#define FLIP_PAIRS 120u
#define PASSING_SEEDS 200u
#define PASSING_DEATHS 20u /* A run that dies costs a process. */
#define TRIAL_RUNS 12u
#define TALLY_RUNS 100u
#define STEPS_SLOW 2000u /* A longer run is counted less often. */
#define SLOW 5u
/* One that is still longer costs, with what the judge asks of it, a good part of the budget. */
#define STEPS_LONG 100000u
#define SHORTER 60u /* A limit of an hour is a minute. */

/* Of the budget, when each part of the search has to end, in percent. */
#define SHRINK_ENDS 30u
#define SEARCH_ENDS 45u
#define COUNT_ENDS 60u

struct search {
    struct sim_decision *decision;
    struct sim_single *single;
    const struct sim_failure *failure;
    struct sim_outcome wanted; /* Of the failing run. */
    struct sim_deviation *scratch;
    bool refused;
};

/* ---- Runs. ----------------------------------------------------------------------------------- */

static const struct sim_outcome *
run_candidate(struct search *search, const struct sim_options *options, uint64_t seed, uint32_t how,
        const struct sim_tape *tape)
{
    rt_assert(options != NULL);
    const struct sim_run_spec candidate = {
            .scenario = search->failure->scenario,
            .options = *options,
            .seed = seed,
            .how = how,
            .tape = tape,
            .hasty = search->wanted.verdict == SIM_VERDICT_LIVELOCK,
    };
    const struct sim_outcome *outcome = sim_single_run(search->single, &candidate);
    search->decision->runs++;
    search->refused = search->refused || search->single->worker.failed;
    return outcome;
}

/* Whether one more run may be made. */
static bool
may_run(struct search *search)
{
    rt_assert(search->failure->budget != NULL);
    return !search->refused && sim_budget_left(search->failure->budget);
}

static const struct sim_outcome *
run_tape(struct search *search, const struct sim_tape *tape)
{
    rt_assert(tape != NULL);
    return run_candidate(
            search, &search->decision->options, search->decision->seed, SIM_HOW_LENIENT, tape);
}

static bool
same_failure(const struct search *search, const struct sim_outcome *outcome)
{
    return outcome != NULL && sim_outcome_same(&search->wanted, outcome);
}

static bool
passes(const struct sim_outcome *outcome)
{
    return outcome != NULL && outcome->verdict == SIM_VERDICT_PASS;
}

static void
copy_tape(struct sim_tape *to, const struct sim_tape *from)
{
    rt_assert(to != from);
    rt_assert(from->count == 0 || from->entries != NULL);
    struct sim_deviation *entries = sim_heap_new(from->count + 1u, sizeof(*entries));
    if (from->count > 0) {
        memcpy(entries, from->entries, from->count * sizeof(*entries));
    }
    free(to->entries);
    *to = (struct sim_tape){entries, from->count, from->count + 1u};
}

/* `tape` without `length` entries from `from` on, in the search's scratch. */
static struct sim_tape
without(const struct search *search, const struct sim_tape *tape, uint32_t from, uint32_t length)
{
    rt_assert(search->scratch != NULL);
    struct sim_tape left = {search->scratch, 0, tape->count + 1u};
    for (uint32_t i = 0; i < tape->count; i++) {
        if (i < from || i >= from + length) {
            left.entries[left.count++] = tape->entries[i];
        }
    }
    return left;
}

/* ---- What a run needs. ----------------------------------------------------------------------- */

/* The smallest run with the same end as `outcome`. False: none holds, and nothing is changed. */
static bool
shrink(struct search *search, const struct sim_tape *tape, const struct sim_outcome *outcome,
        bool options_stay, struct sim_tape *ret_tape)
{
    rt_assert(outcome != NULL);
    rt_assert(tape != NULL);
    struct sim_decision *decision = search->decision;
    const struct sim_shrink_plan plan = {
            .spec.scenario = search->failure->scenario,
            .spec.options = decision->options,
            .spec.tape = tape,
            .failure = outcome,
            .options_stay = options_stay,
            .replays_max = options_stay ? REDUCE_RUNS : SIM_SHRINK_REPLAYS_MAX,
            .deadline_ms = UINT64_MAX,
            .spec.hang_ms = search->failure->hang_ms,
            .spec.budget = search->failure->budget,
    };
    struct sim_shrunk shrunk;
    sim_shrink(&plan, &shrunk);
    bool holds = sim_shrunk_holds(&shrunk);
    decision->runs += shrunk.replays;
    if (holds) {
        copy_tape(ret_tape, &shrunk.tape);
    }
    if (holds && !options_stay) {
        decision->options = shrunk.options;
        decision->seed = SIM_SHRINK_SEED;
    }
    sim_shrunk_done(&shrunk);
    return holds;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

/* Runs that part from the failing one at the last entry of `prefix`. A task that is woken late is
 * only seen by an audit: there each quiescence is audited. */
static struct sim_tally
count(struct search *search, const struct sim_tape *prefix, uint32_t runs)
{
    rt_assert(prefix->count > 0);
    struct sim_tally tally = {0, 0, 0};
    struct sim_options options = search->decision->options;
    if (search->wanted.verdict == SIM_VERDICT_LATE_WAKEUP) {
        options.audit_one_in = 1;
    }
    for (uint32_t i = 0; i < runs && may_run(search); i++) {
        const struct sim_outcome *outcome =
                run_candidate(search, &options, (uint64_t)i + 1, SIM_HOW_BRANCH, prefix);
        if (outcome != NULL) {
            tally.runs++;
            tally.failed += outcome->verdict != SIM_VERDICT_PASS;
            tally.otherwise += outcome->verdict != SIM_VERDICT_PASS &&
                               outcome->verdict != search->wanted.verdict;
        }
    }
    return tally;
}

/* Both sides of entry `at` of `tape`. */
static void
count_sides(struct search *search, const struct sim_tape *tape, uint32_t at, uint32_t runs,
        struct sim_tally *ret_below, struct sim_tally *ret_beside)
{
    rt_assert(at < tape->count);
    rt_assert(search->scratch != NULL);
    struct sim_tape prefix = {search->scratch, at + 1, tape->count + 1u};
    memcpy(prefix.entries, tape->entries, (at + 1) * sizeof(*prefix.entries));
    *ret_below = count(search, &prefix, runs);
    prefix.entries[at].index = 0;
    prefix.entries[at].id = 0;
    *ret_beside = count(search, &prefix, runs);
}

static uint32_t
separation(const struct sim_tally *below, const struct sim_tally *beside)
{
    rt_assert(below->failed <= below->runs);
    rt_assert(beside->failed <= beside->runs);
    return below->failed + (beside->runs - beside->failed);
}

/* Runs that a count may take: fewer of long ones. */
static uint32_t
runs_of(const struct search *search, uint32_t runs)
{
    rt_assert(runs >= SLOW);
    return search->wanted.steps > STEPS_SLOW ? runs / SLOW : runs;
}

/* ---- The nearest run that passes. ------------------------------------------------------------ */

/* An audit is no decision of the program's: without it the failure is only not seen. */
static bool
may_decide(const struct sim_deviation *deviation)
{
    rt_assert(deviation->kind < SIM_KINDS);
    return deviation->kind != SIM_KIND_AUDIT;
}

/* Of a failing run that is too long to be made often: its decisions up to the first one with which
 * it fails; without that it passes. Runs that pass are short. */
static void
find_prefix(struct search *search, const struct sim_tape *tape)
{
    struct sim_decision *decision = search->decision;
    for (uint32_t k = 0; k <= tape->count && may_run(search); k++) {
        struct sim_tape prefix = without(search, tape, k, tape->count - k);
        const struct sim_outcome *outcome = run_tape(search, &prefix);
        struct sim_tape written = sim_single_deviations(search->single);
        if (passes(outcome)) {
            copy_tape(&decision->passing, &written);
            continue;
        }
        if (k > 0 && same_failure(search, outcome) && may_decide(&tape->entries[k - 1])) {
            copy_tape(&decision->failing, &prefix);
            decision->given = decision->failing.count;
            decision->deciding = tape->entries[k - 1];
            decision->found = true;
            decision->changed = 1;
        }
        break;
    }
}

/* Of the single decisions without which it passes, the one that separates best; where several do
 * equally, the last. */
static void
flip_one(struct search *search)
{
    rt_assert(!search->decision->found);
    struct sim_decision *decision = search->decision;
    const struct sim_tape *tape = &decision->failing;
    uint32_t best = 0;
    uint32_t from = tape->count > FLIP_SINGLES ? tape->count - FLIP_SINGLES : 0;
    for (uint32_t i = from; i < tape->count && may_run(search); i++) {
        struct sim_tape flipped = without(search, tape, i, 1);
        if (!may_decide(&tape->entries[i]) || !passes(run_tape(search, &flipped))) {
            continue;
        }
        struct sim_tape written = sim_single_deviations(search->single);
        struct sim_tape passing = {NULL, 0, 0};
        struct sim_tally below;
        struct sim_tally beside;
        copy_tape(&passing, &written);
        count_sides(search, tape, i, runs_of(search, TRIAL_RUNS), &below, &beside);
        uint32_t score = separation(&below, &beside) + 1;
        if (score >= best) {
            best = score;
            free(decision->passing.entries);
            decision->passing = passing;
            decision->deciding = tape->entries[i];
            decision->found = true;
            decision->changed = 1;
        } else {
            free(passing.entries);
        }
    }
}

/* Two at once: the later of the two is reported as the one that decides. */
static void
flip_two(struct search *search)
{
    rt_assert(!search->decision->found);
    struct sim_decision *decision = search->decision;
    const struct sim_tape *tape = &decision->failing;
    uint32_t left = FLIP_PAIRS;
    for (uint32_t k = tape->count; k-- > 1 && !decision->found;) {
        for (uint32_t i = k; i-- > 0 && left > 0 && may_run(search); left--) {
            struct sim_tape flipped = without(search, tape, k, 1);
            flipped = without(search, &flipped, i, 1);
            if (may_decide(&tape->entries[k]) && passes(run_tape(search, &flipped))) {
                const struct sim_tape written = sim_single_deviations(search->single);
                copy_tape(&decision->passing, &written);
                decision->found = true;
                decision->changed = 2;
                decision->deciding = tape->entries[k];
                break;
            }
        }
    }
}

/* A run that passes, and what it needs for that. */
static bool
take_passing(struct search *search, const struct sim_outcome *outcome)
{
    rt_assert(outcome->verdict == SIM_VERDICT_PASS);
    struct sim_decision *decision = search->decision;
    const struct sim_outcome passed = *outcome;
    struct sim_tape written = sim_single_deviations(search->single);
    struct sim_tape tape = {NULL, 0, 0};
    copy_tape(&tape, &written);
    bool taken =
            shrink(search, &tape, &passed, true, &decision->passing) && decision->passing.count > 0;
    free(tape.entries);
    free(search->scratch);
    search->scratch = sim_heap_new(decision->passing.count + 1u, sizeof(*search->scratch));
    return taken;
}

static void
try_passing(struct search *search, uint32_t how, uint64_t seed)
{
    struct sim_decision *decision = search->decision;
    const struct sim_outcome *outcome = run_candidate(search, &decision->options, seed, how, NULL);
    if (passes(outcome) && take_passing(search, outcome)) {
        decision->found = true;
        decision->added = true;
        decision->changed = decision->passing.count;
        decision->deciding = decision->passing.entries[decision->passing.count - 1];
    }
}

/* The failing run is the baseline where the others are not: a passing one is looked for among
 * seeds, and what it needs to pass is what decides. Before that, one in which the blocked actor
 * takes each notification before the next one comes. */
static void
find_passing(struct search *search)
{
    rt_assert(!search->decision->found);
    struct sim_decision *decision = search->decision;
    uint64_t seeds = search->wanted.verdict == SIM_VERDICT_CRASH ? PASSING_DEATHS : PASSING_SEEDS;
    if (search->wanted.actor != 0 && may_run(search)) {
        try_passing(search, SIM_HOW_FOREMOST, search->wanted.actor);
    }
    for (uint64_t seed = 1; seed <= seeds && !decision->found && may_run(search); seed++) {
        decision->seeds_tried++;
        try_passing(search, SIM_HOW_RANDOM, seed);
    }
}

/* Entry of `tape` that is the deciding one. */
static uint32_t
deciding_at(const struct sim_decision *decision, const struct sim_tape *tape)
{
    rt_assert(decision->found);
    rt_assert(tape->count > 0);
    uint32_t at = 0;
    while (at + 1 < tape->count &&
            (tape->entries[at].stream != decision->deciding.stream ||
                    tape->entries[at].ordinal != decision->deciding.ordinal ||
                    tape->entries[at].kind != decision->deciding.kind)) {
        at++;
    }
    return at;
}

static void
count_well(struct search *search)
{
    rt_assert(search->decision->found);
    struct sim_decision *decision = search->decision;
    const struct sim_tape *tape = decision->added ? &decision->passing : &decision->failing;
    struct sim_tally *below = decision->added ? &decision->beside : &decision->below;
    struct sim_tally *beside = decision->added ? &decision->below : &decision->beside;
    count_sides(
            search, tape, deciding_at(decision, tape), runs_of(search, TALLY_RUNS), below, beside);
}

/* What stands still but for timers, which fire until the time is over, does so in less of it, too:
 * each run after this one costs that much less. */
static void
shorten(struct search *search, const struct sim_tape *tape)
{
    struct sim_decision *decision = search->decision;
    if (search->wanted.verdict != SIM_VERDICT_DEADLOCK ||
            search->wanted.oracle != SIM_ORACLE_LIMIT || search->wanted.steps <= STEPS_LONG) {
        return;
    }
    struct sim_options options = decision->options;
    options.time_ns_max /= SHORTER;
    const struct sim_outcome *outcome =
            run_candidate(search, &options, decision->seed, SIM_HOW_LENIENT, tape);
    if (same_failure(search, outcome)) {
        decision->options = options;
        search->wanted = *outcome;
    }
}

/* ---- The interface. -------------------------------------------------------------------------- */

bool
sim_decision_find(struct sim_decision *decision, struct sim_single *single,
        const struct sim_failure *failure, const struct sim_tape *tape,
        const struct sim_outcome *outcome)
{
    rt_assert(tape != NULL);
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    *decision = (struct sim_decision){
            .options = *failure->options, .seed = failure->seed, .given = tape->count};
    struct search search = {
            .decision = decision,
            .single = single,
            .failure = failure,
            .wanted = *outcome,
    };
    shorten(&search, tape);
    bool is_long = search.wanted.steps > STEPS_LONG;
    sim_budget_stage(failure->budget, "making the failing run smaller", SHRINK_ENDS);
    if (is_long || !shrink(&search, tape, &search.wanted, false, &decision->failing)) {
        copy_tape(&decision->failing, tape);
    }
    sim_budget_stage(failure->budget, "looking for a run that passes", SEARCH_ENDS);
    search.scratch = sim_heap_new(decision->failing.count + 1u, sizeof(*search.scratch));
    if (is_long) {
        find_prefix(&search, tape);
    } else if (same_failure(&search, run_tape(&search, &decision->failing))) {
        flip_one(&search);
        if (!decision->found) {
            flip_two(&search);
        }
        if (!decision->found) {
            find_passing(&search);
        }
    }
    sim_budget_stage(failure->budget, "counting what the decision decides", COUNT_ENDS);
    if (decision->found && !is_long) {
        count_well(&search);
    }
    free(search.scratch);
    return !search.refused;
}

void
sim_decision_none(struct sim_decision *decision, const struct sim_failure *failure,
        const struct sim_tape *tape)
{
    rt_assert(tape != NULL);
    *decision = (struct sim_decision){
            .options = *failure->options, .seed = failure->seed, .given = tape->count};
    copy_tape(&decision->failing, tape);
}

void
sim_decision_free(struct sim_decision *decision)
{
    rt_assert(decision != NULL);
    free(decision->failing.entries);
    free(decision->passing.entries);
    decision->failing = (struct sim_tape){NULL, 0, 0};
    decision->passing = (struct sim_tape){NULL, 0, 0};
}
