/*
 * explore.c -- `rewake explore`: all runs of a scenario, up to a bound.
 *
 * Where the scenario declares that the simulator sees all it shares, one run of each class of
 * equivalent runs (`dpor`); elsewhere all with a limited number of deviations from the baseline run
 * (`exhaustive`). One worker, since each run begins where the one before ended. Runs are stored as
 * those of `rewake run` (store.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/heap.h"
#include "sim/base/page.h"
#include "sim/cli/print/run.h"
#include "sim/cli/run/state.h"
#include "sim/cli/subject/subject.h"
#include "sim/engine/token.h"

/* Without --runs and --time. */
#define RUNS_DEFAULT UINT64_C(1000000)
/* Of a scenario that declares nothing, without --bound. */
#define BOUND_DEFAULT 2u

struct explore {
    struct sim_run run; /* First: its sink is what the sweep hands back. */
    struct sim_space space;
};

/* ---- The scenario, and the strategy. --------------------------------------------------------- */

static int
refuse_several(const struct sim_selection *selected)
{
    struct sim_page names;
    sim_page_init(&names, false);
    for (uint32_t i = 0; i < selected->count; i++) {
        sim_page_printf(&names, "%s%s", i > 0 ? ", " : "", selected->entries[i]->scenario->name);
    }
    int status =
            sim_cli_fail(SIM_EXIT_USAGE, "which scenario? There are %s", sim_page_text(&names));
    sim_page_fini(&names);
    return status;
}

static int
find_scenario(struct sim_run *run)
{
    if (run->cli->library == NULL && run->cli->count == 0) {
        return sim_cli_fail(SIM_EXIT_USAGE, "which scenario? Give one by its name. Example: rewake "
                                            "explore zoo/tokio-4497/broken "
                                            "(rewake list has all)");
    }
    int status = sim_select(run->cli, NULL, &run->selected);
    if (status != 0 || run->selected.count > 1) {
        return status != 0 ? status : refuse_several(&run->selected);
    }
    run->entry = run->selected.entries[0];
    run->plan.spec.scenario = run->entry->scenario;
    return 0;
}

static bool
is_named(const struct sim_search *search, const char *name)
{
    return strcmp(sim_strategy_at(search->kind)->name, name) == 0;
}

/* Sets `--bound`, for a strategy that has one. */
static int
set_bound(struct sim_search *search, uint32_t bound)
{
    char text[64];
    char error[SIM_STRATEGY_ERROR_MAX];
    if (is_named(search, "dpor")) {
        return sim_cli_fail(SIM_EXIT_USAGE, "--bound: dpor has none, since a run within a bound "
                                            "may be equivalent to one outside; "
                                            "leave it out, or use --strategy exhaustive");
    }
    (void)snprintf(text, sizeof(text), "%s:k=%u", sim_strategy_at(search->kind)->name, bound);
    return sim_search_parse(text, search, error)
                   ? 0
                   : sim_cli_fail(SIM_EXIT_USAGE, "--bound: %s", error);
}

static int
choose_strategy(struct sim_run *run)
{
    struct sim_settings *settings = &run->cli->settings;
    struct sim_search *search = &run->plan.spec.search;
    bool bounded = sim_given(settings, SIM_CLI_OPTION_BOUND);
    bool chosen = sim_given(settings, SIM_CLI_OPTION_STRATEGY);
    if (chosen) {
        *search = settings->search;
    } else {
        bool reduces = run->entry->scenario->declared && !bounded;
        sim_search_init(search, sim_strategy_find(reduces ? "dpor" : "exhaustive"));
    }
    if (!sim_strategy_at(search->kind)->sequential) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--strategy %s draws its runs without an end: explore takes exhaustive, delay or "
                "dpor",
                settings->strategy);
    }
    int status = 0;
    if (bounded || (!chosen && is_named(search, "exhaustive"))) {
        status = set_bound(search, bounded ? settings->bound : BOUND_DEFAULT);
    }
    /* Printed and stored. */
    sim_search_text(search, settings->strategy, sizeof(settings->strategy));
    return status;
}

/* Under dpor a step takes no time: a deadline would depend on the number of steps before it. And
 * there are no spurious wakes: a task could block and be woken again without an end. */
