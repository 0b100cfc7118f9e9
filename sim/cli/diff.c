/*
 * diff.c -- `rewake diff`: the first difference of two runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/diff.h"

#include <stdio.h>

#include "sim/base/json.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/subject/subject.h"

/* Finds the run and makes it; the caller frees both in any case. */
static int
make(struct sim_cli *cli, const char *name, struct sim_subject *subject, struct sim_single *alone)
{
    int status = sim_subject_find(cli, name, subject);
    return status == 0 ? sim_subject_run(cli, subject, false, false, alone) : status;
}

static int
exit_status(const struct sim_difference *difference)
{
    return difference->kind == SIM_DIFF_SAME ? SIM_EXIT_HELD : SIM_EXIT_DIFFERS;
}

/* ---- For programs. --------------------------------------------------------------------------- */

/* What this run does at the first difference; nothing of equal runs. */
static rt_err
put_json_side(struct sim_json *json, const char *key, const struct sim_subject *subject,
        const struct sim_single *alone, const struct sim_difference *difference)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    const struct sim_recorder *run = sim_single_recorder(alone);
    bool parts = difference->kind == SIM_DIFF_EVENT || difference->kind == SIM_DIFF_ENDS;
    char digest[17];
    struct sim_page words;
    sim_page_init(&words, false);
    rt_err err = parts ? sim_diff_put_event(&words, run, difference->event) : RT_OK;
    (void)snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)outcome->digest);
    SIM_JSON_PUT(json, SIM_FIELDS(key, SIM_TEXT("scenario", subject->entry->scenario->name),
                               SIM_LONG("seed", subject->seed),
                               SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
                               SIM_TEXT("digest", digest), SIM_NUMBER("events", run->count),
                               SIM_TEXT("then", parts ? sim_page_text(&words) : NULL)));
    sim_page_fini(&words);
    return err;
}

static rt_err
print_json(const struct sim_subject subjects[2], const struct sim_single alones[2],
        const struct sim_difference *difference)
{
    static const char *const results[] = {"same", "event", "ends", "lost"};
    bool lost = difference->kind == SIM_DIFF_LOST;
    struct sim_json json;
    sim_json_begin(&json, stdout, "diff");
    SIM_JSON_PUT(&json, SIM_TEXT("result", results[difference->kind]),
            SIM_NUMBER("events_in_common", lost ? difference->from : difference->event));
    rt_err err_a = put_json_side(&json, "a", &subjects[0], &alones[0], difference);
    rt_err err_b = put_json_side(&json, "b", &subjects[1], &alones[1], difference);
    sim_json_number(&json, "exit", (uint64_t)exit_status(difference));
    sim_json_end(&json);
    return err_a != RT_OK ? err_a : err_b;
}

/* ---- For people. ----------------------------------------------------------------------------- */

static rt_err
print_words(const struct sim_single alones[2])
{
    struct sim_page page;
    sim_page_init(&page, sim_terminal_colour());
    rt_err err = sim_diff_put(
            &page, sim_single_recorder(&alones[0]), "A", sim_single_recorder(&alones[1]), "B");
    (void)fputs(sim_page_text(&page), stdout);
    sim_page_fini(&page);
    return err;
}

static int
compare(const struct sim_cli *cli, const struct sim_subject subjects[2],
        const struct sim_single alones[2])
{
    struct sim_difference difference;
    sim_diff_find(sim_single_recorder(&alones[0]), sim_single_recorder(&alones[1]), &difference);
    bool json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON);
    rt_err err = json ? print_json(subjects, alones, &difference) : print_words(alones);
    return err == RT_OK ? exit_status(&difference)
                        : sim_cli_fail(SIM_EXIT_SYSTEM, "there is no memory to compare them");
}

static int
diff(struct sim_cli *cli)
{
    struct sim_subject subjects[2] = {{.seed = 0}, {.seed = 0}};
    struct sim_single alones[2] = {{.runs = 0}, {.runs = 0}};
    int status = make(cli, cli->arguments[0], &subjects[0], &alones[0]);
    if (status == 0) {
        status = make(cli, cli->arguments[1], &subjects[1], &alones[1]);
    }
    if (status == 0) {
        status = compare(cli, subjects, alones);
    }
    for (int i = 0; i < 2; i++) {
        sim_single_fini(&alones[i]);
        sim_subject_done(&subjects[i]);
    }
    return status;
}

SIM_COMMAND(command, .name = "diff", .usage = "[LIB.so] A B [options]",
        .about = "the first event in which two runs differ",
        .help = "A and B are tokens or run:ID.\n" SIM_SUBJECT_HELP
                "Exit status: 0 they are the same, 3 they differ.\n",
        .missing =
                "which two runs? Give two of run:ID or a token. Example: rewake diff run:2 run:3 "
                "(--help has all options)",
        .options = SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(HANG) | SIM_CLI_OPTION_BIT(JSON) |
                   SIM_CLI_OPTION_BIT(HELP),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 2, .arguments_max = 2,
        .run = diff);
