/*
 * run.c -- `rewake run`: many seeds of many scenarios.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/nearest.h"
#include "sim/cli/run/state.h"
#include "sim/cli/subject/subject.h"
#include "sim/engine/token.h"
#include "sim/program/program.h"

/* ---- Signals. -------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t status_wanted;

static void
on_signal(int number)
{
    if (number == SIGUSR1) {
        status_wanted = 1;
    } else {
        interrupted = 1;
    }
}

const volatile sig_atomic_t *
sim_run_catch_signals(void)
{
    struct sigaction status = {.sa_handler = on_signal};
    struct sigaction once = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&status.sa_mask);
    (void)sigemptyset(&once.sa_mask);
    (void)sigaction(SIGUSR1, &status, NULL);
    (void)sigaction(SIGINT, &once, NULL);
    (void)sigaction(SIGTERM, &once, NULL);
    /* nohup ignores it. */
    struct sigaction hang_up;
    if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) {
        (void)sigaction(SIGHUP, &once, NULL);
    }
    return &interrupted;
}

/* ---- The plan. ------------------------------------------------------------------------------- */

/* No selected scenario has such a parameter, no run such an option. */
static int
refuse_assignment(const struct sim_run *run, bool param, const struct sim_assignment *assignment)
{
    char word[SIM_NEAREST_MAX + 1];
    char hint[SIM_NEAREST_HINT_MAX];
    struct sim_nearest nearest = {.word = word};
    (void)snprintf(word, sizeof(word), "%.*s", (int)assignment->name_length, assignment->name);
    for (uint32_t i = 0; !param && i < SIM_OPTIONS; i++) {
        sim_nearest_try(&nearest, sim_option_name(i), sim_option_name(i));
    }
    for (uint32_t i = 0; param && i < run->selected.count; i++) {
        const struct sim_scenario *scenario = run->selected.entries[i]->scenario;
        for (uint32_t j = 0; j < sim_scenario_params(scenario); j++) {
            sim_nearest_try(&nearest, scenario->params[j].name, scenario->params[j].name);
        }
    }
    return sim_cli_fail(SIM_EXIT_USAGE,
            param ? "-D %s: none of these scenarios has such a parameter%s (rewake list has all)"
                  : "-O %s: runs have no such option%s (rewake help run has all)",
            word, sim_nearest_hint(&nearest, hint));
}

/* -O and -D must fit each scenario that has them, and at least one. */
static int
check_assignment(const struct sim_run *run, bool param, const struct sim_assignment *assignment)
{
    bool known = false;
    for (uint32_t i = 0; i < run->selected.count; i++) {
        const char *wrong = NULL;
        const struct sim_scenario *scenario = run->selected.entries[i]->scenario;
        struct sim_options options;
        sim_options_init(&options, scenario);
        if (!sim_options_assign(scenario, &options, param, assignment, &wrong)) {
            continue;
        }
        known = true;
        if (wrong != NULL) {
            return sim_cli_fail(SIM_EXIT_USAGE, "%s %.*s: for %s '%s' %s", param ? "-D" : "-O",
                    (int)assignment->name_length, assignment->name, scenario->name,
                    assignment->value, wrong);
        }
    }
    return known ? 0 : refuse_assignment(run, param, assignment);
}

int
sim_run_check_assignments(const struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    int status = 0;
    for (uint32_t i = 0; i < settings->param_count && status == 0; i++) {
        status = check_assignment(run, true, &settings->params[i]);
    }
    for (uint32_t i = 0; i < settings->option_count && status == 0; i++) {
        status = check_assignment(run, false, &settings->options[i]);
    }
    return status;
}

uint32_t
sim_run_assign(const struct sim_run *run, struct sim_options *options)
{
    const struct sim_settings *settings = &run->cli->settings;
    const struct sim_scenario *scenario = run->entry->scenario;
    const char *wrong = NULL;
    uint32_t given = 0;
    for (uint32_t i = 0; i < settings->param_count; i++) {
        (void)sim_options_assign(scenario, options, true, &settings->params[i], &wrong);
    }
    for (uint32_t i = 0; i < settings->option_count; i++) {
        (void)sim_options_assign(scenario, options, false, &settings->options[i], &wrong);
        given |= UINT32_C(1) << sim_options_find(&settings->options[i]);
    }
    return given;
}

/* Whether only the time limits the runs. */
static bool
is_open(const struct sim_settings *settings)
{
    return settings->time_ms > 0 && !sim_given(settings, SIM_CLI_OPTION_RUNS) &&
           !sim_given(settings, SIM_CLI_OPTION_SEEDS);
}

