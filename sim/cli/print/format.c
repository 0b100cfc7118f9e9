/*
 * format.c -- finds a format, and writes a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/print/format.h"

#include <errno.h>
#include <string.h>

#include "sim/cli/cli.h"

/* A program without reports/, such as that of the tests of sim/, has none. */
#define WEAK __attribute__((weak))
extern const struct sim_format *const __start_rewake_formats[] WEAK;
extern const struct sim_format *const __stop_rewake_formats[] WEAK;

const struct sim_format *
sim_format_find(const char *name)
{
    for (const struct sim_format *const *each = __start_rewake_formats;
            each != __stop_rewake_formats; each++) {
        if (strcmp((*each)->name, name) == 0) {
            return *each;
        }
    }
    return NULL;
}

const struct sim_format *
sim_format_next(const char *name)
{
    const struct sim_format *next = NULL;
    for (const struct sim_format *const *each = __start_rewake_formats;
            each != __stop_rewake_formats; each++) {
        if (strcmp((*each)->name, name) > 0 &&
                (next == NULL || strcmp((*each)->name, next->name) < 0)) {
            next = *each;
        }
    }
    return next;
}

/* With one of the `ends`, which have blanks between them. */
static bool
ends_in(const char *text, const char *ends)
{
    size_t length = strlen(text);
    while (*ends != '\0') {
        size_t end = strcspn(ends, " ");
        if (length > end && strncmp(text + length - end, ends, end) == 0) {
            return true;
        }
        ends += end;
        ends += strspn(ends, " ");
    }
    return false;
}

const struct sim_format *
sim_format_of_file(const char *path)
{
    for (const struct sim_format *each = sim_format_next(""); each != NULL;
            each = sim_format_next(each->name)) {
        if (each->of_run && ends_in(path, each->suffix)) {
            return each;
        }
    }
    return NULL;
}

FILE *
sim_format_open(const char *path, bool append)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, append ? "ae" : "we");
    if (file == NULL) {
        (void)sim_cli_fail(SIM_EXIT_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
    }
    return file;
}

int
sim_format_write(const struct sim_format *format, const struct sim_export *export, const char *path)
{
    enum sim_store_err err = format->write(export);
    /* stdout is checked at the end of the program. */
    bool lost = export->file != stdout && ferror(export->file) != 0;
    lost = (export->file != stdout && fclose(export->file) != 0) || lost;
    if (err != SIM_STORE_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(export->store));
    }
    if (lost) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s could not be written: %s", path, strerror(errno));
    }
    return 0;
}
