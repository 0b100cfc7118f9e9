/*
 * measure.c -- `rewake measure`: how many runs each strategy needs to find what is there.
 *
 * A row for each scenario that must fail, a column for each strategy: runs up to the first
 * failure, the mean of 20 trials (sim/engine/sweep/trials.h). Where not all trials found it the
 * mean is over those that did, and a second line says how many these were.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/cli/cli.h"
#include "sim/cli/print/build.h"
#include "sim/cli/print/json.h"
#include "sim/cli/print/terminal.h"
#include "sim/cli/subject/subject.h"
#include "sim/engine/clock.h"
#include "sim/engine/sweep/trials.h"
#include "sim/store/store.h"

#define RUNS 1000u
#define COLUMNS_MAX 16u
#define TABLE_WIDTH 100u
#define NAME_WIDTH 24u
#define CELL_MAX 24u
#define BROKEN "/broken"

/* A strategy. */
struct column {
    struct sim_search search;
    uint32_t how;
    char name[SIM_STRATEGY_TEXT_MAX];
};

struct measure {
    struct sim_cli *cli;
    struct sim_pool pool;
    struct sim_progress progress;
    struct sim_store *store; /* NULL: --record none. */
    char build[SIM_BUILD_MAX];
    bool json;
    uint64_t runs;
    struct column columns[COLUMNS_MAX];
    uint32_t count;
    uint32_t scenarios;
    const struct sim_scenario *scenario; /* That is being run. */
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

/* The one that was asked for, else all that there are; the baseline run is but one. */
static void
choose_columns(struct measure *measure)
{
    const struct sim_settings *settings = &measure->cli->settings;
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

/* ---- Telling. -------------------------------------------------------------------------------- */

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

/* Names are longer than columns are wide: they stand in two lines, by turns. */
static void
tell_heading(const struct measure *measure)
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

/* "zoo/async-io-07b6cca" of "zoo/async-io-07b6cca/broken". */
static int
stem_length(const char *name)
{
    size_t length = strlen(name);
    size_t form = strlen(BROKEN);
    bool has_form = length > form && strcmp(name + length - form, BROKEN) == 0;
    return (int)(has_form ? length - form : length);
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

/* In how many trials it was found, where not in all and not in none. */
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
tell_text(const struct measure *measure, const struct sim_trials *trials)
{
    const char *name = measure->scenario->name;
    char cell[CELL_MAX];
    int width = (int)column_width(measure);
    bool all = true;
    (void)printf("%-*.*s", (int)NAME_WIDTH, stem_length(name), name);
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
tell_json(const struct sim_measure_row *row)
{
    struct sim_json json;
    sim_json_begin(&json, stdout, "measured");
    sim_json_text(&json, "scenario", row->scenario);
    sim_json_text(&json, "strategy", row->strategy);
    sim_json_number(&json, "runs_max", row->runs_max);
    sim_json_number(&json, "trials", row->trials);
    sim_json_number(&json, "found", row->found);
    sim_json_number(&json, "exhausted", row->exhausted);
    sim_json_number(&json, "trial_runs", row->trial_runs);
    sim_json_number(&json, "trial_steps", row->trial_steps);
    sim_json_text(&json, "verdict", row->found > 0 ? sim_verdict_name(row->verdict) : NULL);
    sim_json_bool(&json, "as_stated", row->as_stated);
    sim_json_end(&json);
}

/* ---- Measuring. ------------------------------------------------------------------------------ */

static bool
on_tick(void *argument, uint64_t runs, const struct sim_sweep_totals *totals)
{
    struct measure *measure = argument;
    (void)totals;
    sim_progress_tick(&measure->progress, measure->scenario->name, runs, measure->runs, 0, false);
    return ferror(stdout) == 0;
}

static int
store_row(struct measure *measure, const struct sim_measure_row *row)
{
    if (measure->json) {
        tell_json(row);
    }
    if (measure->store == NULL || sim_store_measure(measure->store, row, measure->build,
                                          sim_clock_date_ms()) == SIM_STORE_OK) {
        return 0;
    }
    return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(measure->store));
}

static int
measure_cell(struct measure *measure, const struct column *column, struct sim_trials *ret_trials)
{
    struct sim_trials_plan plan = {
            .scenario = measure->scenario,
            .how = column->how,
            .search = column->search,
            .trials = SIM_TRIALS,
            .runs_max = measure->runs,
            .unconfirmed = true,
            .tick = on_tick,
            .argument = measure,
    };
    sim_options_init(&plan.options, measure->scenario);
    if (!sim_trials_run(&measure->pool, &plan, ret_trials)) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", measure->pool.error);
    }
    const struct sim_measure_row row = {
            .scenario = measure->scenario->name,
            .strategy = column->name,
            .runs_max = measure->runs,
            .trials = ret_trials->trials,
            .found = ret_trials->found,
            .exhausted = ret_trials->exhausted,
            .verdict = ret_trials->verdict,
            .oracle = ret_trials->oracle,
            .trial_runs = ret_trials->runs,
            .trial_steps = ret_trials->steps,
            .as_stated = ret_trials->as_stated,
    };
    return store_row(measure, &row);
}

static int
measure_row(struct measure *measure, const struct sim_scenario *scenario)
{
    struct sim_trials trials[COLUMNS_MAX];
    int status = 0;
    measure->scenario = scenario;
    measure->scenarios++;
    for (uint32_t i = 0; i < measure->count && status == 0; i++) {
        status = measure_cell(measure, &measure->columns[i], &trials[i]);
    }
    if (status == 0 && !measure->json) {
        sim_progress_clear(&measure->progress);
        tell_text(measure, trials);
    }
    (void)fflush(stdout);
    return status;
}

/* Whoever hangs, or is another run each time, is found by a clock or a twin, not by a search. */
static bool
is_wanted(const struct measure *measure, const struct sim_entry *entry)
{
    const struct sim_cli *cli = measure->cli;
    enum sim_verdict stated = entry->scenario->expect;
    bool searched = stated != SIM_VERDICT_PASS && stated != SIM_VERDICT_HANG &&
                    stated != SIM_VERDICT_DIVERGED;
    return searched && (cli->library == NULL || entry->library != NULL) &&
           sim_registry_matches(entry->scenario->name, cli->arguments, cli->count);
}

static int
open_all(struct measure *measure)
{
    const struct sim_cli *cli = measure->cli;
    char message[SIM_STORE_MESSAGE_MAX];
    sim_build_text(cli->library, measure->build);
    if (cli->settings.record != SIM_RECORD_NONE &&
            sim_store_open(sim_cli_db(cli), SIM_STORE_WRITE, 0, message, sizeof(message),
                    &measure->store) != SIM_STORE_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
    }
    if (!sim_pool_init(&measure->pool, cli->settings.jobs, cli->settings.hang_ms)) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", measure->pool.error);
    }
    return 0;
}

static int
measure_all(struct measure *measure)
{
    const struct sim_registry *registry = &measure->cli->registry;
    int status = open_all(measure);
    for (uint32_t i = 0; i < registry->count && status == 0; i++) {
        const struct sim_entry *entry = &registry->entries[i];
        if (!is_wanted(measure, entry)) {
            continue;
        }
        if (measure->scenarios == 0 && !measure->json) {
            tell_heading(measure);
        }
        status = measure_row(measure, entry->scenario);
    }
    return status;
}

static void
tell_end(const struct measure *measure)
{
    if (!measure->json) {
        (void)printf("%u scenario%s, %u trials of at most %llu runs; mean of those that found it\n",
                measure->scenarios, measure->scenarios == 1 ? "" : "s", SIM_TRIALS,
                wide(measure->runs));
    }
}

static int
measure_command(struct sim_cli *cli)
{
    struct measure measure = {
            .cli = cli,
            .json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON),
            .runs = sim_given(&cli->settings, SIM_CLI_OPTION_RUNS) ? cli->settings.runs : RUNS,
    };
    if (measure.runs > SIM_TRIAL_STRIDE) {
        return sim_cli_fail(
                SIM_EXIT_USAGE, "--runs: a trial has at most %llu runs", wide(SIM_TRIAL_STRIDE));
    }
    choose_columns(&measure);
    sim_progress_init(&measure.progress);
    int status = measure_all(&measure);
    sim_pool_fini(&measure.pool);
    sim_store_close(&measure.store);
    if (status != 0) {
        return status;
    }
    if (measure.scenarios == 0) {
        return sim_cli_fail(SIM_EXIT_NOTHING,
                "no scenario that must fail matches; `rewake list` says which do");
    }
    tell_end(&measure);
    return SIM_EXIT_HELD;
}

SIM_COMMAND(command, .name = "measure", .usage = "[LIB.so] [PATTERN...] [options]",
        .about = "how many runs each strategy needs to find the failures",
        .help = "For each scenario that must fail: runs up to the first failure, by strategy, "
                "the mean of 20 trials of at most N runs (here 1000 by default). Without "
                "--strategy all of them, a column each; an enumeration has one trial. '-': "
                "not found, 'none': not found, and no run is left to try. Stored as table "
                "`measures`, view measure_table.\n",
        .options = SIM_CLI_OPTION_BIT(STRATEGY) | SIM_CLI_OPTION_BIT(RUNS) |
                   SIM_CLI_OPTION_BIT(JOBS) | SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(RECORD) |
                   SIM_CLI_OPTION_BIT(HANG) | SIM_CLI_OPTION_BIT(JSON) | SIM_CLI_OPTION_BIT(HELP),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = UINT32_MAX,
        .run = measure_command);
