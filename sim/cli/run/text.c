/*
 * text.c -- what `rewake run` prints for people; json.c prints for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/build.h"
#include "sim/base/clock.h"
#include "sim/cli/print/run.h"
#include "sim/cli/run/state.h"
#include "sim/cli/shrunk.h"
#include "sim/cli/subject/subject.h"
#include "sim/explain/report.h"
#include "sim/explain/view/diff.h"
#include "sim/search/swarm.h"

static unsigned long long
wide(uint64_t number)
{
    return (unsigned long long)number;
}

/* ---- The start. ------------------------------------------------------------------------------ */

/* Options that were set for this command, as on the command line. */
static void
put_assignments(
        struct sim_page *page, const char *flag, const struct sim_assignment *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_page_printf(
                page, ", %s %.*s=%s", flag, (int)list[i].name_length, list[i].name, list[i].value);
    }
}

static void
put_start(const struct sim_run *run, struct sim_page *page)
{
    const struct sim_settings *settings = &run->cli->settings;
    sim_page_printf(page, "rewake %s: %u scenario%s", SIM_VERSION, run->selected.count,
            run->selected.count == 1 ? "" : "s");
    if (sim_given(settings, SIM_CLI_OPTION_SEEDS)) {
        sim_page_printf(page, ", seeds %llu-%llu", wide(settings->seed), wide(settings->seed_last));
    } else {
        if (run->plan.runs != UINT64_MAX) {
            sim_page_printf(page, ", %llu run%s%s", wide(run->plan.runs),
                    run->plan.runs == 1 ? "" : "s", run->selected.count == 1 ? "" : " each");
        }
        sim_page_printf(page, " from seed %llu", wide(settings->seed));
        if (run->git[0] != '\0') {
            sim_page_printf(page, " (commit %.12s)", run->git);
        }
    }
    if (settings->time_ms > 0) {
        sim_page_printf(page, ", at most %llu.%03llu s", wide(settings->time_ms / 1000),
                wide(settings->time_ms % 1000));
    }
    if (sim_run_is_part(run)) {
        sim_page_printf(page, ", part %u of %u (units of %llu runs)", run->plan.shard + 1,
                run->plan.shards, wide(run->plan.unit_runs));
    }
    sim_page_printf(page, ", strategy %s", settings->strategy);
    put_assignments(page, "-D", settings->params, settings->param_count);
    put_assignments(page, "-O", settings->options, settings->option_count);
    sim_page_printf(page, ", %u worker%s, %s", run->pool.count, run->pool.count == 1 ? "" : "s",
            run->store != NULL ? sim_cli_db(run->cli) : "nothing recorded");
}

static void
print_start(const struct sim_run *run)
{
    struct sim_page page;
    sim_page_init(&page, false);
    put_start(run, &page);
    sim_print_folded(sim_page_text(&page), 0, 2);
    sim_page_fini(&page);
}

void
sim_run_print_start(struct sim_run *run)
{
    if (run->json) {
        sim_run_json_start(run);
    } else if (!sim_run_is_quiet(run)) {
        print_start(run);
        (void)fflush(stdout);
    }
}

/* FAIL, PASS or STOP, in its colour. */
static void
put_word(const char *word)
{
    struct sim_page page;
    sim_page_init(&page, sim_terminal_colour());
    sim_page_tone(&page, strcmp(word, "PASS") == 0 ? SIM_TONE_GOOD : SIM_TONE_BAD);
    sim_page_put(&page, word);
    sim_page_tone(&page, SIM_TONE_PLAIN);
    (void)fputs(sim_page_text(&page), stdout);
    sim_page_fini(&page);
}

/* ---- A failure. ------------------------------------------------------------------------------ */

/* One replay of one run: where it fails, FIFO order is enough; where not, that proves little. */
static const char *
order_words(const struct sim_single *alone)
{
    switch (sim_single_fifo(alone)) {
    case SIM_FIFO_YES:
        return "Happens with a plain FIFO run queue.\n";
    case SIM_FIFO_NO:
        return "Does not happen with a plain FIFO run queue.\n";
    case SIM_FIFO_NOT_ASKED:
        break;
    }
    return "";
}

