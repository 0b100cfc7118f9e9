/*
 * show.c -- `rewake show`: the whole run as columns, the wake ledger, the missing wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/print/run.h"
#include "sim/cli/subject/subject.h"
#include "sim/explain/view/describe.h"

/* Rows before loops and groups are folded more; enough for a pager. */
#define ROWS_MAX 2000u

static int
print(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone,
        void *argument)
{
    struct sim_page page;
    const char *name = sim_subject_name(cli, subject);
    const struct sim_run_view view = {.recorder = sim_single_recorder(alone),
            .outcome = sim_single_outcome(alone),
            .rows_max = ROWS_MAX};
    (void)argument;
    int status = sim_subject_check_same(subject, view.outcome);
    sim_subject_print_found(subject);
    (void)fputs(subject->smaller != NULL ? "\n" : "", stdout);
    sim_page_init(&page, sim_terminal_colour());
    page.width = sim_columns();
    sim_describe_run(&page, &view,
            SIM_DESCRIBE_HEADLINE | SIM_DESCRIBE_COLUMNS | SIM_DESCRIBE_LEDGER |
                    (view.outcome->verdict != SIM_VERDICT_PASS ? SIM_DESCRIBE_WHY : 0) |
                    SIM_DESCRIBE_STACKS);
    (void)printf("%s\n", sim_page_text(&page));
    sim_page_fini(&page);
    sim_print_replay(cli, subject->entry, view.outcome, name, true);
    sim_subject_offer_smaller(cli, subject, "show");
    return status;
}

static int
show(struct sim_cli *cli)
{
    return sim_subject_make(cli, cli->arguments[0], true, print, NULL);
}

SIM_COMMAND(command, .name = "show", .purpose = SIM_PURPOSE_UNDERSTAND,
        .usage = "[LIB.so] TOKEN|run:ID [options]",
        .about = "one run as columns, and its wake ledger",
        .help = "run:ID is the run as it was found; where it was minimized, the last line has "
                "the command that shows the smallest one.\n" SIM_SUBJECT_HELP,
        .missing = SIM_SUBJECT_MISSING("show"), .options = SIM_OPT(DB) | SIM_OPT(HANG),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_RUNS, .arguments_min = 1, .arguments_max = 1,
        .run = show);
