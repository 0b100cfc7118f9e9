/*
 * site.c -- writes the pages of a report as files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/site.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/base/ask.h"
#include "reports/base/html.h"
#include "reports/overview/overview.h"
#include "reports/page/failure.h"
#include "runtime/base/assert.h"

#define LCOV_USUAL "build/coverage/html"

/* ---- Errors. --------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static enum report_site_err
refuse(struct report_site *site, enum report_site_err err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(site->message, sizeof(site->message), format, arguments);
    va_end(arguments);
    return err;
}

static enum report_site_err
refuse_folder(struct report_site *site, const char *path, int error)
{
    return refuse(
            site, REPORT_SITE_SYSTEM, "%s: %s; name another folder with -o", path, strerror(error));
}

static enum report_site_err
of_store(struct report_site *site, enum sim_store_err err)
{
    return err == SIM_STORE_OK
                   ? REPORT_SITE_OK
                   : refuse(site, REPORT_SITE_SYSTEM, "%s", sim_store_message(site->store));
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static char *
path_of(const char *folder, const char *name)
{
    char *path = NULL;
    int made = asprintf(&path, "%s/%s", folder, name);
    rt_assert(made >= 0);
    return path;
}

enum report_site_err
report_site_check(struct report_site *site)
{
    struct stat what;
    enum report_site_err err = REPORT_SITE_OK;
    if (stat(site->folder, &what) != 0) {
        return err;
    }
    if (!S_ISDIR(what.st_mode) || access(site->folder, W_OK | X_OK) != 0) {
        return refuse_folder(site, site->folder, S_ISDIR(what.st_mode) ? errno : ENOTDIR);
    }
    char *path = path_of(site->folder, "index.html");
    if (access(path, F_OK) == 0 && !report_html_is_ours(path)) {
        err = refuse(site, REPORT_SITE_SYSTEM,
                "%s was not written by `rewake report`, and is kept; name another folder with -o",
                path);
    }
    free(path);
    return err;
}

static enum report_site_err
make_folder(struct report_site *site)
{
    struct stat what;
    if (mkdir(site->folder, 0777) == 0 ||
            (stat(site->folder, &what) == 0 && S_ISDIR(what.st_mode))) {
        return REPORT_SITE_OK;
    }
    return refuse_folder(site, site->folder, errno == EEXIST ? ENOTDIR : errno);
}

/* Writes the page, unless there was an error before, and frees it. */
static enum report_site_err
save(struct report_site *site, struct report_html *html, enum sim_store_err before,
        const char *name)
{
    enum report_site_err err = of_store(site, before);
    char *path = path_of(site->folder, name);
    if (err == REPORT_SITE_OK && !report_html_save(html, path)) {
        err = refuse_folder(site, path, errno);
    }
    free(path);
    report_html_fini(html);
    return err;
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

/* Without --lcov it is the folder that `make coverage` writes, if it exists. *ret_url is from
 * malloc; NULL: there are no pages. */
static enum report_site_err
find_lcov(struct report_site *site, char **ret_url)
{
    enum report_site_err err = REPORT_SITE_OK;
    *ret_url = NULL;
    if (site->lcov == NULL && access(LCOV_USUAL "/index.html", R_OK) != 0) {
        return err;
    }
    char *path = path_of(site->lcov != NULL ? site->lcov : LCOV_USUAL, "index.html");
    char *there = realpath(path, NULL);
    char *here = realpath(site->folder, NULL);
    if (there == NULL || here == NULL) {
        err = refuse(site, REPORT_SITE_UNKNOWN,
                "%s: %s; --lcov names the folder that genhtml wrote", path, strerror(errno));
    } else {
        *ret_url = relative_url(here, there);
    }
    free(here);
    free(there);
    free(path);
    return err;
}

/* ---- Failures. ------------------------------------------------------------------------------- */

static enum report_site_err
make_failure(struct report_site *site, const struct report_places *places,
        const struct report_failure *failure)
{
    int64_t run = failure->run;
    char name[48];
    struct report_html html;
    (void)snprintf(name, sizeof(name), "failure-%lld.html", (long long)run);
    enum sim_store_err err = report_failure_put(&html, site->store, places, failure);
    if (err == SIM_STORE_UNKNOWN) {
        report_html_fini(&html);
        return refuse(site, REPORT_SITE_UNKNOWN,
                "the database has no run:%lld; `rewake query` lists those it has", (long long)run);
    }
    return save(site, &html, err, name);
}

static enum report_site_err
make_failures(struct report_site *site)
{
    struct report_places places = {.count = 0};
    int64_t *runs = NULL;
    size_t count = 0;
    enum sim_store_err read = report_places_load(site->store, &places);
    read = read == SIM_STORE_OK ? report_ways_shown(site->store, &runs, &count) : read;
    enum report_site_err err = of_store(site, read);
    err = err == REPORT_SITE_OK ? make_folder(site) : err;
    const int64_t *named = site->run_count > 0 ? site->runs : runs;
    count = site->run_count > 0 ? site->run_count : count;
    for (size_t i = 0; i < count && err == REPORT_SITE_OK; i++) {
        const struct report_failure failure = {
                .run = named[i],
                .before = i > 0 ? named[i - 1] : 0,
                .after = i + 1 < count ? named[i + 1] : 0,
                .db = site->db,
        };
        err = make_failure(site, &places, &failure);
    }
    free(runs);
    report_places_free(&places);
    return err;
}

/* ---- Pages about sweeps. --------------------------------------------------------------------- */

static enum report_site_err
make_commands(struct report_site *site, const struct report_commands *commands)
{
    enum report_site_err err = REPORT_SITE_OK;
    for (size_t i = 0; commands->count > 1 && i < commands->count && err == REPORT_SITE_OK; i++) {
        char name[48];
        struct report_html html;
        report_html_begin(&html, "One command", REPORT_NAV_COMMAND);
        enum sim_store_err put = report_command_put(&html, site, &commands->commands[i]);
        report_html_end(&html);
        (void)snprintf(name, sizeof(name), "command-%zu.html", i + 1);
        err = save(site, &html, put, name);
    }
    return err;
}

static enum report_site_err
make_index(struct report_site *site)
{
    struct report_commands commands;
    struct report_html html;
    enum sim_store_err put = report_commands_read(site->store, &commands);
    report_html_begin(&html, "rewake report", REPORT_NAV_INDEX);
    put = put == SIM_STORE_OK ? report_overview_put(&html, site, &commands) : put;
    report_html_end(&html);
    enum report_site_err err = save(site, &html, put, "index.html");
    return err == REPORT_SITE_OK ? make_commands(site, &commands) : err;
}

static enum report_site_err
make_covered(struct report_site *site, const struct report_sweep *sweep)
{
    char name[48];
    struct report_html html;
    report_html_begin(&html, sweep->scenario, REPORT_NAV_COVERED);
    enum sim_store_err put = report_covered_put(&html, site->store, sweep);
    report_html_end(&html);
    (void)snprintf(name, sizeof(name), "coverage-%lld.html", (long long)sweep->sweep);
    return save(site, &html, put, name);
}

/* Of these sweeps a page each; else one about all of them. */
static enum report_site_err
make_coverage(
        struct report_site *site, const int64_t *sweeps, size_t count, bool each, const char *lcov)
{
    struct report_html html;
    struct report_sweeps list = {.sweeps = NULL};
    enum sim_store_err read = report_sweeps_read(site->store, sweeps, count, &list);
    enum report_site_err err = of_store(site, read);
    if (err == REPORT_SITE_OK && !each) {
        report_html_begin(&html, "Coverage", REPORT_NAV_COVERAGE);
        enum sim_store_err put = report_coverage_put(&html, site->store, &list, lcov);
        report_html_end(&html);
        err = save(site, &html, put, "coverage.html");
    }
    for (size_t i = 0; each && i < list.count && err == REPORT_SITE_OK; i++) {
        err = make_covered(site, &list.sweeps[i]);
    }
    report_sweeps_done(&list);
    return err;
}

static enum report_site_err
make_coverages(struct report_site *site, const char *lcov)
{
    int64_t sweeps[REPORT_COVERED_MAX];
    size_t count = 0;
    int64_t *newest = NULL;
    size_t newest_count = 0;
    struct report_ask ask = report_ask(site->store, "SELECT sweep FROM sweeps ORDER BY 1 DESC");
    while (count < REPORT_COVERED_MAX && report_row(&ask)) {
        sweeps[count++] = report_int(&ask, 0);
    }
    enum report_site_err err = of_store(site, report_done(&ask));
    if (err == REPORT_SITE_OK) {
        err = of_store(site, report_sweeps_newest(site->store, NULL, 0, &newest, &newest_count));
    }
    if (err == REPORT_SITE_OK) {
        err = make_coverage(site, sweeps, count, true, NULL);
    }
    if (err == REPORT_SITE_OK) {
        err = make_coverage(site, newest, newest_count, false, lcov);
    }
    free(newest);
    return err;
}

enum report_site_err
report_site_make(struct report_site *site)
{
    char *lcov = NULL;
    enum report_site_err err = make_failures(site);
    err = err == REPORT_SITE_OK ? find_lcov(site, &lcov) : err;
    err = err == REPORT_SITE_OK ? make_index(site) : err;
    err = err == REPORT_SITE_OK ? make_coverages(site, lcov) : err;
    free(lcov);
    return err;
}
