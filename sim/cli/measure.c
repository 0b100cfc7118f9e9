/*
 * measure.c -- `rewake measure`: how many runs each strategy needs to find the failures.
 *
 * A row for each scenario that must fail, a column for each strategy: runs up to the first
 * failure, the mean of 20 trials. Where not all trials found it, the mean is over those that did,
 * and a second line has their number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/clock.h"
#include "sim/cli/trials.h"

#define RUNS 1000u
#define COLUMNS_MAX 16u
#define TABLE_WIDTH 100u
#define NAME_WIDTH 24u
#define CELL_MAX 24u

/* A strategy. */
struct column {
    struct sim_search search;
    uint32_t how;
    char name[SIM_STRATEGY_TEXT_MAX];
};

struct measure {
    struct sim_cli_trials all; /* First: its plans have it as their argument. */
    struct column columns[COLUMNS_MAX];
    uint32_t count;
};

/* ---- Which strategies. ----------------------------------------------------------------------- */

static void
add_column(struct measure *measure, const struct sim_search *search, uint32_t how)
{
    rt_assert(measure->count < COLUMNS_MAX);
    struct column *column = &measure->columns[measure->count++];
    column->search = *search;
    column->how = how;
    sim_search_text(search, column->name, sizeof(column->name));
}

/* --strategy, or all but `baseline`, which makes one run. */
static void
choose_columns(struct measure *measure)
{
    const struct sim_settings *settings = &measure->all.cli->settings;
    if (sim_given(settings, SIM_CLI_OPTION_STRATEGY)) {
        add_column(measure, &settings->search, settings->how);
        return;
    }
    for (uint32_t i = 0; i < sim_strategy_count(); i++) {
        const char *name = sim_strategy_at(i)->name;
        struct sim_search search;
        sim_search_init(&search, i);
        if (strcmp(name, "baseline") != 0) {
            bool is_random = strcmp(name, "random") == 0 && search.swarm == 0;
            add_column(measure, &search, is_random ? SIM_HOW_RANDOM : SIM_HOW_SEARCH);
        }
    }
}

static unsigned long long
wide(uint64_t number)
{
    return (unsigned long long)number;
}

static uint32_t
column_width(const struct measure *measure)
{
    uint32_t width = (TABLE_WIDTH - NAME_WIDTH) / measure->count;
    return width < 12 ? width : 12;
}

/* Names are longer than columns are wide: they alternate between two lines. */
static void
print_heading(const struct measure *measure)
{
    uint32_t width = column_width(measure);
    uint32_t lines = measure->count > 1 ? 2 : 1;
    for (uint32_t line = 0; line < lines; line++) {
        uint32_t at = (uint32_t)printf("%s", line + 1 == lines ? "runs to the first" : "");
        for (uint32_t i = line; i < measure->count; i += lines) {
            uint32_t end = NAME_WIDTH + (i + 1) * width;
            at += (uint32_t)printf(
                    "%*.*s", (int)(end - at), (int)(lines * width - 1), measure->columns[i].name);
        }
        (void)printf("\n");
    }
}

/* Four digits at most: "3.4", "73", "1048", "15k". */
static void
put_mean(char cell[CELL_MAX], const struct sim_trials *trials)
{
    uint64_t tenths = sim_trials_mean_tenths(trials->runs, trials->found);
    if (trials->found == 0) {
        (void)snprintf(cell, CELL_MAX, trials->exhausted > 0 ? "none" : "-");
    } else if (tenths < 100) {
        (void)snprintf(cell, CELL_MAX, "%llu.%llu", wide(tenths / 10), wide(tenths % 10));
    } else if (tenths < 99995) {
        (void)snprintf(cell, CELL_MAX, "%llu", wide((tenths + 5) / 10));
    } else {
        (void)snprintf(cell, CELL_MAX, "%lluk", wide((tenths + 5000) / 10000));
    }
}

/* The number of trials that found it, where that is neither all nor none. */
static bool
put_found(char cell[CELL_MAX], const struct sim_trials *trials)
{
    cell[0] = '\0';
    if (trials->found == 0 || trials->found == trials->trials) {
        return false;
    }
    (void)snprintf(cell, CELL_MAX, "%u", trials->found);
    return true;
}

static void
print_row(const struct measure *measure, const struct sim_trials *trials)
{
    const char *name = measure->all.scenario->name;
    char cell[CELL_MAX];
    int width = (int)column_width(measure);
    bool all = true;
    (void)printf("%-*.*s", (int)NAME_WIDTH, (int)sim_stem_length(name), name);
    for (uint32_t i = 0; i < measure->count; i++) {
        put_mean(cell, &trials[i]);
        (void)printf("%*s", width, cell);
        all = !put_found(cell, &trials[i]) && all;
    }
    (void)printf("\n");
    if (all) {
        return;
    }
    (void)printf("%-*s", (int)NAME_WIDTH, "    trials that found it");
    for (uint32_t i = 0; i < measure->count; i++) {
        (void)put_found(cell, &trials[i]);
        (void)printf("%*s", width, cell);
    }
    (void)printf("\n");
}

