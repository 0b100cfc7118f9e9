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
#include <unistd.h>

#include "reports/base/ask.h"
#include "reports/model/failures.h"
#include "reports/overview/site.h"
#include "reports/page/failure.h"
#include "sim/cli/cli.h"
#include "sim/cli/explained.h"
#include "sim/cli/subject/subject.h"

#define FOLDER "rewake-report"
#define TIME_MS 60000u /* For explanations, without --time. */

struct report {
    struct sim_cli *cli;
    struct sim_store *store;
    const char *folder;
    struct report_places places;
    struct report_failures failures;
    int64_t *named;
    uint32_t named_count;
};

static int
fail_with_store(const struct report *report, enum sim_store_err err)
{
    return sim_cli_fail(err == SIM_STORE_UNKNOWN ? SIM_EXIT_USAGE : SIM_EXIT_SYSTEM, "%s",
            sim_store_message(report->store));
}

static int
fail_unknown(int64_t run)
{
    return sim_cli_fail(SIM_EXIT_USAGE,
            "the database has no run:%lld; `rewake query` lists those it has", (long long)run);
}

static int
open_store(struct report *report)
{
    char message[SIM_STORE_MESSAGE_MAX];
    enum sim_store_err err = sim_store_open_read(
            sim_cli_db(report->cli), 0, message, sizeof(message), &report->store);
    return err == SIM_STORE_OK ? 0 : sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
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
fail_with_folder(const char *folder, int error)
{
    return sim_cli_fail(
            SIM_EXIT_SYSTEM, "%s: %s; name another folder with -o", folder, strerror(error));
}

static int
make_folder(const char *folder)
{
    struct stat what;
    if (mkdir(folder, 0777) == 0 || (stat(folder, &what) == 0 && S_ISDIR(what.st_mode))) {
        return 0;
    }
    return fail_with_folder(folder, errno == EEXIST ? ENOTDIR : errno);
}

/* Checked before failures are explained, which takes long. An index that another program wrote is
 * not replaced. */
static int
check_folder(const char *folder)
{
    struct stat what;
    if (stat(folder, &what) != 0) {
        return 0; /* It is made before the first page. */
    }
    if (!S_ISDIR(what.st_mode) || access(folder, W_OK | X_OK) != 0) {
        return fail_with_folder(folder, S_ISDIR(what.st_mode) ? errno : ENOTDIR);
    }
    char *path = NULL;
    if (asprintf(&path, "%s/index.html", folder) < 0) {
        return fail_with_folder(folder, ENOMEM);
    }
    int status = 0;
    if (access(path, F_OK) == 0 && !report_html_is_ours(path)) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM,
                "%s was not written by `rewake report`, and is kept; name another folder with -o",
                path);
    }
    free(path);
    return status;
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
        status = fail_unknown(run);
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
make_all(struct report *report)
{
    int status = 0;
    for (uint32_t i = 0; i < report->failures.count && status == 0; i++) {
        report->failures.failures[i].page = true;
        status = make_failure(report, report->failures.failures[i].run);
    }
    return status;
}

/* Pages of the named runs only; the index lists the others without a link. */
static int
make_named(struct report *report)
{
    int status = 0;
    for (uint32_t i = 0; i < report->named_count && status == 0; i++) {
        status = make_failure(report, report->named[i]);
        for (uint32_t k = 0; k < report->failures.count; k++) {
            struct report_failure *failure = &report->failures.failures[k];
            failure->page = failure->page || failure->run == report->named[i];
        }
    }
    return status;
}

/* ---- Named runs, and explanations. ----------------------------------------------------------- */

static int
read_names(struct report *report)
{
    report->named = calloc((size_t)report->cli->count + 1, sizeof(*report->named));
    if (report->named == NULL) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "there is no memory for so many runs");
    }
    for (; report->named_count < report->cli->count; report->named_count++) {
        const char *name = report->cli->arguments[report->named_count];
        uint64_t run = 0;
        if (strncmp(name, "run:", 4) != 0 || !sim_number_parse(name + 4, INT64_MAX / 2, &run) ||
                run == 0) {
            return sim_cli_fail(SIM_EXIT_USAGE, "'%s' is not a run: name one as run:ID", name);
        }
        report->named[report->named_count] = (int64_t)run;
    }
    return 0;
}

