/*
 * explain.c -- `rewake explain`: the missing wake, the decision that matters, the two events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/explained.h"
#include "sim/cli/print/run.h"
#include "sim/cli/replay.h"
#include "sim/explain/report.h"

static void
put_location(struct sim_json *json, const char *key, const struct sim_location *location)
{
    SIM_JSON_PUT(json,
            SIM_FIELDS(key, SIM_TEXT("function", location->place.function),
                    SIM_TEXT("file", sim_place_file(&location->place)),
                    SIM_NUMBER("line", location->place.line), SIM_NUMBER("step", location->step)));
}

static void
print_json(const struct sim_subject *subject, const struct sim_explanation *explanation, int status)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    const struct sim_cause *cause = &explanation->cause;
    struct sim_json json;
    sim_json_begin(&json, stdout, "explain");
    SIM_JSON_PUT(&json, SIM_TEXT("scenario", subject->entry->scenario->name),
            SIM_LONG("seed", subject->seed),
            SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
            SIM_TEXT("oracle", sim_oracle_name(outcome->oracle)),
            SIM_TEXT("message", outcome->message));
    if (outcome->verdict != SIM_VERDICT_PASS) {
        sim_json_open(&json, "cause", '{');
        SIM_JSON_PUT(&json, SIM_TEXT("kind", sim_cause_name(cause->kind)),
                SIM_TEXT("wake_outcome", sim_wake_outcome_name(explanation->wake_outcome.kind)));
        sim_json_open(&json, "at", '[');
        for (uint32_t i = 0; i < cause->at_count; i++) {
            put_location(&json, NULL, &cause->at[i]);
        }
        sim_json_close(&json, ']');
        if (cause->stored.place.function[0] != '\0') {
            put_location(&json, "stored", &cause->stored);
        }
        sim_json_close(&json, '}');
    }
    if (explanation->decision.found) {
        const struct sim_decision *d = &explanation->decision;
        sim_json_open(&json, "decision", '{');
        SIM_JSON_PUT(&json, SIM_NUMBER("given", d->given), SIM_NUMBER("needed", d->failing.count),
                SIM_NUMBER("changed", d->changed), SIM_BOOL("added", d->added),
                SIM_TEXT("kind", sim_kind_name(d->deciding.kind)));
        if (explanation->number.found) {
            const struct sim_deciding_number *n = &explanation->number;
            SIM_JSON_PUT(&json,
                    SIM_FIELDS("number", SIM_TEXT("function", n->place.function),
                            SIM_TEXT("file", sim_place_file(&n->place)),
                            SIM_NUMBER("line", n->place.line), SIM_LONG("value", n->below.value),
                            SIM_IF(n->both, SIM_LONG("beside", n->beside.value))));
        }
        SIM_JSON_PUT(&json, SIM_NUMBER("below_failed", d->below.failed),
                SIM_NUMBER("below_runs", d->below.runs),
                SIM_NUMBER("beside_failed", d->beside.failed),
                SIM_NUMBER("beside_runs", d->beside.runs), SIM_NUMBER("runs", d->runs));
        sim_json_close(&json, '}');
    }
    if (explanation->order.found) {
        sim_json_open(&json, "order", '{');
        sim_json_text(&json, "of",
                explanation->order.events   ? "events"
                : explanation->order.writes ? "writes"
                                            : "functions");
        put_location(&json, "first", &explanation->order.first);
        put_location(&json, "second", &explanation->order.second);
        sim_json_text(&json, "swapped", sim_swapped_name(explanation->order.swapped));
        sim_json_close(&json, '}');
    }
    if (explanation->given.verdict != SIM_VERDICT_PASS) {
        sim_report_json(&json, explanation);
    }
    const struct sim_budget *budget = &explanation->budget;
    SIM_JSON_PUT(&json, SIM_BOOL("incomplete", budget->cut_count > 0),
            SIM_NUMBER("exit", (uint64_t)status));
    sim_json_end(&json);
}

/* Whether the explained run is a smaller one than that on the command line. */
static bool
is_smaller(const struct sim_explanation *explanation, const char *given, const char *token)
{
    const struct sim_outcome *explained = sim_explanation_outcome(explanation);
    bool same = explained->verdict == SIM_VERDICT_HANG ||
                (explained->digest != 0 && explained->digest == explanation->given.digest);
    return !same && strcmp(given, token) != 0;
}

