/*
 * report.c -- `rewake report`: the trace database as pages for a browser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/model/failures.h"
#include "reports/overview/overview.h"
#include "reports/page/failure.h"
#include "sim/cli/cli.h"
#include "sim/cli/subject.h"

#define FOLDER "rewake-report"

struct report {
    struct sim_cli *cli;
    struct sim_store *store;
    const char *folder;
    struct report_places places;
    struct report_failures failures;
};

static int
fail_with_store(const struct report *report, enum sim_store_err err)
{
    return sim_cli_fail(err == SIM_STORE_UNKNOWN ? SIM_EXIT_USAGE : SIM_EXIT_SYSTEM, "%s",
            sim_store_message(report->store));
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static int
save(const struct report *report, const struct report_html *html, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", report->folder, name) < 0) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "there is no memory to write '%s'", name);
    }
    int status = 0;
    if (!report_html_save(html, path)) {
        status = sim_cli_fail(
                SIM_EXIT_SYSTEM, "%s: %s; name another folder with -o", path, strerror(errno));
    }
    free(path);
    return status;
}

static int
make_folder(const char *folder)
{
    struct stat what;
    if (mkdir(folder, 0777) == 0 || (stat(folder, &what) == 0 && S_ISDIR(what.st_mode))) {
        return 0;
    }
    return sim_cli_fail(SIM_EXIT_SYSTEM, "%s: %s; name another folder with -o", folder,
            strerror(errno == EEXIST ? ENOTDIR : errno));
}

/* ---- Pages. ---------------------------------------------------------------------------------- */

static int
make_failure(struct report *report, int64_t run)
{
    char name[48];
    struct report_html html;
    enum sim_store_err err = report_failure_put(
            &html, report->store, &report->places, run, report->cli->settings.db);
    int status = 0;
    if (err == SIM_STORE_UNKNOWN) {
        status = sim_cli_fail(SIM_EXIT_USAGE,
                "the database has no run:%lld; `rewake query` lists those it has", (long long)run);
    } else if (err != SIM_STORE_OK) {
        status = fail_with_store(report, err);
    } else {
        (void)snprintf(name, sizeof(name), "failure-%lld.html", (long long)run);
        status = save(report, &html, name);
    }
    report_html_fini(&html);
    return status;
}

static int
make_index(struct report *report)
{
    struct report_html html;
    report_html_begin(&html, "rewake report", REPORT_NAV_INDEX);
    enum sim_store_err err = report_overview_put(&html, report->store, &report->failures);
    report_html_end(&html);
    int status =
            err == SIM_STORE_OK ? save(report, &html, "index.html") : fail_with_store(report, err);
    report_html_fini(&html);
    return status;
}

static int
make_all(struct report *report)
{
    int status = 0;
    for (uint32_t i = 0; i < report->failures.count && status == 0; i++) {
        report->failures.failures[i].page = true;
        status = make_failure(report, report->failures.failures[i].run);
    }
    return status;
}

/* Only the runs that were named; the index has the others without a page. */
static int
make_named(struct report *report)
{
    int status = 0;
    for (uint32_t i = 0; i < report->cli->count && status == 0; i++) {
        const char *name = report->cli->arguments[i];
        uint64_t run = 0;
        if (strncmp(name, "run:", 4) != 0 || !sim_number_parse(name + 4, INT64_MAX, &run)) {
            return sim_cli_fail(SIM_EXIT_USAGE,
                    "'%s' is no run of the database: it is run: and a number", name);
        }
        status = make_failure(report, (int64_t)run);
        for (uint32_t k = 0; k < report->failures.count; k++) {
            struct report_failure *failure = &report->failures.failures[k];
            failure->page = failure->page || failure->run == (int64_t)run;
        }
    }
    return status;
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int
make(struct report *report)
{
    enum sim_store_err err = report_places_load(report->store, &report->places);
    if (err == SIM_STORE_OK) {
        err = report_failures_load(report->store, &report->failures);
    }
    if (err != SIM_STORE_OK) {
        return fail_with_store(report, err);
    }
    int status = make_folder(report->folder);
    if (status == 0) {
        status = report->cli->count > 0 ? make_named(report) : make_all(report);
    }
    if (status == 0) {
        status = make_index(report);
    }
    if (status == 0) {
        (void)printf("%s/index.html\n", report->folder);
    }
    return status;
}

static int
report_command(struct sim_cli *cli)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct report report = {
            .cli = cli,
            .folder = cli->settings.folder != NULL ? cli->settings.folder : FOLDER,
    };
    if (sim_store_open(sim_cli_db(cli), SIM_STORE_READ, 0, message, sizeof(message),
                &report.store) != SIM_STORE_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
    }
    int status = make(&report);
    report_failures_free(&report.failures);
    report_places_free(&report.places);
    sim_store_close(&report.store);
    return status;
}

SIM_COMMAND(command, .name = "report", .usage = "[--db FILE] [-o DIR] [run:ID ...]",
        .about = "the trace database as pages for a browser",
        .help = "Writes DIR/index.html and a page for one failure of each cause, or for the runs\n"
                "that are named. The pages need no network and no script. DIR is " FOLDER
                "\nwhere nothing else is said.\n",
        .options = SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(FOLDER) | SIM_CLI_OPTION_BIT(HELP),
        .arguments_max = UINT32_MAX, .run = report_command);