static int
set_options(struct sim_run *run)
{
    struct sim_options *options = &run->plan.spec.options;
    sim_options_init(options, run->entry->scenario);
    if (is_named(&run->plan.spec.search, "dpor")) {
        options->step_ns = 0;
        options->spurious_one_in = 0;
    }
    int status = sim_run_check_assignments(run);
    sim_run_assign(run, options);
    return status;
}

static void
make_plan(struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    bool open = settings->time_ms > 0 && !sim_given(settings, SIM_CLI_OPTION_RUNS);
    uint64_t runs = sim_given(settings, SIM_CLI_OPTION_RUNS) ? settings->runs : RUNS_DEFAULT;
    uint64_t most = SIM_SEED_MAX - 1;
    run->plan.spec.seed = 1;
    run->plan.runs = open || runs > most ? most : runs;
    run->plan.spec.how = SIM_HOW_SEARCH;
    run->plan.fail_fast = sim_given(settings, SIM_CLI_OPTION_FAIL_FAST);
    run->plan.keep_all = settings->record == SIM_RECORD_ALL;
    run->plan.deadline_ms = settings->time_ms > 0 ? sim_clock_ms() + settings->time_ms : UINT64_MAX;
}

/* ---- Failures. ------------------------------------------------------------------------------- */

static bool
on_batch(struct sim_sink *sink, const struct sim_merged *batch)
{
    return sim_run_store_batch(sim_run_of(sink), batch);
}

static void
print_failure_json(const struct sim_run *run, const struct sim_new_failure *failure,
        const char *token, int64_t run_id)
{
    const struct sim_outcome *outcome = &failure->outcome;
    SIM_JSON_LINE("failure", SIM_TEXT("scenario", run->entry->scenario->name),
            SIM_NUMBER("run", failure->index),
            SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
            SIM_TEXT("oracle", sim_oracle_name(outcome->oracle)),
            SIM_NUMBER("deviations", outcome->deviations), SIM_TEXT("message", outcome->message),
            SIM_TEXT("token", token), SIM_IF(run_id != 0, SIM_INTEGER("run_id", run_id)));
}

static void
print_failure_text(const struct sim_run *run, const struct sim_new_failure *failure,
        const char *token, int64_t run_id)
{
    const struct sim_outcome *outcome = &failure->outcome;
    (void)printf("\nFAIL %s: %s in run %llu, with %u deviation%s\n", run->entry->scenario->name,
            sim_verdict_name(outcome->verdict), (unsigned long long)failure->index + 1,
            outcome->deviations, outcome->deviations == 1 ? "" : "s");
    sim_run_print_paragraph(outcome->message, 2);
    sim_print_command(run->cli, "  replay: ", "replay", run->entry, token);
    if (run_id != 0) {
        char subject[32];
        (void)snprintf(subject, sizeof(subject), "run:%lld", (long long)run_id);
        (void)printf("  stored as %s", subject);
        sim_print_command(run->cli, ": ", "explain", run->entry, subject);
    }
}

