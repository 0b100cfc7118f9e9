/*
 * diff.c -- `rewake diff`: where two runs part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tell/diff.h"

#include <stdio.h>

#include "sim/cli/cli.h"
#include "sim/cli/print/terminal.h"
#include "sim/cli/subject/subject.h"

/* Finds and runs what is named; both are to be done with in any case. */
static int
make(struct sim_cli *cli, const char *name, struct sim_subject *subject, struct sim_alone *alone)
{
    int status = sim_subject_find(cli, name, subject);
    return status == 0 ? sim_subject_run(cli, subject, false, false, alone) : status;
}

static int
compare(const struct sim_alone *a, const struct sim_alone *b)
{
    const struct sim_recorder *first = sim_alone_recorder(a);
    const struct sim_recorder *second = sim_alone_recorder(b);
    struct sim_difference difference;
    struct sim_page page;
    sim_diff_find(first, second, &difference);
    sim_page_init(&page, sim_terminal_colour());
    rt_err err = sim_diff_put(&page, first, "A", second, "B");
    (void)fputs(sim_page_text(&page), stdout);
    sim_page_fini(&page);
    if (err != RT_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "there is no memory to compare them");
    }
    return difference.kind == SIM_DIFF_SAME ? SIM_EXIT_HELD : SIM_EXIT_DIFFERS;
}

static int
diff(struct sim_cli *cli)
{
    struct sim_subject subjects[2] = {{.seed = 0}, {.seed = 0}};
    struct sim_alone alones[2] = {{.pilot = {.runs = 0}}, {.pilot = {.runs = 0}}};
    int status = make(cli, cli->arguments[0], &subjects[0], &alones[0]);
    if (status == 0) {
        status = make(cli, cli->arguments[1], &subjects[1], &alones[1]);
    }
    if (status == 0) {
        status = compare(&alones[0], &alones[1]);
    }
    for (int i = 0; i < 2; i++) {
        sim_alone_done(&alones[i]);
        sim_subject_done(&subjects[i]);
    }
    return status;
}

SIM_COMMAND(command, .name = "diff", .usage = "[LIB.so] A B [--db FILE]",
        .about = "the first event in which two runs differ",
        .help = "A and B are tokens or run:ID.\n" SIM_SUBJECT_HELP
                "Exit status: 0 they are the same, 3 they differ.\n",
        .options = SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(HANG) | SIM_CLI_OPTION_BIT(HELP),
        .arguments_min = 2, .arguments_max = 2, .takes_library = true, .run = diff);
