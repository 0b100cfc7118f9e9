/*
 * show.c -- `rewake show`: the whole run as columns, the wake ledger, the missing wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/print/words.h"
#include "sim/cli/subject/subject.h"
#include "sim/explain/view/tell.h"

/* Rows before loops and groups are folded more; enough for a pager. */
#define ROWS_MAX 2000u

static int
print(struct sim_cli *cli, const struct sim_subject *subject, const struct sim_single *alone)
{
    struct sim_page page;
    const char *name = sim_subject_name(cli, subject);
    char *replay = sim_command_text(cli, "replay", subject->entry, name);
    const struct sim_tale tale = {.recorder = sim_single_recorder(alone),
            .outcome = sim_single_outcome(alone),
            .replay = replay,
            .rows_max = ROWS_MAX};
    sim_subject_print_found(subject);
    (void)fputs(subject->smaller != NULL ? "\n" : "", stdout);
    sim_page_init(&page, sim_terminal_colour());
    bool printed = sim_tell_headline(&page, &tale) == RT_OK;
    sim_page_put(&page, "\n");
    printed = printed && sim_tell_columns(&page, &tale) == RT_OK;
    sim_page_put(&page, "\n");
    printed = printed && sim_tell_ledger(&page, &tale) == RT_OK;
    sim_page_put(&page, "\n");
    if (tale.outcome->verdict != SIM_VERDICT_PASS) {
        printed = printed && sim_tell_why(&page, &tale) == RT_OK;
        sim_page_put(&page, "\n");
    }
    sim_tell_commands(&page, &tale);
    (void)fputs(sim_page_text(&page), stdout);
    sim_page_fini(&page);
    free(replay);
    sim_print_if_long(name);
    sim_subject_offer_smaller(cli, subject, "show");
    return printed ? SIM_EXIT_HELD
                   : sim_cli_fail(SIM_EXIT_SYSTEM, "there is no memory to print the run");
}

static int
show(struct sim_cli *cli)
{
    struct sim_subject subject;
    struct sim_single alone;
    int status = sim_subject_find(cli, cli->arguments[0], &subject);
    if (status == 0) {
        status = sim_subject_run(cli, &subject, false, true, &alone);
        if (status == 0 && !sim_subject_same_run(&subject, sim_single_outcome(&alone))) {
            sim_cli_warn(
                    "another run than the one asked for: the code has changed, or the run depends "
                    "on something that is not in its seed");
            status = SIM_EXIT_DIFFERS;
        }
        if (status == 0 || status == SIM_EXIT_DIFFERS) {
            int printed = print(cli, &subject, &alone);
            status = printed != 0 ? printed : status;
        }
        sim_single_fini(&alone);
    }
    sim_subject_done(&subject);
    return status;
}

SIM_COMMAND(command, .name = "show", .usage = "[LIB.so] TOKEN|run:ID [options]",
        .about = "one run as columns, and its wake ledger",
        .help = "run:ID is the run as it was found; where it was minimized, the last line has "
                "the command that shows the smallest one.\n" SIM_SUBJECT_HELP,
        .missing = SIM_SUBJECT_MISSING("show"),
        .options = SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(HANG) | SIM_CLI_OPTION_BIT(HELP),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 1, .arguments_max = 1,
        .run = show);