static void
say_which(const struct sim_subject *subject, bool smaller)
{
    char name[32] = "";
    if (subject->run != 0) {
        (void)snprintf(name, sizeof(name), " (run:%lld)", (long long)subject->run);
    }
    (void)printf("%s, seed %llu%s\n", subject->entry->scenario->name,
            (unsigned long long)subject->seed, name);
    if (smaller) {
        sim_print_folded("This explains a smaller run that fails in the same way.", 0, 0);
    }
    (void)putchar('\n');
}

static void
print_failure(
        struct sim_cli *cli, const struct sim_subject *subject, struct sim_explanation *explanation)
{
    struct sim_page page;
    char *token = sim_token_of(subject->entry->scenario, &explanation->decision.options,
            SIM_HOW_STRICT, &explanation->decision.failing, sim_explanation_outcome(explanation));
    const char *given = sim_subject_name(cli, subject);
    say_which(subject, is_smaller(explanation, given, token));
    sim_page_init(&page, sim_terminal_colour());
    page.width = sim_columns();
    sim_report_put(&page, explanation, SIM_REPORT_BESIDE);
    (void)printf("%s\n", sim_page_text(&page));
    sim_page_fini(&page);
    sim_print_replay(cli, subject->entry, sim_explanation_outcome(explanation), token, true);
    free(token);
}

static void
print_text(
        struct sim_cli *cli, const struct sim_subject *subject, struct sim_explanation *explanation)
{
    if (explanation->given.verdict != SIM_VERDICT_PASS) {
        print_failure(cli, subject, explanation);
        return;
    }
    say_which(subject, false);
    if (subject->expected.verdict == SIM_VERDICT_PASS) {
        (void)printf("It passes: there is nothing to explain.\n");
        return;
    }
    (void)printf("It passes now: there is nothing to explain. It was found as: %s (oracle %s).\n",
            sim_verdict_name(subject->expected.verdict), sim_oracle_name(subject->expected.oracle));
    sim_subject_print_changed(cli, subject);
}

static int
explain_subject(struct sim_cli *cli, const struct sim_subject *subject)
{
    struct sim_explanation explanation;
    const struct sim_failure failure = sim_explained_failure(cli, subject);
    int status = SIM_EXIT_SYSTEM;
    if (!sim_explanation_make(&explanation, &failure)) {
        (void)sim_cli_fail(
                status, "the run could not be made: %s", explanation.failing.worker.error);
    } else {
        status = sim_replay_status(
                sim_replay_compare(subject, &explanation.given, false), &explanation.given);
        if (sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
            print_json(subject, &explanation, status);
        } else {
            print_text(cli, subject, &explanation);
        }
        (void)sim_explained_keep(cli, subject, &explanation);
    }
    sim_explanation_free(&explanation);
    return status;
}

static int
explain(struct sim_cli *cli)
{
    struct sim_subject subject;
    int status = sim_subject_find(cli, cli->arguments[0], &subject);
    if (status == 0) {
        status = explain_subject(cli, &subject);
    }
    sim_subject_done(&subject);
    return status;
}

SIM_COMMAND(command, .name = "explain", .purpose = SIM_PURPOSE_UNDERSTAND,
        .usage = "[LIB.so] TOKEN|run:ID [options]",
        .about = "why a run fails: the missing wake, and the decision that matters",
        .help = "Explains the smallest run that fails in this way, whichever is named. The "
                "explanation of a failure in the database is stored there. It takes up to 10 "
                "s, or --time: counted in replayed steps, 2,000 a millisecond, so that the "
                "same time gives the same explanation on every machine. When the time is used "
                "up, the part that is known is printed, and what is missing.\n" SIM_SUBJECT_HELP
                "Exit status: 1 the failure happened again and is explained, 0 it no longer "
                "fails, 3 it differs, 2 the token is damaged, 125 this build cannot judge it.\n",
        .missing = SIM_SUBJECT_MISSING("explain"),
        .options = SIM_OPT(DB) | SIM_OPT(HANG) | SIM_OPT(TIME) | SIM_OPT(JSON),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 1, .arguments_max = 1,
        .run = explain);
