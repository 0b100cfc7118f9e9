/*
 * github.c -- annotations for GitHub's runner.
 *
 * An annotation is a line "::error file=…,line=…,title=…::message"; the runner takes it out of a
 * step's output and shows it at that line. In a value %, CR and LF are escaped, in a property also
 * ':' and ','. Only files of the repository can carry one: they are relative to it
 * (reports/base/path.h), and another file is named in the message instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "reports/export/words.h"
#include "sim/base/utf8.h"

/* ---- Annotations. ---------------------------------------------------------------------------- */

static const char *
escape_value(uint32_t c)
{
    return c == '%'               ? "%25"
           : c == '\r'            ? "%0D"
           : c == '\n'            ? "%0A"
           : c < ' ' || c == 0x7f ? " " /* Control characters. */
                                  : NULL;
}

static const char *
escape_property(uint32_t c)
{
    return c == ':' ? "%3A" : c == ',' ? "%2C" : escape_value(c);
}

static void
put_value(FILE *file, const char *text)
{
    sim_escape_put(file, text, escape_value);
}

static void
put_property(FILE *file, const char *text)
{
    sim_escape_put(file, text, escape_property);
}

static void
put_freed(FILE *file, char *text)
{
    put_value(file, text);
    free(text);
}

/* "::error file=a.c,line=3,title="; line 0: of the whole file. */
static void
put_head(FILE *file, const char *path, int64_t line)
{
    (void)fputs("::error ", file);
    if (path[0] != '\0' && path[0] != '/') {
        (void)fputs("file=", file);
        put_property(file, path);
        if (line > 0) {
            (void)fprintf(file, ",line=%lld", (long long)line);
        }
        (void)fputc(',', file);
    }
    (void)fputs("title=", file);
}

static void
put_annotation(const struct report_export *export, const struct report_sweep *sweep,
        const struct report_way *way)
{
    FILE *file = export->file;
    put_head(file, way->file[0] != '\0' ? way->file : sweep->file, way->line);
    put_property(file, way->verdict);
    (void)fputs(" in ", file);
    put_property(file, sweep->scenario);
    (void)fputs("::", file);
    put_value(file, report_way_message(way));
    (void)fputs("%0A", file);
    if (way->answer.text[0] != '\0') {
        put_freed(file, report_way_answer(way));
        (void)fputs("%0A", file);
    }
    if (way->file[0] != '\0') {
        put_freed(file, report_way_place(way));
        (void)fputs("%0A", file);
    }
    put_freed(file, report_way_count(sweep, way));
    (void)fputs("%0A", file);
    put_freed(file, report_way_command(export, sweep, way, "replay"));
    (void)fputc('\n', file);
}

static void
put_reason(FILE *file, const struct report_sweep *sweep)
{
    put_head(file, sweep->file, 0);
    put_property(file, sweep->scenario);
    (void)fputs("::", file);
    put_freed(file, report_sweep_reason(sweep));
    (void)fputc('\n', file);
}

enum sim_store_err
report_write_github(const struct report_export *export, const struct report_sweeps *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct report_sweep *sweep = &list->sweeps[i];
        for (size_t j = 0; j < sweep->way_count; j++) {
            if (report_way_counts(sweep, &sweep->ways[j])) {
                put_annotation(export, sweep, &sweep->ways[j]);
            }
        }
        if (report_sweep_first_way(sweep) == NULL && report_sweep_end(sweep) != REPORT_PASSED) {
            put_reason(export->file, sweep);
        }
    }
    return SIM_STORE_OK;
}
