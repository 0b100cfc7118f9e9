/*
 * export.c -- `rewake export`: the database in formats of other programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/base/nearest.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/subject/subject.h"

static int
list_formats(void)
{
    for (const struct report_format *each = report_formats; each->name != NULL; each++) {
        (void)printf("%-9s %-9s ", each->name, each->write_run != NULL ? "run:ID" : "[PATTERN]");
        sim_print_folded(each->about, 20, 20);
    }
    return SIM_EXIT_HELD;
}

/* ---- What to write. -------------------------------------------------------------------------- */

/* "run:12" */
static bool
parse_run(const char *text, int64_t *ret_run)
{
    uint64_t run = 0;
    bool good = strncmp(text, "run:", 4) == 0 && sim_number_parse(text + 4, INT64_MAX, &run);
    *ret_run = (int64_t)run;
    return good && run > 0;
}

static int
find_run(struct sim_cli *cli, struct report_export *export)
{
    struct sim_found_run found;
    if (cli->count != 2 || !parse_run(cli->arguments[1], &export->run)) {
        return sim_cli_fail(SIM_EXIT_USAGE,
                "%s exports one run: name it as run:ID; `rewake query failures` lists them",
                cli->arguments[0]);
    }
    int status =
            sim_cli_stored(export->store, sim_store_find_run(export->store, export->run, &found));
    if (status != 0) {
        return status;
    }
    bool has_events = found.events_stored > 0;
    sim_found_run_clear(&found);
    if (!has_events) {
        return sim_cli_fail(SIM_EXIT_NOTHING,
                "the events of %s are not stored: `rewake replay %s` replays it and stores them",
                cli->arguments[1], cli->arguments[1]);
    }
    return 0;
}

/* One sweep by its number, or the newest of each scenario that matches. */
static int
find_sweeps(struct sim_cli *cli, struct report_export *export, int64_t **ret_sweeps)
{
    int status = sim_cli_stored(
            export->store, report_sweeps_newest(export->store, cli->arguments + 1, cli->count - 1,
                                   ret_sweeps, &export->sweep_count));
    if (status != 0) {
        return status;
    }
    export->sweeps = *ret_sweeps;
    if (export->sweep_count == 0) {
        return sim_cli_fail(SIM_EXIT_NOTHING,
                "the database has no sweep%s%s; `rewake run` makes one",
                cli->count > 1 ? " of " : "", cli->count > 1 ? cli->arguments[1] : "");
    }
    return 0;
}

FILE *
sim_export_open(const char *path, bool append)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, append ? "ae" : "we");
    if (file == NULL) {
        (void)sim_cli_fail(SIM_EXIT_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
    }
    return file;
}

int
sim_export_write(
        const struct report_format *format, const struct report_export *export, const char *path)
{
    enum sim_store_err err = report_format_write(format, export);
    /* stdout is checked at the end of the program. */
    bool lost = export->file != stdout && ferror(export->file) != 0;
    lost = (export->file != stdout && fclose(export->file) != 0) || lost;
    int status = sim_cli_stored(export->store, err);
    if (status == 0 && lost) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s could not be written: %s", path, strerror(errno));
    }
    return status;
}

/* A file is replaced only by a whole one: it may be the last good result. */
static int
write_whole(const struct report_format *format, struct report_export *export, const char *path)
{
    char *beside = sim_heap_printf("%s.new", path);
    int status = SIM_EXIT_SYSTEM;
    export->file = sim_export_open(beside, false);
    if (export->file != NULL) {
        status = sim_export_write(format, export, beside);
        if (status == 0 && rename(beside, path) != 0) {
            status = sim_cli_fail(
                    SIM_EXIT_SYSTEM, "%s: it cannot be replaced: %s", path, strerror(errno));
        }
        if (status != 0) {
            (void)unlink(beside);
        }
    }
    free(beside);
    return status;
}

/* A regular file, or none yet: no link, device or pipe. */
static bool
is_plain(const char *path)
{
    struct stat what;
    return strcmp(path, "-") != 0 && (lstat(path, &what) != 0 || S_ISREG(what.st_mode));
}

/* To -o, else to the file that the variable of the format names, else to stdout. */
static int
write_to(struct sim_cli *cli, const struct report_format *format, struct report_export *export)
{
    const char *path = cli->settings.folder;
    bool append = false;
    if (path == NULL && format->environment != NULL) {
        path = getenv(format->environment);
        append = path != NULL && *path != '\0';
        path = append ? path : NULL;
    }
    path = path != NULL ? path : "-";
    if (!append && is_plain(path)) {
        return write_whole(format, export, path);
    }
    export->file = sim_export_open(path, append);
    return export->file != NULL ? sim_export_write(format, export, path) : SIM_EXIT_SYSTEM;
}

static int
export_format(struct sim_cli *cli, const struct report_format *format, struct sim_store *store)
{
    int64_t *sweeps = NULL;
    struct report_export export = {.store = store, .db = cli->settings.db};
    int status =
            format->write_run != NULL ? find_run(cli, &export) : find_sweeps(cli, &export, &sweeps);
    if (status == 0) {
        status = write_to(cli, format, &export);
    }
    free(sweeps);
    return status;
}

static int
refuse_format(const char *name)
{
    struct sim_nearest nearest = {.word = name};
    char hint[SIM_NEAREST_HINT_MAX];
    for (const struct report_format *each = report_formats; each->name != NULL; each++) {
        sim_nearest_try(&nearest, each->name, each->name);
    }
    return sim_cli_fail(SIM_EXIT_USAGE, "there is no format '%s'%s (`rewake export` lists them)",
            name, sim_nearest_hint(&nearest, hint));
}

static int
export_command(struct sim_cli *cli)
{
    struct sim_store *store = NULL;
    if (cli->count == 0) {
        return list_formats();
    }
    const struct report_format *format = report_format_find(cli->arguments[0]);
    if (format == NULL) {
        return refuse_format(cli->arguments[0]);
    }
    int status = sim_cli_open_read(cli, &store);
    status = status == 0 ? export_format(cli, format, store) : status;
    sim_store_close(&store);
    return status;
}

static const char *
next_format(const char *name)
{
    const struct report_format *each = report_formats;
    while (each->name != NULL && strcmp(each->name, name) <= 0) {
        each++;
    }
    return each->name;
}

SIM_COMMAND(command, .name = "export", .purpose = SIM_PURPOSE_SHARE,
        .usage = "[FORMAT [PATTERN...|run:ID]] [-o FILE]",
        .about = "write what was found for another program to read",
        .help = "Without a FORMAT, lists them. A format of sweeps exports the newest sweep of "
                "each\n"
                "scenario that matches, a format of runs exports one run; to stdout, or to the\n"
                "file of -o. `rewake run --junit FILE` exports the sweeps of that command.\n",
        .options = SIM_OPT(DB) | SIM_OPT(FOLDER), .takes = SIM_TAKES_NAMES | SIM_TAKES_RUNS,
        .arguments_max = UINT32_MAX, .run = export_command, .word = next_format);
