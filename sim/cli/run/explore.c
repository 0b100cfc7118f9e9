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

#include "runtime/base/assert.h"
#include "sim/base/clock.h"
#include "sim/base/page.h"
#include "sim/cli/print/run.h"
#include "sim/cli/run/state.h"
#include "sim/cli/subject/assign.h"
#include "sim/engine/token.h"

/* Without --runs and --time. */
#define RUNS_DEFAULT UINT64_C(1000000)
/* Of a scenario that declares nothing, without --bound. */
#define BOUND_DEFAULT 2u

struct explore {
    struct sim_run run; /* First: its sink is what the sweep hands back. */
    struct sim_space space;
};

static unsigned long long
wide(uint64_t number)
{
    return (unsigned long long)number;
}

/* ---- The scenario, and the strategy. --------------------------------------------------------- */

/* Names the scenarios of the library in one line: "a, b and 3 more". */
static int
fail_with_many(const struct sim_registry *registry, uint32_t count)
{
    char names[512] = "";
    size_t used = 0;
    uint32_t named = 0;
    for (uint32_t i = 0; i < registry->count; i++) {
        const char *name = registry->entries[i].scenario->name;
        bool fits = used + strlen(name) + 2 < sizeof(names) / 2;
        if (registry->entries[i].library != NULL && fits) {
            int put = snprintf(
                    names + used, sizeof(names) - used, "%s%s", named > 0 ? ", " : "", name);
            used += (size_t)put;
            named++;
        }
    }
    if (named < count) {
        (void)snprintf(names + used, sizeof(names) - used, " and %u more", count - named);
    }
    return sim_cli_fail(SIM_EXIT_USAGE, "which scenario? The library has %s", names);
}

/* No name was given: a library may have only one. */
static int
find_only_scenario(struct explore *explore)
{
    const struct sim_registry *registry = &explore->run.cli->registry;
    uint32_t count = 0;
    if (explore->run.cli->library == NULL) {
        return sim_cli_fail(SIM_EXIT_USAGE, "which scenario? Give one by its name. Example: rewake "
                                            "explore zoo/tokio-4497/broken "
                                            "(rewake list has all)");
    }
    for (uint32_t i = 0; i < registry->count; i++) {
        if (registry->entries[i].library != NULL) {
            explore->run.entry = &registry->entries[i];
            count++;
        }
    }
    if (count == 0) {
        return sim_cli_fail(SIM_EXIT_NOTHING, "%s has no scenario", explore->run.cli->library);
    }
    if (count > 1) {
        return fail_with_many(registry, count);
    }
    explore->run.plan.spec.scenario = explore->run.entry->scenario;
    return 0;
}

static int
find_scenario(struct explore *explore)
{
    const struct sim_registry *registry = &explore->run.cli->registry;
    if (explore->run.cli->count == 0) {
        return find_only_scenario(explore);
    }
    const char *name = explore->run.cli->arguments[0];
    for (uint32_t i = 0; i < registry->count; i++) {
        if (strcmp(registry->entries[i].scenario->name, name) == 0) {
            explore->run.entry = &registry->entries[i];
            explore->run.plan.spec.scenario = explore->run.entry->scenario;
            return 0;
        }
    }
    return sim_cli_fail(SIM_EXIT_NOTHING,
            "there is no scenario '%s': give one by its full name (rewake list has all)", name);
}

static int
assign_all(struct explore *explore, bool param, const struct sim_assignment *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *wrong = NULL;
        bool known = sim_options_assign(explore->run.plan.spec.scenario,
                &explore->run.plan.spec.options, param, &list[i], &wrong);
        if (!known || wrong != NULL) {
            return sim_cli_fail(SIM_EXIT_USAGE, "%s %s: %s", param ? "-D" : "-O", list[i].name,
                    known ? wrong
                          : "there is none of this name (rewake list has the parameters, rewake "
                            "explore --help the options)");
        }
    }
    return 0;
}

static bool
is_named(const struct sim_search *search, const char *name)
{
    return strcmp(sim_strategy_at(search->kind)->name, name) == 0;
}

/* Under dpor a step takes no time: a deadline would depend on the number of steps before it. And
 * there are no spurious wakes: a task could block and be woken again without an end. */