void
sim_run_print_paragraph(const char *text, uint32_t indent)
{
    struct sim_page page;
    sim_page_init(&page, sim_terminal_colour());
    sim_page_wrap(&page, text, indent, indent, sim_columns());
    (void)fputs(sim_page_text(&page), stdout);
    sim_page_fini(&page);
}

static void
print_diverged(const struct sim_run *run, const struct sim_new_failure *failure)
{
    char *again = sim_command_text(run->cli, "run", run->entry, run->entry->scenario->name);
    sim_run_print_paragraph(failure->outcome.message, 0);
    sim_run_print_paragraph(
            failure->seen->reason == SIM_REASON_KILLED
                    ? "Most likely the scenario is not the cause: a process outside of rewake "
                      "(or the kernel, short of memory) killed it by SIGKILL. To run the same "
                      "range again:"
                    : "The run depends on something that is not in its seed: memory that a "
                      "run before it left, an address, the clock or files of this machine. To "
                      "run the same range again:",
            0);
    (void)printf("  %s --seeds %llu-%llu --jobs 1\n", again, wide(run->plan.spec.seed),
            wide(failure->seen->seed));
    free(again);
}

/* "Its seed drew these options: late_one_in=2, faults off: net." */
static void
print_drawn(const struct sim_run *run, const struct sim_new_failure *failure)
{
    struct sim_page line;
    sim_page_init(&line, false);
    sim_page_put(&line, "Its seed drew these options: ");
    size_t before = line.length;
    sim_swarm_text(
            &line, run->plan.spec.scenario, &run->plan.spec.options, &failure->again.options);
    if (line.length > before) {
        sim_page_put(&line, ".");
        sim_run_print_paragraph(sim_page_text(&line), 0);
    }
    sim_page_fini(&line);
}

/* How far it was minimized, what it needs, and how to make it again. */
static void
print_facts(const struct sim_run *run, const struct sim_report *report,
        const struct sim_single *alone, const struct sim_outcome *outcome)
{
    bool smaller = report->shrunk_token != NULL;
    if (report->shrunk_before) {
        uint32_t count = report->shrunk->to.deviations;
        (void)printf(
                "Minimized when it was found: %u scheduling choice%s from the default schedule.\n",
                count, count == 1 ? " differs" : "s differ");
    } else if (report->shrunk != NULL) {
        char *sentence = sim_shrunk_sentence(report->shrunk);
        sim_run_print_paragraph(sentence, 0);
        free(sentence);
    }
    (void)fputs(order_words(alone), stdout);
    print_drawn(run, report->failure);
    sim_print_replay(
            run->cli, run->entry, outcome, smaller ? report->shrunk_token : report->token, true);
    if (smaller && report->run_id == 0) {
        sim_print_command(run->cli, "found:  ", "replay", run->entry, report->token);
    }
}

/* The smallest run, or the one that was found where there is no smaller one. */
static void
print_report(struct sim_run *run, const struct sim_report *report)
{
    bool smaller = report->shrunk_token != NULL;
    const struct sim_single *alone = smaller ? &report->shrunk->alone : report->failure->alone;
    const struct sim_outcome *outcome =
            smaller ? sim_single_outcome(alone) : &report->failure->outcome;
    if (report->explanation != NULL) {
        struct sim_page page;
        sim_page_init(&page, sim_terminal_colour());
        page.width = sim_columns();
        sim_report_put(&page, report->explanation, SIM_REPORT_COLUMNS);
        (void)printf("%s\n", sim_page_text(&page));
        sim_page_fini(&page);
    } else {
        sim_print_run(alone, outcome);
    }
    print_facts(run, report, alone, outcome);
}

bool
sim_run_is_stated(const struct sim_run *run, const struct sim_outcome *outcome)
{
    return run->expect && sim_scenario_states(run->entry->scenario, outcome->verdict);
}

/* For the line of the scenario, and for the list at the end. */
static void
note_failure(struct sim_run *run, const struct sim_report *report)
{
    const struct sim_outcome *outcome = &report->failure->outcome;
    char name[SIM_RUN_NAME_MAX];
    if (!sim_run_is_stated(run, outcome)) {
        sim_run_name(run, outcome->seed, report->run_id, name, sizeof(name));
        sim_run_list(run, run->entry->scenario->name, sim_verdict_name(outcome->verdict), name);
    }
}