/* --until-saturated: at most so many runs without --runs and --time; and runs between two checks,
 * for any number of workers. */
#define SATURATED_RUNS 100000u
#define SATURATED_BATCH 256u

/* A program may depend on what rewake does not see: by default one run in a hundred is repeated. */
static uint32_t
check_percent(const struct sim_settings *settings)
{
    bool usual = sim_program_loaded() != NULL && !sim_given(settings, SIM_CLI_OPTION_CHECK);
    return usual ? 1 : settings->check_percent;
}

/* The part of the plan that is the same for all scenarios. */
static int
make_plan(struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    uint64_t left = SIM_SEED_MAX - settings->seed + 1;
    bool open = is_open(settings);
    run->is_open = open;
    bool saturated = sim_given(settings, SIM_CLI_OPTION_SATURATED);
    run->plan = (struct sim_sweep_plan){
            .spec.seed = settings->seed,
            .runs = open ? UINT64_MAX : settings->runs,
            .spec.how = settings->how,
            .spec.search = settings->search,
            .check_percent = check_percent(settings),
            .fail_fast = sim_given(settings, SIM_CLI_OPTION_FAIL_FAST),
            .keep_all = settings->record == SIM_RECORD_ALL,
            .covers = settings->record != SIM_RECORD_NONE || saturated ||
                      sim_given(settings, SIM_CLI_OPTION_VERBOSE) ||
                      sim_given(settings, SIM_CLI_OPTION_GOALS) ||
                      sim_given(settings, SIM_CLI_OPTION_MAX_WASTE),
            .batch_runs = saturated ? SATURATED_BATCH : 0,
            .deadline_ms = UINT64_MAX,
            .interrupted = &interrupted,
    };
    if (saturated && !open && !sim_given(settings, SIM_CLI_OPTION_RUNS)) {
        run->plan.runs = SATURATED_RUNS < left ? SATURATED_RUNS : left;
    }
    if (sim_given(settings, SIM_CLI_OPTION_SEEDS)) {
        run->plan.runs = settings->seed_last - settings->seed + 1;
    }
    if (!open && run->plan.runs > left) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "from seed %llu there %s only %llu seed%s left below 2^63: begin lower, or make "
                "fewer "
                "runs",
                (unsigned long long)settings->seed, left == 1 ? "is" : "are",
                (unsigned long long)left, left == 1 ? "" : "s");
    }
    return 0;
}

/* ---- What the sweep reports. ----------------------------------------------------------------- */

static bool
on_batch(struct sim_sink *sink, const struct sim_merged *batch)
{
    struct sim_run *run = sim_run_of(sink);
    if (run->first.in_progress) {
        return sim_run_default_batch(run, batch);
    }
    if (run->plan.covers) {
        sim_run_cover_batch(run, batch);
    }
    sim_run_code_batch(run, batch);
    return sim_run_store_batch(run, batch);
}

static bool
on_failure(struct sim_sink *sink, const struct sim_new_failure *failure)
{
    struct sim_run *run = sim_run_of(sink);
    if (run->first.in_progress) {
        sim_run_default_note(run, failure);
    }
    return sim_run_take_failure(run, failure);
}

static bool
on_replica(struct sim_sink *sink, const struct sim_run_spec *again)
{
    return sim_run_print_replica(sim_run_of(sink), again);
}

bool
sim_run_tick(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals)
{
    struct sim_run *run = sim_run_of(sink);
    bool now = status_wanted != 0;
    status_wanted = 0;
    uint64_t asked = run->is_open ? UINT64_MAX : sim_sweep_share(&run->plan);
    sim_progress_tick(
            &run->progress, &(struct sim_progress_state){
                                    .name = run->entry->scenario->name,
                                    .runs = runs,
                                    .asked = asked,
                                    .failures = totals->runs - totals->verdicts[SIM_VERDICT_PASS],
                                    .last_new = run->cover.last_new,
                                    .now = now,
                            });
    /* Ends the sweep where stdout is closed; main() reports it. */
    return ferror(stdout) == 0;
}

static bool
on_enough(struct sim_sink *sink)
{
    return sim_run_saturated(sim_run_of(sink));
}

/* ---- One scenario, and all. ------------------------------------------------------------------ */

bool
sim_run_is_short(const struct sim_run *run)
{
    const struct sim_sweep_result *result = &run->result;
    return result->end == SIM_SWEEP_INTERRUPTED || result->end == SIM_SWEEP_TOO_MANY_HANGS ||
           (result->end == SIM_SWEEP_OUT_OF_TIME && result->totals.runs == 0);
}