static int
set_options(struct explore *explore)
{
    const struct sim_settings *settings = &explore->run.cli->settings;
    sim_options_init(&explore->run.plan.spec.options, explore->run.plan.spec.scenario);
    if (is_named(&explore->run.plan.spec.search, "dpor")) {
        explore->run.plan.spec.options.step_ns = 0;
        explore->run.plan.spec.options.spurious_one_in = 0;
    }
    int status = assign_all(explore, true, settings->params, settings->param_count);
    return status != 0 ? status
                       : assign_all(explore, false, settings->options, settings->option_count);
}

/* Sets `--bound`, for a strategy that has one. */
static int
set_bound(struct sim_search *search, uint32_t bound)
{
    char text[64];
    char error[SIM_STRATEGY_ERROR_MAX];
    const char *name = sim_strategy_at(search->kind)->name;
    if (is_named(search, "dpor")) {
        return sim_cli_fail(SIM_EXIT_USAGE, "--bound: dpor has none, since a run within a bound "
                                            "may be equivalent to one outside; "
                                            "leave it out, or use --strategy exhaustive");
    }
    (void)snprintf(text, sizeof(text), "%s:k=%u", name, bound);
    if (!sim_search_parse(text, search, error)) {
        return sim_cli_fail(SIM_EXIT_USAGE, "--bound: %s", error);
    }
    return 0;
}

static int
choose_strategy(struct explore *explore)
{
    struct sim_settings *settings = &explore->run.cli->settings;
    struct sim_search *search = &explore->run.plan.spec.search;
    bool bounded = sim_given(settings, SIM_CLI_OPTION_BOUND);
    bool chosen = sim_given(settings, SIM_CLI_OPTION_STRATEGY);
    if (chosen) {
        *search = settings->search;
    } else {
        bool reduces = explore->run.plan.spec.scenario->declared && !bounded;
        sim_search_init(search, sim_strategy_find(reduces ? "dpor" : "exhaustive"));
    }
    if (!sim_strategy_at(search->kind)->sequential) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--strategy %s draws its runs without an end: explore takes exhaustive, delay or "
                "dpor",
                settings->strategy);
    }
    int status = 0;
    if (bounded) {
        status = set_bound(search, settings->bound);
    } else if (!chosen && is_named(search, "exhaustive")) {
        status = set_bound(search, BOUND_DEFAULT);
    }
    /* Printed and stored. */
    sim_search_text(search, settings->strategy, sizeof(settings->strategy));
    return status;
}

static void
make_plan(struct explore *explore)
{
    const struct sim_settings *settings = &explore->run.cli->settings;
    bool open = settings->time_ms > 0 && !sim_given(settings, SIM_CLI_OPTION_RUNS);
    uint64_t runs = sim_given(settings, SIM_CLI_OPTION_RUNS) ? settings->runs : RUNS_DEFAULT;
    uint64_t most = SIM_SEED_MAX - 1;
    explore->run.plan.spec.seed = 1;
    explore->run.plan.runs = open || runs > most ? most : runs;
    explore->run.plan.spec.how = SIM_HOW_SEARCH;
    explore->run.plan.fail_fast = sim_given(settings, SIM_CLI_OPTION_FAIL_FAST);
    explore->run.plan.keep_all = settings->record == SIM_RECORD_ALL;
    explore->run.plan.deadline_ms =
            settings->time_ms > 0 ? sim_clock_ms() + settings->time_ms : UINT64_MAX;
}

/* ---- Failures. ------------------------------------------------------------------------------- */

static struct explore *
explore_of(struct sim_sink *sink)
{
    return (struct explore *)(void *)sink;
}

static bool
on_batch(struct sim_sink *sink, const struct sim_merged *batch)
{
    return sim_run_store_batch(&explore_of(sink)->run, batch);
}

