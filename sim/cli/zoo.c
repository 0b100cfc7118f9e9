/*
 * zoo.c -- `rewake zoo`: the table of real bugs, measured again.
 *
 * A bug is a scenario that says whose it is (`.bug`, `.reference`) and that must fail. For each:
 *
 *   - the baseline run: does it fail there already?
 *   - 20 trials (sim/engine/sweep/trials.h): each runs seeds up to the first failure;
 *   - the fixed form, as many runs as a trial has at most.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
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

#define RUNS 10000u
#define BROKEN "/broken"
#define FIXED "/fixed"

struct zoo {
    struct sim_cli *cli;
    struct sim_pool pool;
    struct sim_progress progress;
    struct sim_store *store; /* NULL: --record none. */
    char build[SIM_BUILD_MAX];
    bool json;
    uint64_t runs;
    const struct sim_scenario *scenario; /* That is being run. */

    uint32_t bugs;
    uint32_t quiet; /* Bugs that the baseline run does not show. */
    uint32_t wrong; /* Not found, not as stated, or with a fixed form that fails. */
};

/* ---- One bug. -------------------------------------------------------------------------------- */

static bool
on_tick(void *argument, uint64_t runs, const struct sim_sweep_totals *totals)
{
    struct zoo *zoo = argument;
    sim_progress_tick(&zoo->progress, zoo->scenario->name, runs, zoo->runs,
            totals->runs - totals->verdicts[SIM_VERDICT_PASS], false);
    return ferror(stdout) == 0;
}

static struct sim_trials_plan
plan_of(struct zoo *zoo, const struct sim_scenario *scenario, uint32_t how)
{
    struct sim_trials_plan plan = {
            .scenario = scenario,
            .how = how,
            .trials = how == SIM_HOW_BASELINE ? 1 : SIM_TRIALS,
            .runs_max = how == SIM_HOW_BASELINE ? 1 : zoo->runs,
            .tick = on_tick,
            .argument = zoo,
    };
    sim_options_init(&plan.options, scenario);
    zoo->scenario = scenario;
    return plan;
}

static bool
measure_broken(struct zoo *zoo, const struct sim_scenario *scenario, struct sim_zoo_row *row)
{
    struct sim_trial baseline;
    struct sim_trials trials;
    struct sim_trials_plan plan = plan_of(zoo, scenario, SIM_HOW_BASELINE);
    if (!sim_trial_run(&zoo->pool, &plan, 1, &baseline)) {
        return false;
    }
    plan = plan_of(zoo, scenario, SIM_HOW_RANDOM);
    if (!sim_trials_run(&zoo->pool, &plan, &trials)) {
        return false;
    }
    row->baseline = baseline.failed;
    row->as_stated = trials.as_stated;
    row->trials = trials.trials;
    row->found = trials.found;
    row->verdict = trials.verdict;
    row->oracle = trials.oracle;
    row->trial_runs = trials.runs;
    row->trial_steps = trials.steps;
    return true;
}

/* "zoo/async-io-07b6cca" of "zoo/async-io-07b6cca/broken", on the heap. */
static char *
stem_of(const char *name)
{
    size_t length = strlen(name);
    size_t form = strlen(BROKEN);
    bool has_form = length > form && strcmp(name + length - form, BROKEN) == 0;
    char *stem = strndup(name, has_form ? length - form : length);
    rt_assert(stem != NULL);
    return stem;
}

static bool
measure_fixed(struct zoo *zoo, const char *stem, struct sim_zoo_row *row)
{
    char name[256];
    (void)snprintf(name, sizeof(name), "%s%s", stem, FIXED);
    const struct sim_entry *fixed = sim_registry_find(&zoo->cli->registry, name);
    if (fixed == NULL) {
        return true;
    }
    struct sim_trial trial;
    struct sim_trials_plan plan = plan_of(zoo, fixed->scenario, SIM_HOW_RANDOM);
    if (!sim_trial_run(&zoo->pool, &plan, 1, &trial)) {
        return false;
    }
    row->fixed_runs = trial.merged;
    row->fixed_failures = trial.failures;
    return true;
}