/* Keeps those of `runs` that have no explanation; all must be in the database. */
static int
keep_unexplained(struct report *report, int64_t *runs, uint32_t *count)
{
    bool table = report_has_table(report->store, "explained");
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        struct report_ask ask = report_ask(
                report->store, table ? "SELECT r.verdict <> 0 AND e.run IS NULL FROM runs AS r"
                                       " LEFT JOIN explained AS e USING (run) WHERE r.run = ?"
                                     : "SELECT verdict <> 0 FROM runs WHERE run = ?");
        report_put_int(&ask, runs[i]);
        bool known = report_row(&ask);
        bool unexplained = known && report_int(&ask, 0) != 0;
        enum sim_store_err err = report_done(&ask);
        if (err != SIM_STORE_OK) {
            return fail_with_store(report, err);
        }
        if (!known) {
            return fail_unknown(runs[i]);
        }
        if (unexplained) {
            runs[kept++] = runs[i];
        }
    }
    *count = kept;
    return 0;
}

/* With the database closed: sim_explain_missing opens it for writing. */
static int
explain(struct report *report, const int64_t *runs, uint32_t count)
{
    struct sim_explained_count done;
    const struct sim_settings *settings = &report->cli->settings;
    uint64_t time_ms = settings->time_ms != 0 ? settings->time_ms : TIME_MS;
    int status = sim_explain_missing(report->cli, runs, count, time_ms, &done);
    if (status == 0 && done.out_of_time) {
        (void)fprintf(stderr,
                "rewake: time is up: %u of %u failures have no explanation; allow more with "
                "--time\n",
                done.missing - done.tried, done.missing);
    }
    return status;
}

static int
explain_named(struct report *report)
{
    uint32_t count = report->named_count;
    int64_t *runs = calloc((size_t)count + 1, sizeof(*runs));
    if (runs == NULL) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "there is no memory for so many runs");
    }
    memcpy(runs, report->named, count * sizeof(*runs));
    int status = open_store(report);
    if (status == 0) {
        status = keep_unexplained(report, runs, &count);
        sim_store_close(&report->store);
    }
    if (status == 0 && count > 0) {
        status = explain(report, runs, count);
    }
    free(runs);
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
        status = report->named_count > 0 ? make_named(report) : make_all(report);
    }
    if (status == 0) {
        status = report_site_make(
                report->folder, report->store, &report->failures, report->cli->settings.lcov);
    }
    if (status == 0) {
        (void)printf("%s/index.html\n", report->folder);
    }
    return status;
}

static int
report_command(struct sim_cli *cli)
{
    struct report report = {
            .cli = cli,
            .folder = cli->settings.folder != NULL ? cli->settings.folder : FOLDER,
    };
    int status = read_names(&report);
    if (status == 0) {
        status = check_folder(report.folder);
    }
    if (status == 0) {
        status = report.named_count > 0 ? explain_named(&report) : explain(&report, NULL, 0);
    }
    if (status == 0) {
        status = open_store(&report);
    }
    if (status == 0) {
        status = make(&report);
    }
    free(report.named);
    report_failures_free(&report.failures);
    report_places_free(&report.places);
    sim_store_close(&report.store);
    return status;
}

SIM_COMMAND(command, .name = "report",
        .usage = "[--db FILE] [-o DIR] [--lcov DIR] [--time 60s] [run:ID ...]",
        .about = "the trace database as pages for a browser",
        .help = "Writes DIR/index.html and a page for one failure of each cause, or for the runs\n"
                "that are named. The pages need no network and no script. The default DIR "
                "is\n" FOLDER
                ". Failures without an explanation are explained first, for a minute or as\n"
                "long as --time says; explanations are stored in the database. A failure that\n"
                "cannot be replayed here is shown as it was found.\n",
        .options = SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(FOLDER) | SIM_CLI_OPTION_BIT(LCOV) |
                   SIM_CLI_OPTION_BIT(TIME) | SIM_CLI_OPTION_BIT(HANG) | SIM_CLI_OPTION_BIT(HELP),
        .takes = SIM_TAKES_RUNS, .arguments_max = UINT32_MAX, .run = report_command);