static void
print_failure_json(const struct explore *explore, const struct sim_new_failure *failure,
        const char *token, int64_t run_id)
{
    SIM_JSON_LINE("failure", SIM_TEXT("scenario", explore->run.plan.spec.scenario->name),
            SIM_NUMBER("run", failure->index),
            SIM_TEXT("verdict", sim_verdict_name(failure->outcome.verdict)),
            SIM_TEXT("oracle", sim_oracle_name(failure->outcome.oracle)),
            SIM_NUMBER("deviations", failure->outcome.deviations),
            SIM_TEXT("message", failure->outcome.message), SIM_TEXT("token", token),
            SIM_IF(run_id != 0, SIM_NUMBER("run_id", (uint64_t)run_id)));
}

static void
print_failure_text(const struct explore *explore, const struct sim_new_failure *failure,
        const char *token, int64_t run_id)
{
    struct sim_page page;
    char *replay = sim_command_text(explore->run.cli, "replay", explore->run.entry, token);
    (void)printf("\nFAIL %s: %s in run %llu, with %u deviation%s\n",
            explore->run.plan.spec.scenario->name, sim_verdict_name(failure->outcome.verdict),
            wide(failure->index + 1), failure->outcome.deviations,
            failure->outcome.deviations == 1 ? "" : "s");
    sim_page_init(&page, sim_terminal_colour());
    sim_page_wrap(&page, failure->outcome.message, 2, 2, sim_columns());
    (void)fputs(sim_page_text(&page), stdout);
    sim_page_fini(&page);
    (void)printf("  replay: %s\n", replay);
    free(replay);
    if (run_id != 0) {
        char subject[32];
        (void)snprintf(subject, sizeof(subject), "run:%lld", (long long)run_id);
        char *explain = sim_command_text(explore->run.cli, "explain", explore->run.entry, subject);
        (void)printf("  stored as %s: %s\n", subject, explain);
        free(explain);
    }
}

static bool
on_failure(struct sim_sink *sink, const struct sim_new_failure *failure)
{
    struct explore *explore = explore_of(sink);
    const struct sim_outcome *alone =
            failure->alone != NULL ? sim_single_outcome(failure->alone) : failure->seen;
    char *token = sim_token_of(failure->again.scenario, &failure->again.options, failure->again.how,
            failure->again.tape, alone);
    int64_t run_id = 0;
    bool stored = sim_run_store_failure(&explore->run, failure, token, &run_id);
    sim_progress_clear(&explore->run.progress);
    /* Reported even when it could not be stored. */
    if (explore->run.json) {
        print_failure_json(explore, failure, token, run_id);
    } else {
        print_failure_text(explore, failure, token, run_id);
    }
    (void)fflush(stdout);
    free(token);
    return stored;
}

static bool
on_replica(struct sim_sink *sink, const struct sim_run_spec *again)
{
    (void)sink;
    (void)again;
    return true;
}

