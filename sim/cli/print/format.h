/*
 * format.h -- files for other programs, made from the database.
 *
 * A format registers itself (SIM_FORMAT), as a command does: `rewake run --junit` and `rewake
 * export` look it up by name, and a folder above sim/ brings its own. A format tells of sweeps, or
 * of one run, and reads nothing but the database that it is lent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_PRINT_FORMAT_H
#define SIM_CLI_PRINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/store/store.h"

/* What is to be told, and where. All of it is lent. */
struct sim_export {
    struct sim_store *store;
    FILE *file;
    const int64_t
            *sweeps; /* Of formats that tell of sweeps, in the order in which they are told. */
    size_t sweep_count;
    int64_t run;    /* Of formats that describe one run. */
    const char *db; /* As it was named, for commands to paste; NULL: none was named. */
};

struct sim_format {
    const char *name;   /* "junit", as on the command line. */
    const char *about;  /* One line: what it is, and who reads it. */
    const char *suffix; /* Of the files' names: ".xml"; several with a blank between. */
    const char *place;  /* An environment variable that names a file to append to where nobody
                         * names one; NULL: none. */
    bool of_run;        /* It tells of one run; else of sweeps. */
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

/* The format of runs to which the name of the file at `path` belongs by its end; NULL: none. */
const struct sim_format *sim_format_of_file(const char *path);

/* Opens `path` ("-": stdout) for a file of some format; `append`: behind what is there. NULL after
 * a line on stderr. */
FILE *sim_format_open(const char *path, bool append);

/* Writes it, and closes export->file, which came from sim_format_open(path). 0, or the exit status
 * after a line. */
int sim_format_write(
        const struct sim_format *format, const struct sim_export *export, const char *path);

#endif
