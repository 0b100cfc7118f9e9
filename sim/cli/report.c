/*
 * report.c -- `rewake report`: explains what has no explanation yet, then writes the pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/site.h"
#include "sim/base/heap.h"
#include "sim/cli/cli.h"
#include "sim/cli/explained.h"

#define FOLDER "rewake-report"
#define TIME_MS 60000u /* For explanations, without --time. */

static int
read_names(const struct sim_cli *cli, int64_t *runs)
{
    for (uint32_t i = 0; i < cli->count; i++) {
        const char *name = cli->arguments[i];
        uint64_t run = 0;
        if (strncmp(name, "run:", 4) != 0 || !sim_number_parse(name + 4, INT64_MAX / 2, &run) ||
                run == 0) {
            return sim_cli_fail(SIM_EXIT_USAGE, "'%s' is not a run: name one as run:ID", name);
        }
        runs[i] = (int64_t)run;
    }
    return 0;
}

static int
explain(struct sim_cli *cli, const int64_t *runs)
{
    struct sim_explained_count done;
    uint64_t time_ms = cli->settings.time_ms != 0 ? cli->settings.time_ms : TIME_MS;
    int status = sim_explain_missing(cli, runs, cli->count, time_ms, &done);
    if (status == 0 && done.out_of_time) {
        (void)fprintf(stderr,
                "rewake: time is up: %u of %u failures have no explanation; allow more with "
                "--time\n",
                done.missing - done.tried, done.missing);
    }
    return status;
}

static int
status_of(const struct report_site *site, enum report_site_err err)
{
    return err == REPORT_SITE_OK
                   ? 0
                   : sim_cli_fail(err == REPORT_SITE_UNKNOWN ? SIM_EXIT_USAGE : SIM_EXIT_SYSTEM,
                             "%s", site->message);
}

static int
make(struct sim_cli *cli, struct report_site *site)
{
    int status = sim_cli_open_read(cli, &site->store);
    status = status == 0 ? status_of(site, report_site_make(site)) : status;
    sim_store_close(&site->store);
    if (status == 0) {
        (void)printf("%s/index.html\n", site->folder);
    }
    return status;
}

static int
report_command(struct sim_cli *cli)
{
    int64_t *runs = sim_heap_new(cli->count, sizeof(*runs));
    struct report_site site = {
            .folder = cli->settings.folder != NULL ? cli->settings.folder : FOLDER,
            .lcov = cli->settings.lcov,
            .db = cli->settings.db,
            .runs = runs,
            .run_count = cli->count,
    };
    int status = read_names(cli, runs);
    /* Explanations take long. */
    status = status == 0 ? status_of(&site, report_site_check(&site)) : status;
    status = status == 0 ? explain(cli, runs) : status;
    status = status == 0 ? make(cli, &site) : status;
    free(runs);
    return status;
}

SIM_COMMAND(command, .name = "report", .purpose = SIM_PURPOSE_SHARE,
        .usage = "[--db FILE] [-o DIR] [--lcov DIR] [--time 60s] [run:ID ...]",
        .about = "the trace database as pages for a browser",
        .help = "Writes DIR/index.html and a page for one failure of each cause, or for the runs\n"
                "that are named. The pages need no network and no script. The default DIR "
                "is\n" FOLDER
                ". Failures without an explanation are explained first, for a minute or as\n"
                "long as --time says; explanations are stored in the database. A failure that\n"
                "cannot be replayed here is shown as it was found.\n"
                "The variable REWAKE_LINK makes lines of source links, to an editor\n"
                "(\"vscode://file{path}:{line}\") or a forge (\"https://.../{file}#L{line}\").\n",
        .options = SIM_OPT(DB) | SIM_OPT(FOLDER) | SIM_OPT(LCOV) | SIM_OPT(TIME) | SIM_OPT(HANG),
        .takes = SIM_TAKES_RUNS, .arguments_max = UINT32_MAX, .run = report_command);
