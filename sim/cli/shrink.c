/*
 * shrink.c -- `rewake shrink`: the smallest run that fails in the same way.
 *
 *      it still fails                       1  minimized
 *      it passes                            0  it no longer fails
 *      another failure, or nondeterminism   3  it differs
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/clock.h"
#include "sim/base/json.h"
#include "sim/cli/cli.h"
#include "sim/cli/print/run.h"
#include "sim/cli/shrunk.h"
#include "sim/cli/subject/subject.h"

enum finding { SHRUNK, NO_LONGER_FAILS, DIFFERS, UNSTABLE };

struct printing {
    struct sim_cli *cli;
    const struct sim_subject *subject;
    const struct sim_outcome *found; /* The run as it is now, not yet minimized. */
    const struct sim_shrunk *shrunk; /* Only when it fails as expected. */
    enum finding finding;
    char *token; /* Of the smallest run; NULL: none. */
};

static int
exit_status(enum finding finding)
{
    switch (finding) {
    case SHRUNK:
        return SIM_EXIT_BUG;
    case NO_LONGER_FAILS:
        return SIM_EXIT_HELD;
    case DIFFERS:
    case UNSTABLE:
        break;
    }
    return SIM_EXIT_DIFFERS;
}

/* ---- For programs. --------------------------------------------------------------------------- */

static const char *
word_of(const struct printing *printing)
{
    static const char *const words[] = {"shrunk", "no-longer-fails", "differs", "nondeterministic"};
    const struct sim_shrunk *shrunk = printing->shrunk;
    bool same =
            printing->finding == SHRUNK && sim_shrink_key_compare(&shrunk->from, &shrunk->to) == 0;
    return same ? "minimal" : words[printing->finding];
}

static void
print_json(const struct printing *printing)
{
    const struct sim_shrunk *shrunk = printing->shrunk;
    const struct sim_outcome *outcome =
            printing->finding == SHRUNK ? sim_single_outcome(&shrunk->alone) : printing->found;
    struct sim_json json;
    sim_json_begin(&json, stdout, "shrink");
    SIM_JSON_PUT(&json, SIM_TEXT("scenario", printing->subject->entry->scenario->name),
            SIM_LONG("seed", printing->subject->seed), SIM_TEXT("result", word_of(printing)),
            SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
            SIM_TEXT("oracle", sim_oracle_name(outcome->oracle)),
            SIM_TEXT("message", outcome->message));
    if (shrunk != NULL) {
        sim_shrunk_json(&json, shrunk);
    }
    SIM_JSON_PUT(&json, SIM_TEXT("token", printing->token),
            SIM_NUMBER("exit", (uint64_t)exit_status(printing->finding)));
    sim_json_end(&json);
}

/* ---- For people. ----------------------------------------------------------------------------- */

static void
print_text(const struct printing *printing)
{
    const char *name = printing->subject->entry->scenario->name;
    const struct sim_outcome *expected = &printing->subject->expected;
    if (printing->shrunk != NULL) {
        char *sentence = sim_shrunk_sentence(printing->shrunk);
        (void)printf("%s: %s (oracle %s)\n%s\n", name, sim_verdict_name(expected->verdict),
                sim_oracle_name(expected->oracle), sentence);
        free(sentence);
    }
    switch (printing->finding) {
    case SHRUNK:
        (void)putchar('\n');
        sim_shrunk_print(printing->shrunk);
        (void)putchar('\n');
        sim_print_run(&printing->shrunk->alone, sim_single_outcome(&printing->shrunk->alone));
        sim_print_replay(printing->cli, printing->subject->entry,
                sim_single_outcome(&printing->shrunk->alone), printing->token, true);
        return;
    case NO_LONGER_FAILS:
        (void)printf("%s: %s\n", name,
                expected->verdict == SIM_VERDICT_PASS ? "it passes: there is nothing to minimize"
                                                      : "it no longer fails");
        return;
    case DIFFERS:
        (void)printf("%s: another failure than the token's: %s (oracle %s), expected %s (oracle "
                     "%s)\n",
                name, sim_verdict_name(printing->found->verdict),
                sim_oracle_name(printing->found->oracle), sim_verdict_name(expected->verdict),
                sim_oracle_name(expected->oracle));
        return;
    case UNSTABLE:
        (void)printf(
                "Two replays of one tape differ: the run depends on more than its decisions.\n");
        return;
    }
}

