/*
 * replay.c -- `rewake replay`: repeats a run, and compares.
 *
 *      same verdict, oracle and site         1  the same failure
 *      no failure                            0  it no longer fails
 *      another failure; or any difference
 *        where this build made the run       3  it differs
 *
 * The database knows whether this build made the run. Otherwise a run that differs is made once
 * more: where these two differ from each other, that is nondeterminism (3); else the code has
 * changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/replay.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/cli/coverage.h"
#include "sim/cli/print/run.h"

static void
print_text(const struct sim_cli *cli, const struct sim_subject *subject,
        const struct sim_single *alone, enum sim_replay_result result, const char *token)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    const char *mismatch = sim_single_mismatch(alone);
    int width = subject->half_digest ? 8 : 16;
    uint64_t mask = subject->half_digest ? UINT32_MAX : UINT64_MAX;
    (void)printf("%s: %s, %s (oracle %s)\ndigest expected %0*llx, actual %0*llx\n",
            subject->entry->scenario->name, sim_replay_sentence(result, subject, outcome),
            sim_verdict_name(outcome->verdict), sim_oracle_name(outcome->oracle), width,
            (unsigned long long)subject->expected.digest, width,
            (unsigned long long)(outcome->digest & mask));
    sim_subject_print_found(subject);
    if (subject->from_file) {
        (void)printf("as a token: %s\n", token);
        sim_print_if_long(token);
    }
    if (result != SIM_REPLAY_SAME && !sim_subject_same_failure(subject, outcome)) {
        (void)printf("expected was: %s (oracle %s)\n", sim_verdict_name(subject->expected.verdict),
                sim_oracle_name(subject->expected.oracle));
    }
    if (mismatch != NULL) {
        (void)printf("the tape does not fit: %s\n", mismatch);
    }
    if (sim_single_ignored(alone) > 0) {
        (void)printf("%u deviations of the tape did not fit\n", sim_single_ignored(alone));
    }
    if (outcome->verdict != SIM_VERDICT_PASS) {
        (void)putchar('\n');
        sim_print_run(alone, outcome);
        sim_print_replay(cli, subject->entry, outcome, token, false);
    }
    if (result == SIM_REPLAY_NO_LONGER_FAILS && subject->expected.verdict != SIM_VERDICT_PASS &&
            !sim_given(&cli->settings, SIM_CLI_OPTION_LENIENT)) {
        sim_subject_print_changed(cli, subject);
    }
    sim_subject_offer_smaller(cli, subject, "replay");
    sim_replay_print_core(alone);
}

/* A run of the database that was reproduced gets its events, if it has none. A database that cannot
 * be written now stays as it is: events were not asked for. */
static void
refill(struct sim_cli *cli, const struct sim_subject *subject, const struct sim_single *alone)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    if (subject->run == 0 || subject->has_events ||
            sim_store_open(sim_cli_db(cli), SIM_STORE_WRITE, 0, message, sizeof(message), &store) !=
                    SIM_STORE_OK) {
        return;
    }
    if (sim_store_refill(store, subject->run, sim_single_recorder(alone)) != SIM_STORE_OK) {
        sim_cli_warn("the run's events were not stored: %s", sim_store_message(store));
    }
    sim_store_close(&store);
}

static int
print(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone)
{
    enum sim_replay_result result = SIM_REPLAY_SAME;
    int status = sim_replay_find(cli, subject, alone, &result);
    if (status != 0) {
        return status;
    }
    if (result == SIM_REPLAY_SAME) {
        refill(cli, subject, alone);
    }
    char *token = sim_subject_token(subject, alone);
    if (sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
        sim_replay_print_json(subject, alone, result, token);
    } else {
        print_text(cli, subject, alone, result, token);
    }
    free(token);
    return sim_replay_status(result, sim_single_outcome(alone));
}