/* "FAIL lost: lost-wakeup (run:4)"; what follows tells why, but with --quiet. */
static void
print_fail(const struct sim_run *run, enum sim_verdict verdict, const char *name)
{
    const char *apart = sim_run_is_quiet(run) ? "" : "\n";
    (void)fputs(apart, stdout);
    put_word("FAIL");
    (void)printf(
            " %s: %s%s\n%s", run->entry->scenario->name, sim_verdict_name(verdict), name, apart);
}

void
sim_run_print_verdict(struct sim_run *run, const struct sim_report *report)
{
    const struct sim_outcome *outcome = &report->failure->outcome;
    sim_progress_clear(&run->progress);
    note_failure(run, report);
    if (!run->json && !sim_run_is_stated(run, outcome)) {
        char name[SIM_RUN_NAME_MAX];
        sim_run_name(run, outcome->seed, report->run_id, name, sizeof(name));
        print_fail(run, outcome->verdict, name);
        (void)fflush(stdout);
    }
}

/* With --quiet: where the run has no row to be named by. */
static void
print_token_alone(const struct sim_run *run, const struct sim_report *report)
{
    if (report->run_id == 0 && !sim_run_is_stated(run, &report->failure->outcome)) {
        sim_print_command(run->cli, "replay: ", "replay", run->entry,
                report->shrunk_token != NULL ? report->shrunk_token : report->token);
    }
}

void
sim_run_print_failure(struct sim_run *run, const struct sim_report *report)
{
    if (run->json) {
        sim_run_json_failure(run, report);
    } else if (sim_run_is_quiet(run)) {
        print_token_alone(run, report);
    } else if (!sim_run_is_stated(run, &report->failure->outcome)) {
        if (report->failure->same) {
            print_report(run, report);
        } else {
            print_diverged(run, report->failure);
        }
        (void)putchar('\n');
        (void)fflush(stdout);
    }
}

/* ---- Remembered failures. -------------------------------------------------------------------- */

void
sim_run_print_remembered(struct sim_run *run, const struct sim_remembered *failure,
        const char *result, const char *detail)
{
    if (run->json) {
        sim_run_json_remembered(failure, result, detail);
    } else if (!sim_run_is_quiet(run)) {
        (void)printf("remembered: %s: %s %s\n", failure->scenario,
                sim_verdict_name(failure->verdict), detail);
    }
}

/* ---- A replica run that differs. ------------------------------------------------------------- */

static void
print_replica(struct sim_run *run, const char *name, const struct sim_single *usual,
        const struct sim_single *replica)
{
    struct sim_page page;
    struct sim_difference difference;
    sim_diff_find(sim_single_recorder(usual), sim_single_recorder(replica), &difference);
    print_fail(run, SIM_VERDICT_DIVERGED, name);
    if (sim_run_is_quiet(run)) {
        return;
    }
    sim_run_print_paragraph(
            "A replica run differs: the same seed in another process, with memory at other "
            "addresses and filled with another byte.",
            0);
    if (difference.kind == SIM_DIFF_SAME) {
        sim_run_print_paragraph(
                "Alone, each in a new process, both are the same: the run depends on what ran "
                "before it in the same process.",
                0);
        (void)putchar('\n');
        return;
    }
    sim_page_init(&page, sim_terminal_colour());
    page.width = sim_columns();
    sim_diff_put(
            &page, sim_single_recorder(usual), "here", sim_single_recorder(replica), "replica");
    (void)fputs(sim_page_text(&page), stdout);
    (void)putchar('\n');
    sim_page_fini(&page);
}

static bool
run_alone(struct sim_run *run, const struct sim_run_spec *again, bool as_replica,
        struct sim_single *alone)
{
    struct sim_run_spec what = *again;
    what.kind = as_replica ? &sim_worker_replica : &sim_worker_usual;
    what.hang_ms = run->cli->settings.hang_ms;
    what.with_past = as_replica;
    if (sim_single_alone(alone, &what)) {
        return true;
    }
    run->system = sim_cli_fail(
            SIM_EXIT_SYSTEM, "the replica run could not be made: %s", alone->worker.error);
    return false;
}