/* Stores the minimized run with its run in the database. False after a line. */
static bool
store(const struct printing *printing)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct sim_store *store = NULL;
    const struct sim_subject *subject = printing->subject;
    enum sim_store_err err = sim_store_open(
            sim_cli_db(printing->cli), SIM_STORE_WRITE, 0, message, sizeof(message), &store);
    if (err == SIM_STORE_OK) {
        err = sim_shrunk_store(
                store, subject->run, subject->entry->scenario, printing->shrunk, printing->token);
        (void)snprintf(message, sizeof(message), "%s", sim_store_message(store));
        sim_store_close(&store);
    }
    if (err != SIM_STORE_OK) {
        sim_cli_warn("it is minimized, but not stored: %s", message);
    }
    return err == SIM_STORE_OK;
}

static int
print(struct printing *printing)
{
    bool stored = true;
    if (printing->finding == SHRUNK) {
        printing->token = sim_shrunk_token(printing->subject->entry->scenario, printing->shrunk);
        stored = printing->subject->run == 0 || store(printing);
    }
    if (sim_given(&printing->cli->settings, SIM_CLI_OPTION_JSON)) {
        print_json(printing);
    } else {
        print_text(printing);
    }
    free(printing->token);
    return stored ? exit_status(printing->finding) : SIM_EXIT_SYSTEM;
}

/* `alone` is the failing run as it is now. */
static int
shrink_it(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone)
{
    const struct sim_outcome *found = sim_single_outcome(alone);
    const struct sim_tape tape = sim_single_deviations(alone);
    uint64_t time_ms = cli->settings.time_ms;
    struct sim_shrunk shrunk;
    const struct sim_shrink_plan plan = {
            .spec.scenario = subject->entry->scenario,
            .spec.options = subject->options,
            .spec.tape = &tape,
            .failure = found,
            .replays_max = SIM_SHRINK_REPLAYS_MAX,
            .deadline_ms = time_ms > 0 ? sim_clock_ms() + time_ms : UINT64_MAX,
            .spec.hang_ms = cli->settings.hang_ms,
    };
    sim_shrink(&plan, &shrunk);
    int status = 0;
    if (shrunk.end == SIM_SHRINK_SYSTEM) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "it could not be minimized: %s", shrunk.error);
    } else {
        struct printing printing = {
                cli, subject, found, &shrunk, sim_shrunk_holds(&shrunk) ? SHRUNK : UNSTABLE, NULL};
        status = print(&printing);
    }
    sim_shrunk_done(&shrunk);
    return status;
}

/* `alone` is the run as it is now. */
static int
shrink_subject(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone,
        void *argument)
{
    const struct sim_outcome *found = sim_single_outcome(alone);
    struct printing printing = {cli, subject, found, NULL, NO_LONGER_FAILS, NULL};
    (void)argument;
    if (found->verdict == SIM_VERDICT_PASS) {
        return print(&printing);
    }
    if (!sim_subject_same_failure(subject, found)) {
        printing.finding = DIFFERS;
        return print(&printing);
    }
    return shrink_it(cli, subject, alone);
}

static int
shrink(struct sim_cli *cli)
{
    return sim_subject_make(cli, cli->arguments[0], false, shrink_subject, NULL);
}

SIM_COMMAND(command, .name = "shrink", .purpose = SIM_PURPOSE_KEEP,
        .usage = "[LIB.so] TOKEN|run:ID [options]",
        .about = "find the smallest run that fails in the same way",
        .help = "At most 2000 replays.\n" SIM_SUBJECT_HELP
                "Exit status: 1 it still fails, and is minimized, 0 it no longer fails, 3 it "
                "differs, 2 the token is damaged, 125 this build cannot judge it.\n",
        .missing = SIM_SUBJECT_MISSING("shrink"),
        .options = SIM_OPT(DB) | SIM_OPT(TIME) | SIM_OPT(HANG) | SIM_OPT(JSON),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 1, .arguments_max = 1,
        .run = shrink);
