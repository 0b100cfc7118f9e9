/*
 * replay.c -- `rewake replay`: the same run again, and whether it is the same.
 *
 *      same verdict, oracle and site        1  the failure comes again
 *      no failure                           0  it no longer fails
 *      another failure; or any difference
 *        where build and options are its own 3  it differs
 *
 * Whether this build made the run is known when the database has it. Without: a
 * run that differs is made once more, and when these two differ from each other it is
 * nondeterminism (3) as well; otherwise the code has changed since.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/cli/cli.h"
#include "sim/cli/cover/code_names.h"
#include "sim/cli/cover/coverage.h"
#include "sim/cli/look/replay_export.h"
#include "sim/cli/look/replay_look.h"
#include "sim/cli/print/json.h"
#include "sim/cli/print/terminal.h"
#include "sim/cli/print/words.h"
#include "sim/cli/subject/subject.h"
#include "sim/tell/columns.h"
#include "sim/tell/tell.h"

enum finding { SAME, NO_LONGER_FAILS, SAME_FAILURE, DIFFERS, UNSTABLE };

/* How the replay compares, before what is known of the build is asked. */
static enum finding
compare(const struct sim_subject *subject, const struct sim_outcome *outcome, bool lenient)
{
    if (sim_subject_same_run(subject, outcome)) {
        return SAME;
    }
    /* A lenient replay is a run of its own: only its end is compared. */
    if (subject->own_build && !lenient) {
        return DIFFERS;
    }
    if (outcome->verdict == SIM_VERDICT_PASS) {
        return NO_LONGER_FAILS;
    }
    return sim_subject_same_failure(subject, outcome) ? SAME_FAILURE : DIFFERS;
}

/* A difference without a known build: is the run even the same twice? */
static int
check_stability(struct sim_cli *cli, const struct sim_subject *subject, bool lenient,
        const struct sim_outcome *outcome, bool *ret_stable)
{
    struct sim_alone again;
    int status = sim_subject_run(cli, subject, lenient, false, &again);
    if (status == 0) {
        *ret_stable = sim_same_end(outcome, sim_alone_outcome(&again));
    }
    sim_alone_done(&again);
    return status;
}

static int
exit_status(enum finding finding, const struct sim_outcome *outcome)
{
    switch (finding) {
    case SAME:
        return outcome->verdict == SIM_VERDICT_PASS ? SIM_EXIT_HELD : SIM_EXIT_BUG;
    case SAME_FAILURE:
        return SIM_EXIT_BUG;
    case NO_LONGER_FAILS:
        return SIM_EXIT_HELD;
    case DIFFERS:
    case UNSTABLE:
        break;
    }
    return SIM_EXIT_DIFFERS;
}

static const char *
sentence(enum finding finding, const struct sim_subject *subject, const struct sim_outcome *outcome)
{
    switch (finding) {
    case SAME:
        if (subject->from_file) {
            return outcome->verdict == SIM_VERDICT_PASS ? "it passes" : "it fails";
        }
        return outcome->verdict == SIM_VERDICT_PASS ? "same run: it passes" : "same failure";
    case SAME_FAILURE:
        return "same failure, by other events: the code has changed since";
    case NO_LONGER_FAILS:
        return subject->expected.verdict == SIM_VERDICT_PASS
                       ? "it passes, by other events: the code has changed since"
                       : "it no longer fails";
    case DIFFERS:
        return subject->own_build ? "it differs, although this very build made it: something in it "
                                    "depends on more than the seed"
                                  : "another failure than the token's";
    case UNSTABLE:
        break;
    }
    return "two replays differ from each other: something in it depends on more than the seed";
}

/* ---- Telling. -------------------------------------------------------------------------------- */

static unsigned long long
expected_digest(const struct sim_subject *subject)
{
    return (unsigned long long)subject->expected.digest;
}

/* The digest as far as the expected one is known. */
static unsigned long long
actual_digest(const struct sim_subject *subject, const struct sim_outcome *outcome)
{
    return (unsigned long long)outcome->digest & (subject->half_digest ? UINT32_MAX : UINT64_MAX);
}