/* The run as it is in this process goes into the database. */
static bool
store_replica(struct sim_run *run, const struct sim_run_spec *again, struct sim_single *usual,
        const char *token, int64_t *ret_run_id)
{
    struct sim_new_failure failure = {
            .index = again->seed - run->plan.spec.seed,
            .again = *again,
            .outcome = *sim_single_outcome(usual),
            .alone = usual,
    };
    failure.outcome.verdict = SIM_VERDICT_DIVERGED;
    failure.outcome.oracle = SIM_ORACLE_REPLICA;
    (void)snprintf(failure.outcome.message, sizeof(failure.outcome.message),
            "a replica run in another process, with memory elsewhere, differs");
    return sim_run_store_failure(run, &failure, token, ret_run_id);
}

bool
sim_run_print_replica(struct sim_run *run, const struct sim_run_spec *again)
{
    struct sim_single usual = {.runs = 0};
    struct sim_single replica = {.runs = 0};
    sim_progress_clear(&run->progress);
    bool ran = run_alone(run, again, false, &usual) && run_alone(run, again, true, &replica);
    bool stored = false;
    if (ran) {
        char *token = sim_token_of(again->scenario, &again->options, again->how, again->tape,
                sim_single_outcome(&usual));
        int64_t run_id = 0;
        char name[SIM_RUN_NAME_MAX];
        stored = store_replica(run, again, &usual, token, &run_id);
        sim_run_name(run, again->seed, run_id, name, sizeof(name));
        sim_run_list(run, run->entry->scenario->name, sim_verdict_name(SIM_VERDICT_DIVERGED), name);
        if (run->json) {
            sim_run_json_replica(run, again->seed, &usual, &replica, token);
        } else {
            print_replica(run, name, &usual, &replica);
        }
        free(token);
    }
    sim_single_fini(&usual);
    sim_single_fini(&replica);
    return ran && stored;
}

/* ---- A scenario, and the end. ---------------------------------------------------------------- */

bool
sim_run_as_stated(const struct sim_run *run)
{
    uint64_t verdicts[SIM_VERDICTS];
    const struct sim_scenario *scenario = run->entry->scenario;
    enum sim_verdict expect = scenario->expect;
    uint64_t others = 0;
    memcpy(verdicts, run->result.totals.verdicts, sizeof(verdicts));
    for (uint32_t i = 0; i < run->again_count; i++) {
        verdicts[run->again[i].verdict] += run->again[i].entry == run->entry;
    }
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        bool fits = i == SIM_VERDICT_PASS || sim_scenario_states(scenario, (enum sim_verdict)i);
        others += fits ? 0 : verdicts[i];
    }
    /* Only a whole sweep must have a failure: another part may have it. */
    return others == 0 && run->result.diverged == 0 && run->result.unequal == 0 &&
           (expect == SIM_VERDICT_PASS || verdicts[expect] > 0 || sim_run_is_part(run));
}

/* The first column of the table of scenarios; a longer name has a separate line. */
#define NAME_COLUMNS 35u

/* Adds a piece to the line, or to a new one below the counts where it does not fit. */
__attribute__((format(printf, 2, 3))) static void
put_piece(size_t *column, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    rt_assert(length >= 0 && (size_t)length < sizeof(text));
    if (*column + 2 + (size_t)length > sim_columns()) {
        *column = NAME_COLUMNS;
        (void)printf("\n%*s", (int)*column, "");
    }
    (void)printf("  %s", text);
    *column += 2 + (size_t)length;
}

/* Which run failed first: a count, and not its row in the database, which looks like one. */
static void
put_first(const struct sim_run *run, size_t *column)
{
    uint64_t index = run->result.first_failure;
    if (run->first.result.failures > 0) {
        put_piece(column, "first in the default schedule");
    } else if (index != UINT64_MAX && sim_run_seed_is_enough(run)) {
        put_piece(column, "first at seed %llu", wide(run->plan.spec.seed + index));
    } else if (index != UINT64_MAX) {
        put_piece(column, "first after %llu run%s", wide(index), index == 1 ? "" : "s");
    }
}

/* Whether the sweep in progress has failed, or ended before it could. */
static const char *
status_word(const struct sim_run *run)
{
    const struct sim_sweep_result *result = &run->result;
    bool failed = run->expect ? !sim_run_as_stated(run)
                              : result->failures > 0 || sim_run_again_count(run) > 0;
    if (failed || result->diverged > 0 || result->unequal > 0 || sim_run_misses_goals(run) ||
            sim_run_wastes(run)) {
        return "FAIL";
    }
    return sim_run_is_short(run) || result->end == SIM_SWEEP_SYSTEM ? "STOP" : "PASS";
}

