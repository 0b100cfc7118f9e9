/*
 * format.h -- files for other programs, made from the database.
 *
 * A format describes sweeps, or one run. `rewake run --junit`, `rewake replay --export` and `rewake
 * export` write through the same table, report_formats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdio.h>

#include "reports/model/run.h"
#include "reports/model/sweeps.h"

/* What to write, and where. Borrowed. */
struct report_export {
    struct sim_store *store;
    FILE *file;
    const int64_t *sweeps; /* Of formats of sweeps, in their order in the file. */
    size_t sweep_count;
    int64_t run;    /* Of formats of one run. */
    const char *db; /* As on the command line, for commands to paste; NULL: it is not there. */
};

/* A format has one of the two functions. */
struct report_format {
    const char *name;        /* "junit", as on the command line. */
    const char *suffix;      /* Of the files' names: ".xml"; several with a blank between. */
    const char *environment; /* A variable with the file to append to by default; NULL: none. */
    const char *about;       /* One line: what it is, and which programs read it. */
    enum sim_store_err (*write_sweeps)(
            const struct report_export *export, const struct report_sweeps *list);
    void (*write_run)(const struct report_run *run, FILE *file);
};

/* All of them, by name; the last has the name NULL. */
extern const struct report_format report_formats[];

/* The format called `name`; NULL: there is none. */
const struct report_format *report_format_find(const char *name);

/* The format of runs that has the suffix of `path`; NULL: none. */
const struct report_format *report_format_of_file(const char *path);

/* Reads the sweeps or the run, and writes them. sim_store_message has an error's text. */
RT_MUST_CHECK enum sim_store_err report_format_write(
        const struct report_format *format, const struct report_export *export);

/* ---- The formats: a file each. --------------------------------------------------------------- */

enum sim_store_err report_write_github(
        const struct report_export *export, const struct report_sweeps *list);
enum sim_store_err report_write_junit(
        const struct report_export *export, const struct report_sweeps *list);
enum sim_store_err report_write_markdown(
        const struct report_export *export, const struct report_sweeps *list);
enum sim_store_err report_write_sarif(
        const struct report_export *export, const struct report_sweeps *list);
void report_write_chrome(const struct report_run *run, FILE *file);
void report_write_graphviz(const struct report_run *run, FILE *file);
void report_write_perfetto(const struct report_run *run, FILE *file);
