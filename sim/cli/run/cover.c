/*
 * cover.c -- what a sweep has covered: counted and stored batch by batch.
 *
 * Coverage points come with the facts of the sweep (sim/search/learn/facts.h). Different runs are
 * counted here, over those of one sampler: the strategy itself, or, if that learns, `random`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/cli/run/state.h"
#include "sim/core/record/site.h"
#include "sim/core/scenario.h"
#include "sim/store/coverage.h"
#include "sim/store/shard.h"

#define NO_SAMPLER UINT32_MAX

/* The strategy whose runs are drawn independently: its index among the arms. */
static uint32_t
sampler_of(const struct sim_sweep_plan *plan)
{
    if (plan->spec.how == SIM_HOW_RANDOM) {
        return 0;
    }
    if (plan->spec.how != SIM_HOW_SEARCH) {
        return NO_SAMPLER;
    }
    const struct sim_strategy_kind *kind = sim_strategy_at(plan->spec.search.kind);
    bool learns = kind->adaptive || kind->sequential;
    return learns ? sim_strategy_find("random") : plan->spec.search.kind;
}

const char *
sim_run_arm_name(const struct sim_run *run, uint32_t arm)
{
    bool itself = run->plan.spec.how != SIM_HOW_SEARCH || arm == run->plan.spec.search.kind;
    return itself ? sim_run_strategy(run) : sim_strategy_at(arm)->name;
}

const struct sim_facts *
sim_run_covered(const struct sim_run *run)
{
    return run->plan.covered != NULL ? run->plan.covered : &run->pool.epochs.master.facts;
}

/* ---- Goals. ---------------------------------------------------------------------------------- */

static void
note_goal(const struct rt_site *site, void *argument)
{
    struct sim_run *run = argument;
    const char *file = run->entry->scenario->file;
    if (site->mark == SIM_MARK_NONE || file == NULL || strcmp(site->file, file) != 0) {
        return;
    }
    uint32_t count = run->cover.goal_count + 1;
    run->cover.goals = sim_heap_resize(run->cover.goals, count, sizeof(*run->cover.goals));
    run->cover.goals[run->cover.goal_count] = (struct sim_goal){
            .site = site->id,
            .what = sim_mark_name(site->mark),
            .text = site->text != NULL ? site->text : "",
    };
    run->cover.goal_count = count;
}

static bool
is_reached(const struct sim_run *run, uint32_t site)
{
    const struct sim_facts *facts = sim_run_covered(run);
    uint64_t a = (uint64_t)site << 32;
    return sim_facts_find(facts, SIM_FACT_COVER, a, SIM_ELEMENT_GOAL) != NULL ||
           sim_facts_find(facts, SIM_FACT_COVER, a, SIM_ELEMENT_ALWAYS) != NULL;
}

static bool
in_one_function(const struct rt_site *a, const struct rt_site *b)
{
    return a != NULL && b != NULL && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0;
}

/* Whether a run has reached another site of the function that contains `site`. */
static bool
is_near(const struct sim_run *run, uint32_t site)
{
    const struct sim_facts *facts = sim_run_covered(run);
    const struct rt_site *goal = sim_site_find(site);
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        if (fact->kind == SIM_FACT_COVER &&
                (in_one_function(goal, sim_site_find((uint32_t)(fact->a >> 32))) ||
                        in_one_function(goal, sim_site_find((uint32_t)fact->a)))) {
            return true;
        }
    }
    return false;
}

/*
 * Whether a goal of the file is one of the scenario: where others share the file, one near which
 * its runs have been: they checked its condition, or were in that function.
 */
static bool
is_own(const struct sim_run *run, uint32_t site)
{
    const struct sim_facts *facts = sim_run_covered(run);
    return run->cover.alone_in_file || is_reached(run, site) ||
           sim_facts_find(facts, SIM_FACT_ASKED, site, 0) != NULL || is_near(run, site);
}

static bool
is_always(const struct sim_goal *goal)
{
    return strcmp(goal->what, sim_mark_name(SIM_MARK_ALWAYS)) == 0;
}