static bool
on_failure(struct sim_sink *sink, const struct sim_new_failure *failure)
{
    struct sim_run *run = sim_run_of(sink);
    const struct sim_outcome *alone =
            failure->alone != NULL ? sim_single_outcome(failure->alone) : failure->seen;
    char *token = sim_token_of(failure->again.scenario, &failure->again.options, failure->again.how,
            failure->again.tape, alone);
    int64_t run_id = 0;
    bool stored = sim_run_store_failure(run, failure, token, &run_id);
    sim_progress_clear(&run->progress);
    /* Reported even when it could not be stored. */
    if (run->json) {
        print_failure_json(run, failure, token, run_id);
    } else {
        print_failure_text(run, failure, token, run_id);
    }
    (void)fflush(stdout);
    free(token);
    return stored;
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* Why not all runs were made; NULL: they were. */
static const char *
why_not(const struct explore *explore)
{
    const struct sim_run *run = &explore->run;
    const struct sim_space *space = &explore->space;
    if (space->differs) {
        return "the same decisions led to other choices: a run depends on more than its decisions";
    }
    if (run->result.end != SIM_SWEEP_EXHAUSTED) {
        return sim_run_end(run->result.end)->why_not;
    }
    /* dpor left out runs as if steps took no time; but they do, and there are deadlines. */
    if (run->plan.spec.options.step_ns != 0 && space->timed) {
        return "steps take time (-O step_ns), so a deadline depends on the number of steps before "
               "it, and orders that dpor holds to be equivalent may differ; use -O step_ns=0";
    }
    return space->cut ? "runs beyond its depth, or beyond its memory, were left out" : NULL;
}

static uint64_t
hundredths_of_percent(const struct sim_space *space)
{
    return (uint64_t)space->covered * 10000 >> 32;
}

static void
print_incomplete(const struct sim_space *space, const char *reason)
{
    uint64_t covered = hundredths_of_percent(space);
    (void)printf("  ");
    sim_print_folded(reason, 2, 2);
    if (space->whole != UINT32_MAX && !space->exhausted) {
        (void)printf("  all runs with at most %u deviation%s were made\n", space->whole,
                space->whole == 1 ? "" : "s");
    }
    if (space->covered != 0 && !space->exhausted) {
        (void)printf("  about %llu.%02llu %% of all runs, estimated from those that were made\n",
                (unsigned long long)covered / 100, (unsigned long long)covered % 100);
    }
}

/* "complete within 2 deviations: 1,234 runs" */
static void
print_end_text(const struct explore *explore, const char *reason)
{
    const struct sim_space *space = &explore->space;
    const struct sim_sweep_result *result = &explore->run.result;
    uint64_t runs = result->totals.runs;
    (void)printf("\n%s %s: %s",
            result->failures > 0 ? "FAIL"
            : reason == NULL     ? "PASS"
                                 : "STOP",
            explore->run.entry->scenario->name, reason != NULL ? "not complete" : "complete");
    if (reason == NULL && space->bound != UINT32_MAX) {
        (void)printf(" within bound %u", space->bound);
    }
    (void)printf(": %llu run%s", (unsigned long long)runs, runs == 1 ? "" : "s");
    if (space->redundant > 0) {
        (void)printf(", %llu of them redundant", (unsigned long long)space->redundant);
    }
    (void)printf(", at most %u choices deep\n", space->depth);
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (result->totals.verdicts[i] > 0) {
            (void)printf("  %llu %s\n", (unsigned long long)result->totals.verdicts[i],
                    sim_verdict_name(i));
        }
    }
    if (reason != NULL) {
        print_incomplete(space, reason);
    }
    if (space->why != NULL) {
        (void)printf("  ");
        sim_print_folded(space->why, 2, 2);
    }
}

static void
print_end_json(const struct explore *explore, const char *reason)
{
    const struct sim_space *space = &explore->space;
    const struct sim_sweep_totals *totals = &explore->run.result.totals;
    struct sim_json json;
    sim_json_begin(&json, stdout, "explored");
    SIM_JSON_PUT(&json, SIM_TEXT("scenario", explore->run.entry->scenario->name),
            SIM_TEXT("strategy", explore->run.cli->settings.strategy),
            SIM_BOOL("complete", reason == NULL), SIM_TEXT("why_not", reason),
            SIM_NUMBER("runs", totals->runs), SIM_NUMBER("redundant", space->redundant),
            SIM_NUMBER("choices_max", space->depth),
            SIM_IF(space->bound != UINT32_MAX, SIM_NUMBER("bound", space->bound)),
            SIM_IF(space->whole != UINT32_MAX, SIM_NUMBER("complete_within", space->whole)),
            SIM_NUMBER("covered_percent_hundredths",
                    reason == NULL ? 10000 : hundredths_of_percent(space)),
            SIM_TEXT("note", space->why));
    sim_run_json_verdicts(&json, totals);
    sim_json_end(&json);
}

static int
exit_status(const struct explore *explore, const char *reason)
{
    const struct sim_sweep_result *result = &explore->run.result;
    if (explore->run.system != 0) {
        return explore->run.system;
    }
    if (result->end == SIM_SWEEP_SYSTEM) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", explore->run.pool.error);
    }
    if (result->kinds > result->diverged + result->refused) {
        return SIM_EXIT_BUG;
    }
    if (result->diverged > 0 || explore->space.differs) {
        return SIM_EXIT_DIFFERS;
    }
    if (result->refused > 0) {
        return SIM_EXIT_CAN_NOT_JUDGE;
    }
    return reason == NULL ? SIM_EXIT_HELD : SIM_EXIT_SHORT;
}

