/*
 * format.h -- files for other programs, made from the database.
 *
 * A format registers itself (SIM_FORMAT), as a command does: `rewake run --junit` and `rewake
 * export` look it up by name, and a folder above sim/ adds its own. A format describes sweeps, or
 * one run, and reads only the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_PRINT_FORMAT_H
#define SIM_CLI_PRINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/store/read.h"

/* What to write, and where. Borrowed. */
struct sim_export {
    struct sim_store *store;
    FILE *file;
    const int64_t *sweeps; /* Of formats of sweeps, in their order in the file. */
    size_t sweep_count;
    int64_t run;    /* Of formats of one run. */
    const char *db; /* As on the command line, for commands to paste; NULL: it is not there. */
};

struct sim_format {
    const char *name;   /* "junit", as on the command line. */
    const char *about;  /* One line: what it is, and which programs read it. */
    const char *suffix; /* Of the files' names: ".xml"; several with a blank between. */
    const char
            *place; /* An environment variable with the file to append to by default; NULL: none. */
    bool of_run;    /* Of one run; else of sweeps. */
    enum sim_store_err (*write)(const struct sim_export *export);
};

#define SIM_FORMAT(identifier, ...) \
    static const struct sim_format identifier = {__VA_ARGS__}; \
    static const struct sim_format *const identifier##__registered \
            __attribute__((section("rewake_formats"), used)) = &identifier

/* The format called `name`, or NULL. */
const struct sim_format *sim_format_find(const char *name);

/* The first one whose name comes after `name` ("" to begin with); NULL: there is none. */
const struct sim_format *sim_format_next(const char *name);

/* The format of runs that has the suffix of `path`; NULL: none. */
const struct sim_format *sim_format_of_file(const char *path);

/* Opens `path` ("-": stdout) for a file of some format; `append`: at its end. NULL after a line on
 * stderr. */
FILE *sim_format_open(const char *path, bool append);

/* Writes it, and closes export->file, which came from sim_format_open(path). 0, or the exit status
 * after a line. */
int sim_format_write(
        const struct sim_format *format, const struct sim_export *export, const char *path);

#endif