static bool
is_missed(const struct sim_run *run, const struct sim_goal *goal)
{
    return !is_always(goal) && !is_reached(run, goal->site) && is_own(run, goal->site);
}

uint32_t
sim_run_goals_missed(const struct sim_run *run)
{
    uint32_t missed = 0;
    for (uint32_t i = 0; i < run->cover.goal_count; i++) {
        missed += is_missed(run, &run->cover.goals[i]);
    }
    return missed;
}

/* Whether the file has the goals of this scenario only. */
static bool
is_alone_in_file(const struct sim_run *run)
{
    const struct sim_registry *registry = &run->cli->registry;
    const char *file = run->entry->scenario->file;
    uint32_t sharing = 0;
    for (uint32_t i = 0; i < registry->count && file != NULL; i++) {
        const char *other = registry->entries[i].scenario->file;
        sharing += other != NULL && strcmp(other, file) == 0;
    }
    return sharing <= 1;
}

/* ---- Saturation: three conditions, all of them. ---------------------------------------------- */

/* At most one run in a hundred is of a new kind; at least so many runs cover nothing new. */
#define UNSEEN_PPM_MAX 10000u
#define WINDOW_RUNS 1000u

static bool
is_quiet(const struct sim_run *run)
{
    uint64_t runs = run->result.totals.runs;
    uint64_t window = runs / 2 > WINDOW_RUNS ? runs / 2 : WINDOW_RUNS;
    return runs - run->cover.last_new >= window;
}

static bool
is_known(const struct sim_census *census)
{
    return census->runs > 0 && sim_census_unseen_ppm(census) < UNSEEN_PPM_MAX;
}

bool
sim_run_saturated(const struct sim_run *run)
{
    struct sim_census census = sim_species_census(&run->cover.species);
    return is_quiet(run) && is_known(&census) && sim_run_goals_missed(run) == 0;
}

/* ---- A sweep. -------------------------------------------------------------------------------- */

void
sim_run_cover_begin(struct sim_run *run)
{
    struct sim_run_cover *cover = &run->cover;
    if (cover->entries == NULL) {
        cover->entries = sim_heap_new(SIM_RUN_SPECIES, sizeof(*cover->entries));
        sim_species_init(&cover->species, cover->entries, SIM_RUN_SPECIES);
    }
    sim_species_clear(&cover->species);
    memset(cover->drawn, 0, sizeof(cover->drawn));
    memset(cover->failed, 0, sizeof(cover->failed));
    cover->sampler = sampler_of(&run->plan);
    cover->elements = 0;
    cover->last_new = 0;
    cover->written = 0;
    cover->batch_runs = 0;
    cover->goal_count = 0;
    cover->alone_in_file = is_alone_in_file(run);
    sim_sites_each(note_goal, run);
}

void
sim_run_cover_done(struct sim_run *run)
{
    free(run->cover.entries);
    free(run->cover.goals);
    free(run->cover.covered_memory);
    run->cover.covered_memory = NULL;
    run->cover.entries = NULL;
    run->cover.goals = NULL;
}

static uint32_t
arm_at(uint32_t arm)
{
    return arm < SIM_STRATEGIES_MAX ? arm : SIM_STRATEGIES_MAX - 1;
}

void
sim_run_cover_batch(struct sim_run *run, const struct sim_merged *batch)
{
    struct sim_run_cover *cover = &run->cover;
    for (uint32_t i = 0; i < batch->runs; i++) {
        uint32_t arm = arm_at(batch->results[i].arm);
        cover->drawn[arm]++;
        if (arm == cover->sampler && batch->results[i].order != 0) {
            sim_species_note(&cover->species, batch->results[i].order, 1);
        }
        if (batch->results[i].fresh > 0) {
            cover->elements += batch->results[i].fresh;
            cover->last_new = batch->totals->runs - batch->runs + i + 1;
        }
    }
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        cover->failed[arm_at(batch->kept[i].arm)] +=
                batch->kept[i].outcome.verdict != SIM_VERDICT_PASS;
    }
    cover->batch_first = batch->index;
    cover->batch_runs = batch->runs;
    cover->batch_new = batch->results;
}