/* "Exploring kernel/stack/fixed by dpor, one run of each class of equivalent runs, with …" */
static void
print_start(const struct sim_run *run)
{
    bool plain = strcmp(run->options, "{}") == 0;
    char *line = sim_heap_printf("Exploring %s by %s: %s%s%s.", run->entry->scenario->name,
            run->cli->settings.strategy, sim_strategy_at(run->plan.spec.search.kind)->about,
            plain ? "" : "; options ", plain ? "" : run->options);
    if (!run->json) {
        sim_run_print_paragraph(line, 0);
        (void)fflush(stdout);
    }
    free(line);
}

/* Makes the runs, and stores them where that is wanted. */
static void
sweep(struct sim_run *run)
{
    run->options = sim_options_json(run->plan.spec.scenario, &run->plan.spec.options);
    run->sweep_ms = sim_clock_ms();
    print_start(run);
    sim_progress_init(&run->progress);
    sim_run_cover_begin(run);
    if (sim_run_store_begin(run)) {
        sim_sweep_run(&run->pool, &run->plan, &run->sink, &run->result);
        (void)sim_run_store_end(run);
    }
    sim_progress_clear(&run->progress);
    free(run->options);
}

static int
explore_scenario(struct explore *explore)
{
    struct sim_run *run = &explore->run;
    const struct sim_strategy_kind *kind = sim_strategy_at(run->plan.spec.search.kind);
    sim_pool_init(&run->pool, 1, run->cli->settings.hang_ms);
    if (!sim_run_store_open(run)) {
        return run->system;
    }
    run->plan.interrupted = sim_run_catch_signals();
    sweep(run);
    const struct sim_shared *shared = run->pool.workers[0].shared;
    kind->space((const struct sim_strategy *)(const void *)shared->parts.strategy_memory,
            &explore->space);
    const char *reason = why_not(explore);
    if (run->json) {
        print_end_json(explore, reason);
    } else {
        print_end_text(explore, reason);
    }
    return exit_status(explore, reason);
}

static int
explore_command(struct sim_cli *cli)
{
    struct explore explore = {
            .run = {.sink = {.batch = on_batch, .failure = on_failure, .tick = sim_run_tick},
                    .cli = cli,
                    .json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON),
                    .is_open = true},
    };
    struct sim_run *run = &explore.run;
    int status = find_scenario(run);
    status = status == 0 ? choose_strategy(run) : status;
    status = status == 0 ? set_options(run) : status;
    if (status == 0) {
        make_plan(run);
        status = explore_scenario(&explore);
    }
    sim_pool_fini(&run->pool);
    sim_run_store_close(run);
    sim_run_cover_done(run);
    sim_select_done(&run->selected);
    return status;
}

SIM_COMMAND(command, .name = "explore", .purpose = SIM_PURPOSE_FIND,
        .usage = "[LIB.so] [SCENARIO] [options]",
        .about = "make all runs of a scenario, up to a bound",
        .help = "A scenario that declares all it shares is explored by dpor, one run of each "
                "class of equivalent runs, where steps take no time (step_ns=0) and no task "
                "is woken without a reason (spurious_one_in=0); any other by exhaustive, all "
                "runs with at most 2 deviations (--bound). Without --runs and --time, a "
                "million runs at most. A library with one scenario needs no name. It stores "
                "what `rewake run` stores. Exit status: 1 a bug was found, 0 all runs were "
                "made and none failed, 5 not all were made.\n",
        .options = SIM_OPT(RUNS) | SIM_OPT(TIME) | SIM_OPT(PARAM) | SIM_OPT(OPTION) |
                   SIM_OPT(STRATEGY) | SIM_OPT(BOUND) | SIM_OPT(DB) | SIM_OPT(RECORD) |
                   SIM_OPT(FAIL_FAST) | SIM_OPT(HANG) | SIM_OPT(JSON),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = 1, .run = explore_command);
