/*
 * site.c -- the pages of a report that are not about one failure, as files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/base/ask.h"
#include "reports/overview/coverage.h"
#include "reports/overview/overview.h"
#include "runtime/base/assert.h"
#include "sim/cli/cli.h"

#define LCOV_USUAL "build/coverage/html"

struct site {
    const char *folder;
    struct sim_store *store;
    const struct report_failures *failures;
    char *lcov; /* A URL relative to the folder; NULL: none. */
};

/* ---- Files. ---------------------------------------------------------------------------------- */

/* Ends the page, writes it, frees it. 0, or the exit status after a line. */
static int
save(const struct site *site, struct report_html *html, enum sim_store_err err, const char *name)
{
    int status = 0;
    char *path = NULL;
    report_html_end(html);
    int made = asprintf(&path, "%s/%s", site->folder, name);
    rt_assert(made >= 0);
    if (err != SIM_STORE_OK) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(site->store));
    } else if (!report_html_save(html, path)) {
        status = sim_cli_fail(
                SIM_EXIT_SYSTEM, "%s: %s; name another folder with -o", path, strerror(errno));
    }
    free(path);
    report_html_fini(html);
    return status;
}

/* ---- lcov. ----------------------------------------------------------------------------------- */

/* A path as it stands in a URL. */
static void
put_url(FILE *file, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/";
    for (; *path != '\0'; path++) {
        (void)fprintf(file, strchr(plain, *path) != NULL ? "%c" : "%%%02X", (unsigned char)*path);
    }
}

/* From one folder to a file, both by their real names. */
static char *
relative_url(const char *from, const char *to)
{
    char *url = NULL;
    size_t size = 0;
    size_t common = 0;
    for (size_t i = 0; from[i] == to[i] && from[i] != '\0'; i++) {
        common = from[i] == '/' ? i + 1 : common;
    }
    /* All of `from` leads to `to`. */
    if (strncmp(from, to, strlen(from)) == 0 && to[strlen(from)] == '/') {
        common = strlen(from) + 1;
    }
    FILE *file = open_memstream(&url, &size);
    rt_assert(file != NULL);
    for (const char *at = from + common; common <= strlen(from) && *at != '\0';) {
        (void)fputs("../", file);
        at += strcspn(at, "/");
        at += *at == '/';
    }
    put_url(file, to + common);
    (void)fclose(file);
    return url;
}

/* Without --lcov it is the folder that `make coverage` writes, if it exists. */
static int
find_lcov(struct site *site, const char *lcov)
{
    char *path = NULL;
    if (lcov == NULL && access(LCOV_USUAL "/index.html", R_OK) != 0) {
        return 0;
    }
    lcov = lcov != NULL ? lcov : LCOV_USUAL;
    int made = asprintf(&path, "%s/index.html", lcov);
    rt_assert(made >= 0);
    char *there = realpath(path, NULL);
    char *here = realpath(site->folder, NULL);
    int status = 0;
    if (there == NULL || here == NULL) {
        status = sim_cli_fail(SIM_EXIT_USAGE, "%s: %s; --lcov names the folder that genhtml wrote",
                path, strerror(errno));
    } else {
        site->lcov = relative_url(here, there);
    }
    free(here);
    free(there);
    free(path);
    return status;
}

/* ---- Pages. ---------------------------------------------------------------------------------- */

static int
make_commands(const struct site *site, const struct report_commands *commands)
{
    int status = 0;
    for (size_t i = 0; commands->count > 1 && i < commands->count && status == 0; i++) {
        char name[48];
        struct report_html html;
        report_html_begin(&html, "One command", REPORT_NAV_COMMAND);
        enum sim_store_err err =
                report_command_put(&html, site->store, site->failures, &commands->commands[i]);
        (void)snprintf(name, sizeof(name), "command-%zu.html", i + 1);
        status = save(site, &html, err, name);
    }
    return status;
}

static int
make_index(const struct site *site)
{
    struct report_commands commands;
    struct report_html html;
    enum sim_store_err err = report_commands_read(site->store, &commands);
    report_html_begin(&html, "rewake report", REPORT_NAV_INDEX);
    if (err == SIM_STORE_OK) {
        err = report_overview_put(&html, site->store, site->failures, &commands);
    }
    int status = save(site, &html, err, "index.html");
    return status == 0 ? make_commands(site, &commands) : status;
}

static int
make_covered(const struct site *site, const struct report_sweep *sweep,
        const struct report_growth *growth)
{
    char name[48];
    struct report_html html;
    report_html_begin(&html, sweep->scenario, REPORT_NAV_COVERED);
    enum sim_store_err err = report_covered_put(&html, site->store, sweep, growth);
    (void)snprintf(name, sizeof(name), "coverage-%lld.html", (long long)sweep->sweep);
    return save(site, &html, err, name);
}

static int
make_coverage_index(const struct site *site)
{
    struct report_sweeps list = {.sweeps = NULL};
    struct report_growths growths = {.count = 0};
    struct report_html html;
    int64_t *sweeps = NULL;
    size_t count = 0;
    enum sim_store_err err = report_sweeps_newest(site->store, NULL, 0, &sweeps, &count);
    if (err == SIM_STORE_OK) {
        err = report_sweeps_read(site->store, sweeps, count, &list);
    }
    if (err == SIM_STORE_OK) {
        err = report_growths_read(site->store, &list, &growths);
    }
    report_html_begin(&html, "Coverage", REPORT_NAV_COVERAGE);
    if (err == SIM_STORE_OK) {
        err = report_coverage_put(&html, site->store, &list, &growths, site->lcov);
    }
    int status = save(site, &html, err, "coverage.html");
    report_growths_done(&growths);
    report_sweeps_done(&list);
    free(sweeps);
    return status;
}

/* Of all sweeps that a page links to: the newest of them. */
static int
make_coverage(const struct site *site)
{
    struct report_sweeps list = {.sweeps = NULL};
    struct report_growths growths = {.count = 0};
    int64_t sweeps[REPORT_COVERED_MAX];
    size_t count = 0;
    struct report_ask ask = report_ask(site->store, "SELECT sweep FROM sweeps ORDER BY 1 DESC");
    while (count < REPORT_COVERED_MAX && report_row(&ask)) {
        sweeps[count++] = report_int(&ask, 0);
    }
    enum sim_store_err err = report_done(&ask);
    if (err == SIM_STORE_OK) {
        err = report_sweeps_read(site->store, sweeps, count, &list);
    }
    if (err == SIM_STORE_OK) {
        err = report_growths_read(site->store, &list, &growths);
    }
    int status = 0;
    if (err != SIM_STORE_OK) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(site->store));
    }
    for (size_t i = 0; i < list.count && status == 0; i++) {
        status = make_covered(site, &list.sweeps[i], &growths.sweeps[i]);
    }
    report_growths_done(&growths);
    report_sweeps_done(&list);
    return status == 0 ? make_coverage_index(site) : status;
}

int
report_site_make(const char *folder, struct sim_store *store,
        const struct report_failures *failures, const char *lcov)
{
    struct site site = {.folder = folder, .store = store, .failures = failures};
    int status = find_lcov(&site, lcov);
    if (status == 0) {
        status = make_index(&site);
    }
    if (status == 0) {
        status = make_coverage(&site);
    }
    free(site.lcov);
    return status;
}