static void
print_text(const struct sim_subject *subject, const struct sim_alone *alone, enum finding finding,
        const char *show, const char *token)
{
    const struct sim_outcome *outcome = sim_alone_outcome(alone);
    const struct sim_shared *shared = alone->pilot.worker.shared;
    int width = subject->half_digest ? 8 : 16;
    (void)printf("%s: %s, %s (oracle %s)\ndigest expected %0*llx, actual %0*llx\n",
            subject->entry->scenario->name, sentence(finding, subject, outcome),
            sim_verdict_name(outcome->verdict), sim_oracle_name(outcome->oracle), width,
            expected_digest(subject), width, actual_digest(subject, outcome));
    sim_subject_say_found(subject);
    if (subject->from_file) {
        (void)printf("as a token: %s\n", token);
        sim_say_if_long(token);
    }
    if (finding != SAME && !sim_subject_same_failure(subject, outcome)) {
        (void)printf("expected was: %s (oracle %s)\n", sim_verdict_name(subject->expected.verdict),
                sim_oracle_name(subject->expected.oracle));
    }
    if (shared->mismatch[0] != '\0') {
        (void)printf("the tape does not fit: %s\n", shared->mismatch);
    }
    if (shared->ignored > 0) {
        (void)printf("%u deviations of the tape fitted nowhere\n", shared->ignored);
    }
    if (outcome->verdict != SIM_VERDICT_PASS) {
        struct sim_page page;
        sim_page_init(&page, sim_terminal_colour());
        const struct sim_tale tale = {.recorder = sim_alone_recorder(alone),
                .outcome = outcome,
                .show = show,
                .rows_max = SIM_ROWS_DEFAULT};
        (void)putchar('\n');
        if (sim_tell(&page, &tale) == RT_OK) {
            (void)fputs(sim_page_text(&page), stdout);
        }
        sim_page_fini(&page);
    }
}

static void
print_json(const struct sim_subject *subject, const struct sim_alone *alone, enum finding finding,
        const char *token)
{
    static const char *const words[] = {
            "same", "no-longer-fails", "same-failure", "differs", "nondeterministic"};
    const struct sim_outcome *outcome = sim_alone_outcome(alone);
    struct sim_json json;
    char digest[24];
    sim_json_begin(&json, stdout, "replay");
    sim_json_text(&json, "scenario", subject->entry->scenario->name);
    sim_json_long(&json, "seed", subject->seed);
    sim_json_text(&json, "result", words[finding]);
    sim_json_text(&json, "verdict", sim_verdict_name(outcome->verdict));
    sim_json_text(&json, "oracle", sim_oracle_name(outcome->oracle));
    sim_json_text(&json, "message", outcome->message);
    sim_json_text(&json, "expected_verdict", sim_verdict_name(subject->expected.verdict));
    (void)snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)outcome->digest);
    sim_json_text(&json, "digest", digest);
    (void)snprintf(digest, sizeof(digest), "%0*llx", subject->half_digest ? 8 : 16,
            expected_digest(subject));
    sim_json_text(&json, "expected_digest", digest);
    sim_json_text(&json, "token", token);
    sim_json_number(&json, "steps", outcome->steps);
    sim_json_number(&json, "sim_ns", outcome->sim_ns);
    sim_json_number(&json, "deviations", outcome->deviations);
    sim_json_number(&json, "owed_step", outcome->owed_step);
    sim_json_number(&json, "exit", (uint64_t)exit_status(finding, outcome));
    sim_json_end(&json);
}

/* ---- The command. ---------------------------------------------------------------------------- */

/* A run of the database that came again gets its events, if it has none. Nobody asked for it: a
 * database that can not be written now stays as it is. */
static void
refill(struct sim_cli *cli, const struct sim_subject *subject, const struct sim_alone *alone)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    if (subject->run == 0 || subject->has_events ||
            sim_store_open(sim_cli_db(cli), SIM_STORE_WRITE, 0, message, sizeof(message), &store) !=
                    SIM_STORE_OK) {
        return;
    }
    if (sim_store_refill(store, subject->run, sim_alone_recorder(alone)) != SIM_STORE_OK) {
        (void)sim_cli_fail(0, "the run's events were not stored: %s", sim_store_message(store));
    }
    sim_store_close(&store);
}

static int
tell(struct sim_cli *cli, const struct sim_subject *subject, struct sim_alone *alone, bool lenient)
{
    const struct sim_outcome *outcome = sim_alone_outcome(alone);
    enum finding finding = compare(subject, outcome, lenient);
    bool stable = true;
    if (finding != SAME && !subject->own_build) {
        int status = check_stability(cli, subject, lenient, outcome, &stable);
        if (status != 0) {
            return status;
        }
    }
    finding = stable ? finding : UNSTABLE;
    if (finding == SAME) {
        refill(cli, subject, alone);
    }
    struct sim_tape tape = sim_alone_deviations(alone);
    char *token =
            sim_token_of(subject->entry->scenario, &subject->options, subject->how, &tape, outcome);
    char *show = sim_command_text(cli, "show", subject->entry, token);
    if (sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
        print_json(subject, alone, finding, token);
    } else {
        print_text(subject, alone, finding, show, token);
        sim_subject_offer_smaller(cli, subject, "replay");
        sim_replay_say_core(alone);
    }
    free(show);
    free(token);
    return exit_status(finding, outcome);
}