/* The whole run, and how it ended. */
static int
replay_all(struct sim_cli *cli, const struct sim_subject *subject)
{
    const struct sim_settings *settings = &cli->settings;
    struct sim_single alone = {.runs = 0};
    struct sim_trap trap = {sim_given(settings, SIM_CLI_OPTION_STEP) ? settings->step : UINT64_MAX};
    struct sim_run_spec spec = sim_subject_spec(cli, subject);
    spec.explain = true;
    spec.core = true;
    spec.trap = sim_given(settings, SIM_CLI_OPTION_HERE) ? &trap : NULL;
    int status = sim_subject_run(&spec, &alone);
    if (status == 0 && settings->artifact != NULL) {
        status = sim_subject_write(cli, subject, settings->artifact);
    }
    if (status == 0 && settings->export_file != NULL) {
        status = sim_replay_export(cli, subject, &alone);
    }
    if (status == 0) {
        status = print(cli, subject, &alone);
    }
    if (sim_given(settings, SIM_CLI_OPTION_CODE)) {
        sim_coverage_print_run(cli, alone.worker.edges);
    }
    sim_single_fini(&alone);
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
    if (sim_given(&cli->settings, SIM_CLI_OPTION_EACH)) {
        return sim_replay_each(cli);
    }
    if (cli->count > 1) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "one run at a time, and there are %u: give --each to replay them all", cli->count);
    }
    const struct sim_code_edge *edges = NULL;
    if (sim_given(&cli->settings, SIM_CLI_OPTION_CODE) && sim_code_names(&edges) == 0) {
        return sim_coverage_no_code();
    }
    status = sim_subject_find(cli, cli->arguments[0], &subject);
    if (status == 0) {
        status = sim_replay_has_step(cli) ? sim_replay_step(cli, &subject)
                                          : replay_all(cli, &subject);
    }
    sim_subject_done(&subject);
    return status;
}

SIM_COMMAND(command, .name = "replay", .purpose = SIM_PURPOSE_UNDERSTAND,
        .usage = "[LIB.so] TOKEN|run:ID|FILE [options]\n"
                 "[LIB.so] --each {TOKEN|run:ID|FILE}... [--lenient] [--code] [--json]",
        .about = "repeat a run and compare",
        .help = "FILE is an input of the fuzz target `scenario`, such as one that stopped it; "
                "its token is printed, too. --artifact writes the run as such a file. "
                "--export writes it for another program, by the suffix: .pftrace or "
                ".perfetto-trace for Perfetto, .json for Chrome, .dot for Graphviz. --step N "
                "prints which actor took that step, the alternatives it had, and the state of "
                "each actor; --until N the run up to there. --gdb makes the run under gdb, "
                "where `rewake help` lists the commands for it. --code also prints the edges "
                "of code that the run reaches, in a build that counts them. --each replays "
                "many, each in a separate process; @FILE and `-` may then hold any number of "
                "tokens, and comment lines that begin with #. It prints the runs that are not "
                "the same, and the number of each kind; the exit status is the worst: 2, 3, "
                "125, 1, 0.\n" SIM_SUBJECT_HELP
                "Exit status: 1 the same failure happened again (a FILE: it fails), 0 it no "
                "longer fails, 3 it differs, 2 the token or file is damaged, 125 this build "
                "cannot judge it.\n",
        .missing = SIM_SUBJECT_MISSING("replay"),
        .options = SIM_OPT(DB) | SIM_OPT(LENIENT) | SIM_OPT(HANG) | SIM_OPT(ARTIFACT) |
                   SIM_OPT(CODE) | SIM_OPT(EACH) | SIM_OPT(JSON) | SIM_OPT(EXPORT) | SIM_OPT(STEP) |
                   SIM_OPT(UNTIL) | SIM_OPT(VERBOSE) | SIM_OPT(GDB) | SIM_OPT(HERE),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 1,
        .arguments_max = UINT32_MAX, .run = replay);