/* A sweep that was cut short may miss goals. */
bool
sim_run_misses_goals(const struct sim_run *run)
{
    enum sim_sweep_end end = run->result.end;
    bool whole = end == SIM_SWEEP_COMPLETE || end == SIM_SWEEP_ENOUGH ||
                 end == SIM_SWEEP_EXHAUSTED || end == SIM_SWEEP_OUT_OF_TIME;
    return whole && sim_given(&run->cli->settings, SIM_CLI_OPTION_GOALS) &&
           sim_run_goals_missed(run) > 0;
}

static void
add_result(struct sim_run *run)
{
    const struct sim_sweep_result *result = &run->result;
    run->runs += result->totals.runs;
    run->passed += result->totals.verdicts[SIM_VERDICT_PASS];
    run->refused_runs += result->totals.verdicts[SIM_VERDICT_REFUSED];
    if (run->expect ? !sim_run_as_stated(run)
                    : result->kinds > result->diverged + result->refused) {
        run->bug = true;
    }
    run->bug = run->bug || sim_run_misses_goals(run) || sim_run_wastes(run);
    run->differs = run->differs || result->diverged > 0 || result->unequal > 0;
    run->refused = run->refused || result->refused > 0;
    run->short_of = run->short_of || sim_run_is_short(run);
    if (result->end == SIM_SWEEP_SYSTEM) {
        run->system = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", run->pool.error);
    }
}

bool
sim_run_enter(struct sim_run *run, const struct sim_entry *entry)
{
    run->entry = entry;
    run->plan_of_all = run->plan;
    run->plan.spec.scenario = entry->scenario;
    if (run->plan.runs == UINT64_MAX) {
        run->plan.runs = SIM_SEED_MAX - run->plan.spec.seed + 1;
    }
    sim_run_regression_plan(run, &run->tape, &run->plan);
    sim_run_regression_options(run, &run->plan.spec.options);
    run->plan.spec.given = sim_run_assign(run, &run->plan.spec.options);
    run->options = sim_options_json(entry->scenario, &run->plan.spec.options);
    run->sweep_ms = sim_clock_ms();
    return sim_run_store_begin(run);
}

void
sim_run_leave(struct sim_run *run)
{
    free(run->options);
    run->options = NULL;
    run->plan = run->plan_of_all;
}

static bool
is_stopped(const struct sim_run *run)
{
    return run->system != 0 || interrupted != 0 || (run->plan.fail_fast && run->bug);
}

/* Makes the runs of the scenario in progress: the default schedule, then the seeds. None, where a
 * remembered failure or ^C has stopped the command: then the sweep only records that. */
static void
sweep(struct sim_run *run)
{
    run->first = (struct sim_run_default){.result = {.first_failure = UINT64_MAX}};
    sim_progress_init(&run->progress);
    if (is_stopped(run)) {
        run->plan.covers = false;
        run->result = (struct sim_sweep_result){
                .end = interrupted != 0 ? SIM_SWEEP_INTERRUPTED : SIM_SWEEP_STOPPED_AT_FAILURE,
                .first_failure = UINT64_MAX,
        };
    }
    sim_run_cover_begin(run);
    sim_run_code_begin(run);
    if (is_stopped(run)) {
        return;
    }
    if (sim_run_default_schedule(run)) {
        sim_sweep_run(&run->pool, &run->plan, &run->sink, &run->result);
    } else {
        run->result = (struct sim_sweep_result){
                .end = run->first.result.end, .first_failure = UINT64_MAX};
    }
}

/* Sweeps one scenario, until `deadline_ms`. */
static void
run_scenario(struct sim_run *run, const struct sim_entry *entry, uint64_t deadline_ms)
{
    if (sim_run_enter(run, entry)) {
        run->plan.deadline_ms = deadline_ms;
        sim_run_export_sweep(run);
        sweep(run);
        (void)sim_run_store_end(run);
        sim_run_default_add(run);
        sim_run_print_scenario(run);
        add_result(run);
    }
    sim_run_leave(run);
}

/* Whether it is reported although the command has stopped before its turn. */
static bool
has_failed_again(struct sim_run *run, const struct sim_entry *entry)
{
    run->entry = entry;
    return run->system == 0 && sim_run_again_count(run) > 0;
}