static bool
on_tick(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals)
{
    struct explore *explore = explore_of(sink);
    sim_progress_tick(&explore->run.progress, explore->run.plan.spec.scenario->name, runs,
            UINT64_MAX, totals->runs - totals->verdicts[SIM_VERDICT_PASS], false);
    return ferror(stdout) == 0;
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* dpor left out runs as if steps took no time; but they do, and there are deadlines. */
static bool
counts_on_no_time(const struct explore *explore)
{
    return explore->run.plan.spec.options.step_ns != 0 && explore->space.timed;
}

static bool
is_complete(const struct explore *explore)
{
    return explore->run.result.end == SIM_SWEEP_EXHAUSTED && !explore->space.cut &&
           !explore->space.differs && !counts_on_no_time(explore);
}

static const char *
why_not(const struct explore *explore)
{
    if (explore->space.differs) {
        return "the same decisions led to other choices: a run depends on more than its decisions";
    }
    switch (explore->run.result.end) {
    case SIM_SWEEP_COMPLETE:
        return "the runs are used up (--runs)";
    case SIM_SWEEP_EXHAUSTED:
        if (counts_on_no_time(explore)) {
            return "steps take time (-O step_ns), so a deadline depends on the number of steps "
                   "before it, "
                   "and orders that dpor holds to be equivalent may differ; use -O step_ns=0";
        }
        return "runs beyond its depth, or beyond its memory, were left out";
    case SIM_SWEEP_STOPPED_AT_FAILURE:
        return "stopped at the first failure";
    case SIM_SWEEP_OUT_OF_TIME:
        return "the time is up";
    case SIM_SWEEP_INTERRUPTED:
        return "interrupted";
    case SIM_SWEEP_TOO_MANY_HANGS:
        return "aborted: too many hangs";
    case SIM_SWEEP_ENOUGH:
    case SIM_SWEEP_SINK:
    case SIM_SWEEP_SYSTEM:
        break;
    }
    return "rewake failed";
}

static uint64_t
hundredths_of_percent(const struct explore *explore)
{
    return (uint64_t)explore->space.covered * 10000 >> 32;
}

/* "complete within 2 deviations: 1,234 runs" */
static void
print_end_text(const struct explore *explore)
{
    const struct sim_space *space = &explore->space;
    uint64_t runs = explore->run.result.totals.runs;
    bool failed = explore->run.result.failures > 0;
    (void)printf("\n%s %s: ",
            failed                 ? "FAIL"
            : is_complete(explore) ? "PASS"
                                   : "STOP",
            explore->run.plan.spec.scenario->name);
    if (!is_complete(explore)) {
        (void)printf("not complete");
    } else if (space->bound == UINT32_MAX) {
        (void)printf("complete");
    } else {
        (void)printf("complete within bound %u", space->bound);
    }
    (void)printf(": %llu run%s", wide(runs), runs == 1 ? "" : "s");
    if (space->redundant > 0) {
        (void)printf(", %llu of them redundant", wide(space->redundant));
    }
    (void)printf(", at most %u choices deep\n", space->depth);
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (explore->run.result.totals.verdicts[i] > 0) {
            (void)printf("  %llu %s\n", wide(explore->run.result.totals.verdicts[i]),
                    sim_verdict_name(i));
        }
    }
    if (!is_complete(explore)) {
        (void)printf("  ");
        sim_print_folded(why_not(explore), 2, 2);
        if (space->whole != UINT32_MAX && !space->exhausted) {
            (void)printf("  all runs with at most %u deviation%s were made\n", space->whole,
                    space->whole == 1 ? "" : "s");
        }
        uint64_t covered = hundredths_of_percent(explore);
        if (space->covered != 0 && !space->exhausted) {
            (void)printf(
                    "  about %llu.%02llu %% of all runs, estimated from those that were made\n",
                    wide(covered / 100), wide(covered % 100));
        }
    }
    if (space->why != NULL) {
        (void)printf("  ");
        sim_print_folded(space->why, 2, 2);
    }
}

static void
print_end_json(const struct explore *explore)
{
    const struct sim_space *space = &explore->space;
    struct sim_json json;
    sim_json_begin(&json, stdout, "explored");
    SIM_JSON_PUT(&json, SIM_TEXT("scenario", explore->run.plan.spec.scenario->name),
            SIM_TEXT("strategy", explore->run.cli->settings.strategy),
            SIM_BOOL("complete", is_complete(explore)),
            SIM_TEXT("why_not", is_complete(explore) ? NULL : why_not(explore)),
            SIM_NUMBER("runs", explore->run.result.totals.runs),
            SIM_NUMBER("redundant", space->redundant), SIM_NUMBER("choices_max", space->depth),
            SIM_IF(space->bound != UINT32_MAX, SIM_NUMBER("bound", space->bound)),
            SIM_IF(space->whole != UINT32_MAX, SIM_NUMBER("complete_within", space->whole)),
            SIM_NUMBER("covered_percent_hundredths",
                    is_complete(explore) ? 10000 : hundredths_of_percent(explore)),
            SIM_TEXT("note", space->why));
    sim_json_open(&json, "verdicts", '{');
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (explore->run.result.totals.verdicts[i] > 0) {
            sim_json_number(&json, sim_verdict_name(i), explore->run.result.totals.verdicts[i]);
        }
    }
    sim_json_close(&json, '}');
    sim_json_end(&json);
}

static int
exit_status(const struct explore *explore)
{
    const struct sim_sweep_result *result = &explore->run.result;
    if (explore->run.system != 0) {
        return explore->run.system;
    }
    if (result->end == SIM_SWEEP_SYSTEM) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", explore->run.pool.error);
    }
    if (result->kinds > result->diverged) {
        return SIM_EXIT_BUG;
    }
    if (result->diverged > 0 || explore->space.differs) {
        return SIM_EXIT_DIFFERS;
    }
    return is_complete(explore) ? SIM_EXIT_HELD : SIM_EXIT_SHORT;
}