/* The whole run, and what it came to. */
static int
replay_all(struct sim_cli *cli, const struct sim_subject *subject)
{
    const struct sim_settings *settings = &cli->settings;
    struct sim_alone alone = {.pilot = {.runs = 0}};
    struct sim_trap trap = {sim_given(settings, SIM_CLI_OPTION_STEP) ? settings->step : UINT64_MAX};
    const struct sim_subject_way way = {
            .lenient = sim_given(settings, SIM_CLI_OPTION_LENIENT),
            .explain = true,
            .core = true,
            .trap = sim_given(settings, SIM_CLI_OPTION_HERE) ? &trap : NULL,
    };
    int status = sim_subject_run_so(cli, subject, &way, &alone);
    if (status == 0 && settings->artifact != NULL) {
        status = sim_subject_write(cli, subject, settings->artifact);
    }
    if (status == 0 && settings->export_file != NULL) {
        status = sim_replay_export(cli, subject, &alone);
    }
    if (status == 0) {
        status = tell(cli, subject, &alone, way.lenient);
    }
    if (sim_given(settings, SIM_CLI_OPTION_CODE)) {
        sim_coverage_tell_run(cli, alone.pilot.worker.edges);
    }
    sim_alone_done(&alone);
    return status;
}

static int
replay(struct sim_cli *cli)
{
    struct sim_subject subject;
    int status = sim_replay_check_flags(cli);
    status = status == 0 ? sim_replay_export_check(cli) : status;
    if (status != 0) {
        return status;
    }
    const struct sim_code_edge *edges = NULL;
    if (sim_given(&cli->settings, SIM_CLI_OPTION_CODE) && sim_code_names(&edges) == 0) {
        return sim_coverage_no_code();
    }
    status = sim_subject_find(cli, cli->arguments[0], &subject);
    if (status == 0) {
        status = sim_replay_looks(cli) ? sim_replay_look(cli, &subject) : replay_all(cli, &subject);
    }
    sim_subject_done(&subject);
    return status;
}

SIM_COMMAND(command, .name = "replay",
        .usage =
                "[LIB.so] TOKEN|run:ID|FILE [--step N | --until N [--verbose]]\n"
                "       [--gdb [--step N]] [--lenient] [--export FILE] [--artifact FILE] [--code]\n"
                "       [--json]",
        .about = "run one run again and compare",
        .help = "FILE is an input of the fuzz target `scenario`, such as one that stopped it: it "
                "is\n"
                "told as a token, too. --artifact writes the run, whatever named it, as such a "
                "file.\n"
                "--export writes it for another program, by the end of the name: .pftrace or\n"
                ".perfetto-trace for Perfetto, .json for Chrome, .dot for Graphviz.\n"
                "--step N tells who took that step, what else could have been chosen, and how all\n"
                "stood; --until N the run up to there. --gdb makes the run under gdb, where\n"
                "`rewake help` lists what it knows of the run. --code also prints the edges of "
                "code\n"
                "that the run reaches, in a build that counts them.\n" SIM_SUBJECT_HELP
                "Exit status: 1 the same failure came again (of a FILE: it fails), 0 it no longer\n"
                "fails, 3 it differs, 2 the token or file is damaged, 125 this build can not "
                "judge\n"
                "it.\n",
        .options = SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(LENIENT) | SIM_CLI_OPTION_BIT(HANG) |
                   SIM_CLI_OPTION_BIT(ARTIFACT) | SIM_CLI_OPTION_BIT(CODE) |
                   SIM_CLI_OPTION_BIT(JSON) | SIM_CLI_OPTION_BIT(EXPORT) |
                   SIM_CLI_OPTION_BIT(STEP) | SIM_CLI_OPTION_BIT(UNTIL) |
                   SIM_CLI_OPTION_BIT(VERBOSE) | SIM_CLI_OPTION_BIT(GDB) |
                   SIM_CLI_OPTION_BIT(HERE) | SIM_CLI_OPTION_BIT(HELP),
        .arguments_min = 1, .arguments_max = 1, .takes_library = true, .run = replay);