static bool
is_wrong(const struct sim_zoo_row *row)
{
    return row->found < row->trials || !row->as_stated || row->fixed_failures > 0;
}

/* ---- Telling. -------------------------------------------------------------------------------- */

static unsigned long long
wide(uint64_t number)
{
    return (unsigned long long)number;
}

static void
tell_heading(const struct zoo *zoo)
{
    if (!zoo->json) {
        (void)printf("%-24s %-13s %-15s %-8s %7s %5s %s\n", "bug", "verdict", "oracle", "baseline",
                "runs", "steps", "fixed");
    }
}

static void
tell_text(const struct sim_zoo_row *row)
{
    (void)printf("%-24s ", row->name);
    if (row->found == 0) {
        (void)printf("NOT FOUND in %u x %llu runs\n", row->trials, wide(row->trial_runs));
        return;
    }
    uint64_t tenths = sim_trials_mean_tenths(row->trial_runs, row->found);
    (void)printf("%-13s %-15s %-8s %5llu.%llu %5llu ", sim_verdict_name(row->verdict),
            sim_oracle_name(row->oracle), row->baseline ? "yes" : "no", wide(tenths / 10),
            wide(tenths % 10), wide(row->trial_steps / row->found));
    if (row->fixed_failures > 0) {
        (void)printf("FAILS");
    } else if (row->fixed_runs > 0) {
        (void)printf("passes");
    } else {
        (void)printf("none");
    }
    if (row->found < row->trials) {
        (void)printf(", FOUND IN %u OF %u TRIALS", row->found, row->trials);
    }
    (void)printf("%s\n", row->as_stated ? "" : ", NOT AS STATED");
}

static void
tell_json(const struct sim_zoo_row *row)
{
    struct sim_json json;
    sim_json_begin(&json, stdout, "zoo");
    sim_json_text(&json, "name", row->name);
    sim_json_text(&json, "bug", row->bug);
    sim_json_text(&json, "reference", row->reference);
    sim_json_text(&json, "about", row->about);
    sim_json_text(&json, "verdict", row->found > 0 ? sim_verdict_name(row->verdict) : NULL);
    sim_json_text(&json, "oracle", row->found > 0 ? sim_oracle_name(row->oracle) : NULL);
    sim_json_bool(&json, "as_stated", row->as_stated);
    sim_json_bool(&json, "baseline", row->baseline);
    sim_json_number(&json, "trials", row->trials);
    sim_json_number(&json, "found", row->found);
    sim_json_number(&json, "trial_runs", row->trial_runs);
    sim_json_number(&json, "trial_steps", row->trial_steps);
    sim_json_number(&json, "fixed_runs", row->fixed_runs);
    sim_json_number(&json, "fixed_failures", row->fixed_failures);
    sim_json_end(&json);
}

static void
tell(struct zoo *zoo, const struct sim_zoo_row *row)
{
    sim_progress_clear(&zoo->progress);
    if (zoo->json) {
        tell_json(row);
    } else {
        tell_text(row);
    }
    (void)fflush(stdout);
}

static void
tell_end(const struct zoo *zoo)
{
    if (!zoo->json) {
        (void)printf("%u bug%s, %u not shown by the baseline run, %u not as it should be; "
                     "runs: mean of %u trials\n",
                zoo->bugs, zoo->bugs == 1 ? "" : "s", zoo->quiet, zoo->wrong, SIM_TRIALS);
    }
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static bool
is_bug(const struct sim_scenario *scenario)
{
    return scenario->bug != NULL && scenario->expect != SIM_VERDICT_PASS;
}

/* By the name of its broken form, or by its own: "zoo/async-io-07b6cca". */
static bool
is_asked_for(const struct zoo *zoo, const struct sim_scenario *scenario)
{
    const struct sim_cli *cli = zoo->cli;
    char *stem = stem_of(scenario->name);
    bool asked = sim_registry_matches(scenario->name, cli->arguments, cli->count) ||
                 sim_registry_matches(stem, cli->arguments, cli->count);
    free(stem);
    return asked;
}

static int
store_row(struct zoo *zoo, const struct sim_zoo_row *row)
{
    if (zoo->store == NULL ||
            sim_store_zoo(zoo->store, row, zoo->build, sim_clock_date_ms()) == SIM_STORE_OK) {
        return 0;
    }
    return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(zoo->store));
}