/* "Exploring kernel/stack/fixed by dpor, one run of each class of equivalent runs, with …" */
static void
print_start(const struct explore *explore)
{
    char line[1024];
    struct sim_page page;
    if (explore->run.json) {
        return;
    }
    char *options =
            sim_options_json(explore->run.plan.spec.scenario, &explore->run.plan.spec.options);
    bool plain = strcmp(options, "{}") == 0;
    (void)snprintf(line, sizeof(line), "Exploring %s by %s: %s%s%s.",
            explore->run.plan.spec.scenario->name, explore->run.cli->settings.strategy,
            sim_strategy_at(explore->run.plan.spec.search.kind)->about, plain ? "" : "; options ",
            plain ? "" : options);
    sim_page_init(&page, sim_terminal_colour());
    sim_page_wrap(&page, line, 0, 0, sim_columns());
    (void)fputs(sim_page_text(&page), stdout);
    (void)fflush(stdout);
    sim_page_fini(&page);
    free(options);
}

/* Makes the runs, and stores them where that is wanted. */
static void
sweep(struct explore *explore)
{
    struct sim_run *run = &explore->run;
    run->options = sim_options_json(run->plan.spec.scenario, &run->plan.spec.options);
    run->sweep_ms = sim_clock_ms();
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
    if (!sim_pool_init(&run->pool, 1, run->cli->settings.hang_ms)) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", run->pool.error);
    }
    if (!sim_run_store_open(run)) {
        return run->system;
    }
    explore->run.plan.interrupted = sim_run_catch_signals();
    print_start(explore);
    sweep(explore);
    const struct sim_shared *shared = run->pool.workers[0].shared;
    kind->space(
            (const struct sim_strategy *)(const void *)shared->strategy_memory, &explore->space);
    if (run->json) {
        print_end_json(explore);
    } else {
        print_end_text(explore);
    }
    return exit_status(explore);
}

static int
explore_command(struct sim_cli *cli)
{
    struct explore explore = {
            .run = {.sink = {.batch = on_batch,
                            .failure = on_failure,
                            .replica = on_replica,
                            .tick = on_tick},
                    .cli = cli,
                    .json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON)},
    };
    int status = find_scenario(&explore);
    if (status == 0) {
        status = choose_strategy(&explore);
    }
    if (status == 0) {
        status = set_options(&explore);
    }
    if (status == 0) {
        make_plan(&explore);
        status = explore_scenario(&explore);
    }
    sim_pool_fini(&explore.run.pool);
    sim_run_store_close(&explore.run);
    sim_run_cover_done(&explore.run);
    return status;
}

SIM_COMMAND(command, .name = "explore", .usage = "[LIB.so] [SCENARIO] [options]",
        .about = "make all runs of a scenario, up to a bound",
        .help = "A scenario that declares all it shares is explored by dpor, one run of each "
                "class of equivalent runs, where steps take no time (step_ns=0) and no task "
                "is woken without a reason (spurious_one_in=0); any other by exhaustive, all "
                "runs with at most 2 deviations (--bound). Without --runs and --time, a "
                "million runs at most. A library with one scenario needs no name. It stores "
                "what `rewake run` stores. Exit status: 1 a bug was found, 0 all runs were "
                "made and none failed, 5 not all were made.\n",
        .options = SIM_CLI_OPTION_BIT(RUNS) | SIM_CLI_OPTION_BIT(TIME) | SIM_CLI_OPTION_BIT(PARAM) |
                   SIM_CLI_OPTION_BIT(OPTION) | SIM_CLI_OPTION_BIT(STRATEGY) |
                   SIM_CLI_OPTION_BIT(BOUND) | SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(RECORD) |
                   SIM_CLI_OPTION_BIT(FAIL_FAST) | SIM_CLI_OPTION_BIT(HANG) |
                   SIM_CLI_OPTION_BIT(JSON) | SIM_CLI_OPTION_BIT(HELP),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = 1, .run = explore_command);
