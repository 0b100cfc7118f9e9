/*
 * zoo.c -- `rewake zoo`: the table of real bugs, measured again.
 *
 * A bug is a scenario that names one (`.bug`, `.reference`) and that must fail. For each:
 *
 *   - the baseline run: does it fail there already?
 *   - 20 trials (sim/engine/sweep/trials.h): each runs seeds up to the first failure;
 *   - the fixed form: as many runs as a trial has at most.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/glob.h"
#include "sim/base/heap.h"
#include "sim/cli/trials.h"
#include "sim/cli/zoo_programs.h"

#define RUNS 10000u

struct zoo {
    struct sim_cli_trials all;
    uint32_t bugs;
    uint32_t quiet; /* Bugs that the baseline run does not show. */
    uint32_t wrong; /* Not found, not as expected, or with a fixed form that fails. */
};

/* ---- One bug. -------------------------------------------------------------------------------- */

static bool
measure_broken(struct zoo *zoo, const struct sim_scenario *scenario, struct sim_zoo_row *row)
{
    struct sim_trial baseline;
    struct sim_trials trials;
    struct sim_trials_plan plan = sim_cli_trials_plan(&zoo->all, scenario, SIM_HOW_BASELINE);
    plan.trials = 1;
    plan.runs_max = 1;
    if (!sim_trial_run(&zoo->all.pool, &plan, 1, &baseline)) {
        return false;
    }
    plan = sim_cli_trials_plan(&zoo->all, scenario, SIM_HOW_RANDOM);
    if (!sim_trials_run(&zoo->all.pool, &plan, &trials)) {
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

static bool
measure_fixed(struct zoo *zoo, const char *stem, struct sim_zoo_row *row)
{
    char name[256];
    (void)snprintf(name, sizeof(name), "%s/fixed", stem);
    const struct sim_entry *fixed = sim_registry_find(&zoo->all.cli->registry, name);
    if (fixed == NULL) {
        return true;
    }
    struct sim_trial trial;
    struct sim_trials_plan plan = sim_cli_trials_plan(&zoo->all, fixed->scenario, SIM_HOW_RANDOM);
    if (!sim_trial_run(&zoo->all.pool, &plan, 1, &trial)) {
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

static unsigned long long
wide(uint64_t number)
{
    return (unsigned long long)number;
}

static void
print_text(const struct sim_zoo_row *row)
{
    (void)printf("%-23s ", row->name);
    if (row->found == 0) {
        (void)printf("NOT FOUND in %u x %llu runs\n", row->trials, wide(row->trial_runs));
        return;
    }
    uint64_t tenths = sim_trials_mean_tenths(row->trial_runs, row->found);
    (void)printf("%-11s %-15s %-8s %4llu.%llu %5llu ", sim_verdict_name(row->verdict),
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
    (void)printf("%s\n", row->as_stated ? "" : ", NOT AS EXPECTED");
}

static void
print_json(const struct sim_zoo_row *row)
{
    SIM_JSON_LINE("zoo", SIM_TEXT("name", row->name), SIM_TEXT("bug", row->bug),
            SIM_TEXT("reference", row->reference), SIM_TEXT("about", row->about),
            SIM_TEXT("verdict", row->found > 0 ? sim_verdict_name(row->verdict) : NULL),
            SIM_TEXT("oracle", row->found > 0 ? sim_oracle_name(row->oracle) : NULL),
            SIM_BOOL("as_stated", row->as_stated), SIM_BOOL("baseline", row->baseline),
            SIM_NUMBER("trials", row->trials), SIM_NUMBER("found", row->found),
            SIM_NUMBER("trial_runs", row->trial_runs), SIM_NUMBER("trial_steps", row->trial_steps),
            SIM_NUMBER("fixed_runs", row->fixed_runs),
            SIM_NUMBER("fixed_failures", row->fixed_failures));
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static bool
is_bug(const struct sim_scenario *scenario)
{
    return scenario->bug != NULL && scenario->expect != SIM_VERDICT_PASS;
}

/* What was measured: printed, counted, stored. */
static int
take_row(struct zoo *zoo, const struct sim_zoo_row *row)
{
    struct sim_cli_trials *all = &zoo->all;
    zoo->bugs++;
    zoo->quiet += !row->baseline;
    zoo->wrong += is_wrong(row);
    sim_progress_clear(&all->progress);
    if (all->json) {
        print_json(row);
    } else {
        print_text(row);
    }
    (void)fflush(stdout);
    return all->store == NULL ? 0 : sim_cli_stored(all->store, sim_store_zoo(all->store, row));
}

static int
measure(struct zoo *zoo, const struct sim_scenario *scenario)
{
    char *stem = sim_heap_must(strndup(scenario->name, sim_stem_length(scenario->name)));
    struct sim_zoo_row row = {
            .name = stem,
            .bug = scenario->bug,
            .reference = scenario->reference,
            .about = scenario->about,
            .build = zoo->all.build,
            .measured_ms = sim_clock_date_ms(),
    };
    bool ran = measure_broken(zoo, scenario, &row) && measure_fixed(zoo, stem, &row);
    int status = sim_cli_trials_ran(&zoo->all, ran);
    status = status == 0 ? take_row(zoo, &row) : status;
    free(stem);
    return status;
}

static int
measure_all(struct zoo *zoo)
{
    const struct sim_selection *selection = &zoo->all.selection;
    int status = 0;
    if (!zoo->all.json) {
        (void)printf("%-23s %-11s %-15s %-8s %6s %5s %s\n", "bug", "verdict", "oracle", "baseline",
                "runs", "steps", "fixed");
    }
    for (uint32_t i = 0; i < selection->count && status == 0; i++) {
        status = measure(zoo, selection->entries[i]->scenario);
    }
    if (status == 0 && !zoo->all.json) {
        (void)printf("%u bug%s, %u not shown by the baseline run, %u not as expected\n"
                     "runs: mean of %u trials\n",
                zoo->bugs, zoo->bugs == 1 ? "" : "s", zoo->quiet, zoo->wrong, SIM_TRIALS);
        (void)printf("next: rewake zoo --programs (other bugs, which are programs)\n");
    }
    return status != 0 ? status : zoo->wrong > 0 ? SIM_EXIT_BUG : SIM_EXIT_HELD;
}

/* ---- Programs. ------------------------------------------------------------------------------- */

/* Those whose names begin so; how to run one, with NAME for what follows. */
struct kind {
    const char *folder;
    const char *about;
    const char *run;
};

static const struct kind kinds[] = {
        {"threads/", "Programs with threads (-DFIXED: the fixed form), in rewake's source",
                "rewake cc -o prog scenarios/threads/NAME.c -pthread && rewake run ./prog"},
        {"real/", "In Debian's source of the library, which is downloaded; in rewake's source",
                "scripts/real NAME"},
};

static void
print_program(const struct sim_zoo_program *program, const char *run, bool json)
{
    if (!json) {
        (void)printf("%-27s %-14s %s\n  %s\n", program->name, program->verdict, program->reference,
                program->about);
        return;
    }
    const char *name = strchr(program->name, '/') + 1;
    const char *gap = strstr(run, "NAME");
    char *command = sim_heap_printf("%.*s%s%s", (int)(gap - run), run, name, gap + 4);
    SIM_JSON_LINE("zoo-program", SIM_TEXT("name", program->name),
            SIM_TEXT("verdict", program->verdict), SIM_TEXT("reference", program->reference),
            SIM_TEXT("about", program->about), SIM_TEXT("run", command));
    free(command);
}

/* How to run each, then those that match. Returns how many. */
static uint32_t
list_kind(const struct sim_cli *cli, const struct kind *kind)
{
    bool json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON);
    uint32_t count = 0;
    for (const struct sim_zoo_program *one = sim_zoo_programs; one->name != NULL; one++) {
        if (strncmp(one->name, kind->folder, strlen(kind->folder)) == 0 &&
                sim_glob_matches(one->name, cli->arguments, cli->count)) {
            if (count++ == 0 && !json) {
                (void)printf("%s:\n  %s\n", kind->about, kind->run);
            }
            print_program(one, kind->run, json);
        }
    }
    return count;
}

static int
list(const struct sim_cli *cli)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        count += list_kind(cli, &kinds[i]);
    }
    return count > 0 ? SIM_EXIT_HELD
                     : sim_cli_fail(SIM_EXIT_NOTHING, "no program matches (--programs lists all)");
}

static int
zoo_command(struct sim_cli *cli)
{
    if (sim_given(&cli->settings, SIM_CLI_OPTION_PROGRAMS)) {
        return list(cli);
    }
    struct zoo zoo = {.bugs = 0};
    int status = sim_cli_trials_init(&zoo.all, cli, RUNS, is_bug);
    status = status == 0 ? measure_all(&zoo) : status;
    sim_cli_trials_done(&zoo.all);
    return status;
}

SIM_COMMAND(command, .name = "zoo", .purpose = SIM_PURPOSE_DATA,
        .usage = "[LIB.so] [PATTERN...] [options]",
        .about = "the table of real bugs, measured and stored",
        .help = "Runs the broken form of each bug on the baseline run and in 20 trials of at "
                "most N random seeds (here 10000 by default), and its fixed form N times. "
                "Stored as table `zoo`, view zoo_table. Exit status 1 when a bug is not found "
                "as expected, or a fixed form fails.\n\n"
                "Other bugs are programs, with threads or in the source of their library; they are "
                "in rewake's source, not measured here, and listed by --programs.\n",
        .options = SIM_OPT(RUNS) | SIM_OPT(JOBS) | SIM_OPT(DB) | SIM_OPT(RECORD) | SIM_OPT(HANG) |
                   SIM_OPT(PROGRAMS) | SIM_OPT(JSON),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = UINT32_MAX,
        .run = zoo_command);