static int
measure(struct zoo *zoo, const struct sim_scenario *scenario)
{
    char *stem = stem_of(scenario->name);
    struct sim_zoo_row row = {
            .name = stem,
            .bug = scenario->bug,
            .reference = scenario->reference,
            .about = scenario->about,
    };
    int status = 0;
    if (!measure_broken(zoo, scenario, &row) || !measure_fixed(zoo, stem, &row)) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", zoo->pool.error);
    } else {
        zoo->bugs++;
        zoo->quiet += !row.baseline;
        zoo->wrong += is_wrong(&row);
        tell(zoo, &row);
        status = store_row(zoo, &row);
    }
    free(stem);
    return status;
}

static int
open_store(struct zoo *zoo)
{
    char message[SIM_STORE_MESSAGE_MAX];
    sim_build_text(zoo->cli->library, zoo->build);
    if (zoo->cli->settings.record == SIM_RECORD_NONE) {
        return 0;
    }
    if (sim_store_open(sim_cli_db(zoo->cli), SIM_STORE_WRITE, 0, message, sizeof(message),
                &zoo->store) == SIM_STORE_OK) {
        return 0;
    }
    return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
}

static int
measure_all(struct zoo *zoo)
{
    const struct sim_cli *cli = zoo->cli;
    int status = open_store(zoo);
    if (status == 0 && !sim_pool_init(&zoo->pool, cli->settings.jobs, cli->settings.hang_ms)) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", zoo->pool.error);
    }
    for (uint32_t i = 0; i < cli->registry.count && status == 0; i++) {
        const struct sim_entry *entry = &cli->registry.entries[i];
        bool wanted = cli->library == NULL || entry->library != NULL;
        if (wanted && is_bug(entry->scenario) && is_asked_for(zoo, entry->scenario)) {
            if (zoo->bugs == 0) {
                tell_heading(zoo);
            }
            status = measure(zoo, entry->scenario);
        }
    }
    return status;
}

static int
zoo_command(struct sim_cli *cli)
{
    struct zoo zoo = {
            .cli = cli,
            .json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON),
            .runs = sim_given(&cli->settings, SIM_CLI_OPTION_RUNS) ? cli->settings.runs : RUNS,
    };
    sim_progress_init(&zoo.progress);
    int status = measure_all(&zoo);
    sim_pool_fini(&zoo.pool);
    sim_store_close(&zoo.store);
    if (status != 0) {
        return status;
    }
    if (zoo.bugs == 0) {
        return sim_cli_fail(
                SIM_EXIT_NOTHING, "no real bug matches; `rewake list 'zoo/*'` has them all");
    }
    tell_end(&zoo);
    return zoo.wrong > 0 ? SIM_EXIT_BUG : SIM_EXIT_HELD;
}

SIM_COMMAND(command, .name = "zoo", .usage = "[LIB.so] [PATTERN...] [options]",
        .about = "the table of real bugs, measured and stored",
        .help = "Runs the broken form of each bug on the baseline run and in 20 trials of at "
                "most N random seeds (here 10000 by default), and its fixed form N times. "
                "Stored as table `zoo`, view zoo_table. Exit status 1 when a bug is not found "
                "as expected, or a fixed form fails.\n",
        .options = SIM_CLI_OPTION_BIT(RUNS) | SIM_CLI_OPTION_BIT(JOBS) | SIM_CLI_OPTION_BIT(DB) |
                   SIM_CLI_OPTION_BIT(RECORD) | SIM_CLI_OPTION_BIT(HANG) |
                   SIM_CLI_OPTION_BIT(JSON) | SIM_CLI_OPTION_BIT(HELP),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = UINT32_MAX,
        .run = zoo_command);