static void
print_json(const struct sim_measure_row *row)
{
    SIM_JSON_LINE("measured", SIM_TEXT("scenario", row->scenario),
            SIM_TEXT("strategy", row->strategy), SIM_NUMBER("runs_max", row->runs_max),
            SIM_NUMBER("trials", row->trials), SIM_NUMBER("found", row->found),
            SIM_NUMBER("exhausted", row->exhausted), SIM_NUMBER("trial_runs", row->trial_runs),
            SIM_NUMBER("trial_steps", row->trial_steps),
            SIM_TEXT("verdict", row->found > 0 ? sim_verdict_name(row->verdict) : NULL),
            SIM_BOOL("as_stated", row->as_stated));
}

/* ---- Measuring. ------------------------------------------------------------------------------ */

static int
measure_cell(struct measure *measure, const struct sim_scenario *scenario,
        const struct column *column, struct sim_trials *ret_trials)
{
    struct sim_cli_trials *all = &measure->all;
    struct sim_trials_plan plan = sim_cli_trials_plan(all, scenario, column->how);
    plan.spec.search = column->search;
    plan.unconfirmed = true;
    int status = sim_cli_trials_ran(all, sim_trials_run(&all->pool, &plan, ret_trials));
    if (status != 0) {
        return status;
    }
    const struct sim_measure_row row = {
            .scenario = scenario->name,
            .strategy = column->name,
            .runs_max = all->runs,
            .trials = ret_trials->trials,
            .found = ret_trials->found,
            .exhausted = ret_trials->exhausted,
            .verdict = ret_trials->verdict,
            .oracle = ret_trials->oracle,
            .trial_runs = ret_trials->runs,
            .trial_steps = ret_trials->steps,
            .as_stated = ret_trials->as_stated,
            .build = all->build,
            .measured_ms = sim_clock_date_ms(),
    };
    if (all->json) {
        print_json(&row);
    }
    return all->store == NULL ? 0 : sim_cli_stored(all->store, sim_store_measure(all->store, &row));
}

static int
measure_row(struct measure *measure, const struct sim_scenario *scenario)
{
    struct sim_trials trials[COLUMNS_MAX];
    int status = 0;
    for (uint32_t i = 0; i < measure->count && status == 0; i++) {
        status = measure_cell(measure, scenario, &measure->columns[i], &trials[i]);
    }
    if (status == 0 && !measure->all.json) {
        sim_progress_clear(&measure->all.progress);
        print_row(measure, trials);
    }
    (void)fflush(stdout);
    return status;
}

/* A hang is found by a clock, nondeterminism by a replica run: neither by a search. */
static bool
is_wanted(const struct sim_scenario *scenario)
{
    return scenario->expect != SIM_VERDICT_PASS && scenario->expect != SIM_VERDICT_HANG &&
           scenario->expect != SIM_VERDICT_DIVERGED;
}

static int
measure_all(struct measure *measure)
{
    const struct sim_selection *selection = &measure->all.selection;
    int status = 0;
    if (!measure->all.json) {
        print_heading(measure);
    }
    for (uint32_t i = 0; i < selection->count && status == 0; i++) {
        status = measure_row(measure, selection->entries[i]->scenario);
    }
    if (status == 0 && !measure->all.json) {
        (void)printf("%u scenario%s, %u trials of at most %llu runs; mean of those that found it\n",
                selection->count, selection->count == 1 ? "" : "s", SIM_TRIALS,
                wide(measure->all.runs));
    }
    return status;
}

static int
measure_command(struct sim_cli *cli)
{
    struct measure measure = {.count = 0};
    if (sim_given(&cli->settings, SIM_CLI_OPTION_RUNS) && cli->settings.runs > SIM_TRIAL_STRIDE) {
        return sim_cli_fail(
                SIM_EXIT_USAGE, "--runs: a trial has at most %llu runs", wide(SIM_TRIAL_STRIDE));
    }
    int status = sim_cli_trials_init(&measure.all, cli, RUNS, is_wanted);
    if (status == 0) {
        choose_columns(&measure);
        status = measure_all(&measure);
    }
    sim_cli_trials_done(&measure.all);
    return status;
}

SIM_COMMAND(command, .name = "measure", .purpose = SIM_PURPOSE_DATA,
        .usage = "[LIB.so] [PATTERN...] [options]",
        .about = "how many runs each strategy needs to find the failures",
        .help = "For each scenario that must fail: runs up to the first failure, by strategy, "
                "the mean of 20 trials of at most N runs (here 1000 by default). Without "
                "--strategy all of them, a column each; an enumeration has one trial. '-': "
                "not found, 'none': not found, and no run is left to try. Stored as table "
                "`measures`, view measure_table.\n",
        .options = SIM_OPT(STRATEGY) | SIM_OPT(RUNS) | SIM_OPT(JOBS) | SIM_OPT(DB) |
                   SIM_OPT(RECORD) | SIM_OPT(HANG) | SIM_OPT(JSON),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = UINT32_MAX,
        .run = measure_command);