static void
run_scenarios(struct sim_run *run)
{
    uint64_t time_ms = run->cli->settings.time_ms;
    uint64_t end_ms = sim_clock_ms() + time_ms;
    for (uint32_t i = 0; i < run->selected.count; i++) {
        uint64_t deadline_ms = UINT64_MAX;
        if (is_stopped(run) && !has_failed_again(run, run->selected.entries[i])) {
            continue;
        }
        if (time_ms > 0) {
            uint64_t now_ms = sim_clock_ms();
            uint64_t left_ms = end_ms > now_ms ? end_ms - now_ms : 0;
            deadline_ms = now_ms + left_ms / (run->selected.count - i);
        }
        run_scenario(run, run->selected.entries[i], deadline_ms);
    }
}

/* In the order of weight. */
static int
exit_status(const struct sim_run *run)
{
    if (run->system != 0) {
        return run->system;
    }
    if (run->bug) {
        return SIM_EXIT_BUG;
    }
    if (run->differs) {
        return SIM_EXIT_DIFFERS;
    }
    if (interrupted != 0 || run->short_of) {
        return SIM_EXIT_SHORT;
    }
    if (run->refused) {
        return SIM_EXIT_CAN_NOT_JUDGE;
    }
    return run->runs > 0 ? SIM_EXIT_HELD : SIM_EXIT_NOTHING;
}

static int
run_all(struct sim_run *run)
{
    sim_run_code_name(run);
    sim_pool_init(&run->pool, run->cli->settings.jobs, run->cli->settings.hang_ms);
    if (!sim_run_store_open(run) || !sim_run_code_open(run) || !sim_run_export_open(run)) {
        return run->system;
    }
    (void)sim_run_catch_signals();
    sim_run_print_start(run);
    sim_run_warn_of_seed(run);
    if (sim_run_try_remembered(run)) {
        run_scenarios(run);
    }
    int status = exit_status(run);
    int written = sim_run_export_write(run);
    status = written != 0 ? written : status;
    sim_run_print_end(run, status);
    return status;
}

/* A plain `rewake run` does not mean the scenarios that test rewake. */
static int
check_asked(const struct sim_cli *cli)
{
    bool asked = cli->library != NULL || cli->count > 0 ||
                 sim_given(&cli->settings, SIM_CLI_OPTION_BUILTIN);
    return asked ? 0
                 : sim_cli_fail(SIM_EXIT_USAGE,
                           "run what? A program (rewake run ./prog -- ARGS), a library of "
                           "scenarios "
                           "(rewake run ./mine.so), or scenarios of rewake (a pattern such as "
                           "zoo/*, or --builtin for all); rewake init begins a project");
}

static int
run_command(struct sim_cli *cli)
{
    struct sim_run run = {
            .sink = {.batch = on_batch,
                    .failure = on_failure,
                    .replica = on_replica,
                    .tick = sim_run_tick},
            .cli = cli,
            .json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON),
            .expect = sim_given(&cli->settings, SIM_CLI_OPTION_EXPECT),
            .start_ms = sim_clock_ms(),
    };
    run.sink.enough = sim_given(&cli->settings, SIM_CLI_OPTION_SATURATED) ? on_enough : NULL;
    int status = sim_run_take_commit(&run);
    status = status == 0 ? make_plan(&run) : status;
    status = status == 0 ? sim_run_take_part(&run) : status;
    status = status == 0 ? check_asked(cli) : status;
    status = status == 0 ? sim_select(cli, NULL, &run.selected) : status;
    status = status == 0 ? sim_run_check_assignments(&run) : status;
    status = status == 0 ? run_all(&run) : status;
    sim_pool_fini(&run.pool);
    sim_pool_fini(&run.defaults_pool);
    sim_run_store_close(&run);
    sim_run_cover_done(&run);
    sim_run_code_done(&run);
    sim_run_again_done(&run);
    sim_run_list_done(&run);
    sim_select_done(&run.selected);
    return status;
}

SIM_COMMAND(command, .name = "run", .purpose = SIM_PURPOSE_FIND,
        .usage = "[LIB.so|./PROG] [PATTERN...] [options] [-- ARGS]",
        .about = "run scenarios over many seeds, and report failures",
        .help = "A LIB.so is a library of scenarios, or a program as it is (./prog -- ARGS). "
                "PATTERN is a shell glob over names, or over parts of names where it matches "
                "none. Failures that the database remembers are tried "
                "first, then the default schedule (run 0: every decision is alternative 0), "
                "then the seeds S, S + 1, ... A run is named run:ID, its row in the database, "
                "not a count of runs; its seed is printed only where it alone reproduces it.\n",
        .options = SIM_RUN_OPTIONS | SIM_OPT(SEED_FROM_GIT) | SIM_OPT(SHARD),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = UINT32_MAX,
        .run = run_command);