uint32_t
sim_run_cover_new(const struct sim_run *run, uint64_t index)
{
    const struct sim_run_cover *cover = &run->cover;
    uint64_t place = index - cover->batch_first;
    return place < cover->batch_runs ? cover->batch_new[place].fresh : 0;
}

/* ---- Into the database. ---------------------------------------------------------------------- */

/* Coverage points from fact number `from` on. */
static void
store_elements(struct sim_run *run, uint32_t from)
{
    const struct sim_facts *facts = sim_run_covered(run);
    struct sim_covered *rows = sim_heap_new((size_t)facts->count - from + 1, sizeof(*rows));
    uint32_t count = 0;
    for (uint32_t i = from; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        if (fact->kind == SIM_FACT_COVER) {
            rows[count++] = (struct sim_covered){
                    .element = {fact->b, (uint32_t)(fact->a >> 32), (uint32_t)fact->a},
                    .first_run = fact->first,
                    .runs = fact->runs,
            };
        }
    }
    (void)sim_store_covered(run->store, run->sweep, rows, count);
    run->cover.written = facts->count;
    free(rows);
}

static void
store_drawn(struct sim_run *run)
{
    struct sim_drawn rows[SIM_STRATEGIES_MAX];
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < SIM_STRATEGIES_MAX; arm++) {
        if (run->cover.drawn[arm] > 0) {
            rows[count++] = (struct sim_drawn){
                    sim_run_arm_name(run, arm), run->cover.drawn[arm], run->cover.failed[arm]};
        }
    }
    (void)sim_store_drawn(run->store, run->sweep, rows, count);
}

static void
store_species(struct sim_run *run)
{
    if (run->cover.sampler == NO_SAMPLER) {
        return;
    }
    const struct sim_species *species = &run->cover.species;
    struct sim_census census = sim_species_census(species);
    (void)sim_store_species(
            run->store, run->sweep, sim_run_arm_name(run, run->cover.sampler), &census);
    if (sim_run_is_part(run)) {
        (void)sim_store_species_list(run->store, run->sweep, species);
    }
}

static void
store_goals(struct sim_run *run)
{
    const struct sim_run_cover *cover = &run->cover;
    struct sim_goal *own = sim_heap_new(cover->goal_count, sizeof(*own));
    uint32_t count = 0;
    for (uint32_t i = 0; i < cover->goal_count; i++) {
        if (is_own(run, cover->goals[i].site)) {
            own[count++] = cover->goals[i];
        }
    }
    (void)sim_store_goals(run->store, run->sweep, own, count);
    free(own);
}

void
sim_run_cover_store(struct sim_run *run, bool over)
{
    if (!run->plan.covers) {
        return;
    }
    /* During the sweep only new ones; at the end all, with their counts. */
    store_elements(run, over ? 0 : run->cover.written);
    if (over) {
        store_drawn(run);
        sim_run_waste_store(run);
        store_species(run);
        store_goals(run);
    }
}

/* ---- Printing. ---------------------------------------------------------------------- */

static unsigned long long
wide(uint64_t count)
{
    return (unsigned long long)count;
}

/* A line, folded below itself. */
__attribute__((format(printf, 1, 2))) static void
print_line(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)printf("  ");
    sim_print_folded(text, 2, 2);
}

/* The conditions that are not met, each with its number. */
static void
print_unsaturated(const struct sim_run *run)
{
    struct sim_census census = sim_species_census(&run->cover.species);
    uint64_t runs = run->result.totals.runs;
    if (!is_quiet(run)) {
        print_line("not saturated: run %llu of %llu covered something new; the last half, and the "
                   "last %u runs, must not",
                wide(run->cover.last_new), wide(runs), WINDOW_RUNS);
    }
    if (run->cover.sampler == NO_SAMPLER) {
        print_line("not saturated: this strategy makes no independent runs to estimate from; "
                   "random does");
    } else if (!is_known(&census)) {
        uint32_t unseen = sim_census_unseen_ppm(&census);
        print_line("not saturated: %u.%02u %% of the runs by %s still show a new schedule (limit: "
                   "%u.%02u %%)",
                unseen / 10000, unseen / 100 % 100, sim_run_arm_name(run, run->cover.sampler),
                UNSEEN_PPM_MAX / 10000, UNSEEN_PPM_MAX / 100 % 100);
    }
    uint32_t missed = sim_run_goals_missed(run);
    if (missed > 0) {
        print_line(
                "not saturated: %u goal%s never reached", missed, missed == 1 ? " was" : "s were");
    }
}