static void
print_scenario(const struct sim_run *run, const char *word)
{
    const struct sim_sweep_result *result = &run->result;
    const struct sim_scenario *scenario = run->entry->scenario;
    put_word(word);
    int used = (int)strlen(word) + printf(" %s", scenario->name);
    if (used > (int)NAME_COLUMNS) {
        (void)putchar('\n');
        used = 0;
    }
    (void)printf("%*s", (int)NAME_COLUMNS - used, "");
    size_t column = NAME_COLUMNS + (size_t)printf(" %8llu run%s", wide(result->totals.runs),
                                           result->totals.runs == 1 ? " " : "s");
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (result->totals.verdicts[i] > 0) {
            put_piece(&column, "%llu %s", wide(result->totals.verdicts[i]), sim_verdict_name(i));
        }
    }
    if (result->totals.idle > 0) {
        put_piece(&column, "%llu of these idle", wide(result->totals.idle));
    }
    put_first(run, &column);
    if (sim_run_again_count(run) > 0) {
        put_piece(&column, "remembered: %u failed again", sim_run_again_count(run));
    }
    if (result->checked > 0) {
        put_piece(&column, "replica runs: %llu of %llu differ", wide(result->unequal),
                wide(result->checked));
    }
    if (run->expect && sim_run_as_stated(run)) {
        put_piece(&column, "as expected");
    } else if (run->expect) {
        put_piece(&column, "NOT AS EXPECTED: %s", sim_verdict_name(scenario->expect));
    }
    if (sim_run_end(result->end)->text[0] != '\0') {
        put_piece(&column, "%s", sim_run_end(result->end)->text);
    }
    (void)putchar('\n');
}

void
sim_run_print_scenario(struct sim_run *run)
{
    sim_progress_clear(&run->progress);
    const char *word = status_word(run);
    if (run->json) {
        sim_run_json_scenario(run);
    } else if (!sim_run_is_quiet(run) || strcmp(word, "PASS") != 0) {
        print_scenario(run, word);
        sim_run_print_cover(run);
        (void)fflush(stdout);
    }
}

/* ", 3 refused", or nothing. */
static const char *
refused_text(uint64_t count, char ret[32])
{
    ret[0] = '\0';
    if (count > 0) {
        (void)snprintf(ret, 32, ", %llu refused", wide(count));
    }
    return ret;
}

/* One line: what to do now. */
static void
print_next(const struct sim_run *run, int status)
{
    const struct sim_settings *settings = &run->cli->settings;
    if (run->named_count > 0 && run->store != NULL) {
        (void)printf("next: rewake report%s%s (pages for a browser)\n",
                settings->db != NULL ? " --db " : "", settings->db != NULL ? settings->db : "");
    } else if (status == SIM_EXIT_HELD) {
        sim_run_print_next_search(run);
    }
}

/* Run 0 of all scenarios, and all runs. */
static void
print_counts(const struct sim_run *run, uint64_t ms)
{
    char refused[32];
    if (run->defaults > 0) {
        (void)printf("default schedule: %llu run%s, %llu passed, %llu failed%s\n",
                wide(run->defaults), run->defaults == 1 ? "" : "s",
                wide(run->defaults - run->defaults_failed - run->defaults_refused),
                wide(run->defaults_failed), refused_text(run->defaults_refused, refused));
    }
    char again[48] = "";
    if (run->again_count > 0) {
        (void)snprintf(again, sizeof(again), ", %u of them remembered", run->again_count);
    }
    (void)printf("%llu run%s%s: %llu passed, %llu failed%s; %llu.%03llu s\n", wide(run->runs),
            run->runs == 1 ? "" : "s", again, wide(run->passed), wide(sim_run_failed(run)),
            refused_text(run->refused_runs, refused), wide(ms / 1000), wide(ms % 1000));
}

void
sim_run_print_end(struct sim_run *run, int status)
{
    uint64_t ms = sim_clock_ms() - run->start_ms;
    sim_progress_clear(&run->progress);
    if (run->json) {
        sim_run_json_summary(run, status, ms);
        return;
    }
    if (!sim_run_is_quiet(run)) {
        print_counts(run, ms);
        sim_run_list_put(run);
        print_next(run, status);
    }
}