static void
print_goal(const char *what, const struct sim_goal *goal)
{
    const struct rt_site *site = sim_site_find(goal->site);
    if (site != NULL) {
        print_line("%s: %.40s at %s:%u %.24s", what, goal->text, sim_site_file(site), site->line,
                site->function);
    }
}

/* Goals that may be another scenario's are printed too: they may be no scenario's. */
static void
print_goals(const struct sim_run *run)
{
    for (uint32_t i = 0; i < run->cover.goal_count; i++) {
        const struct sim_goal *goal = &run->cover.goals[i];
        if (is_missed(run, goal)) {
            print_goal("goal never reached", goal);
        } else if (!is_always(goal) && !is_own(run, goal->site)) {
            print_goal("goal of another scenario of the file?", goal);
        }
    }
}

static void
print_statistics(const struct sim_run *run)
{
    struct sim_census census = sim_species_census(&run->cover.species);
    print_line("covered %llu points, the last new one by run %llu", wide(run->cover.elements),
            wide(run->cover.last_new));
    if (census.runs > 0) {
        print_line("%llu different schedules in %llu runs by %s; there are at least %llu",
                wide(census.seen), wide(census.runs), sim_run_arm_name(run, run->cover.sampler),
                wide(sim_census_chao1(&census)));
    }
}

/* What a pass is worth: how many random runs still show a new schedule. */
void
sim_run_print_next_search(const struct sim_run *run)
{
    struct sim_census census = sim_species_census(&run->cover.species);
    if (run->selected.count != 1 || !run->plan.covers || census.runs == 0) {
        return;
    }
    uint32_t unseen = sim_census_unseen_ppm(&census);
    const char *arm = sim_run_arm_name(run, run->cover.sampler);
    char *text = unseen < UNSEEN_PPM_MAX
                         ? sim_heap_printf("next: prove it within a bound (rewake explore): fewer "
                                           "than 1 %% of %s runs show a new schedule",
                                   arm)
                         : sim_heap_printf("next: search on (--time 60s): about %u %% of %s runs "
                                           "still show a new schedule",
                                   (unseen + 5000) / 10000, arm);
    sim_print_folded(text, 0, 6);
    free(text);
}

void
sim_run_print_cover(const struct sim_run *run)
{
    if (!run->plan.covers || run->result.totals.runs == 0) {
        return;
    }
    if (sim_given(&run->cli->settings, SIM_CLI_OPTION_SATURATED)) {
        print_unsaturated(run);
    }
    if (sim_given(&run->cli->settings, SIM_CLI_OPTION_GOALS)) {
        print_goals(run);
    }
    sim_run_print_waste(run);
    if (sim_given(&run->cli->settings, SIM_CLI_OPTION_VERBOSE)) {
        print_statistics(run);
    }
    /* Not for each of many scenarios. */
    if (run->selected.count == 1 && run->result.failures == 0) {
        sim_run_print_code(run);
    }
}

void
sim_run_json_cover(const struct sim_run *run, struct sim_json *json)
{
    if (!run->plan.covers) {
        return;
    }
    struct sim_census census = sim_species_census(&run->cover.species);
    SIM_JSON_PUT(json, SIM_NUMBER("elements", run->cover.elements),
            SIM_NUMBER("last_new_run", run->cover.last_new), SIM_NUMBER("different", census.seen),
            SIM_NUMBER("next_is_new_ppm", sim_census_unseen_ppm(&census)),
            SIM_NUMBER("at_least", sim_census_chao1(&census)),
            SIM_NUMBER("goals", run->cover.goal_count),
            SIM_NUMBER("goals_missed", sim_run_goals_missed(run)),
            SIM_BOOL("saturated", sim_run_saturated(run)),
            SIM_BOOL("half_without_news", is_quiet(run)), SIM_NUMBER("waste", sim_run_waste(run)));
}
