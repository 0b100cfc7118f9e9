/*
 * markdown.c -- a summary in GitHub's Markdown: a row a sweep, a section for each way to fail.
 *
 * Appended to the file that GITHUB_STEP_SUMMARY names, unless -o names another. GitHub takes a
 * megabyte; beyond a hundred ways to fail the rest is only counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/export/words.h"
#include "sim/base/heap.h"
#include "sim/base/utf8.h"

#define WAYS_MAX 100u
#define ROWS_MAX 500u

/* What would be markup is escaped, a control character is a blank. */
static const char *
escape(uint32_t c)
{
    static const char marks[] = "\\`*_[]<>|~&$";
    static char escaped[sizeof(marks)][3];
    const char *mark = c > 0 && c < 0x80 ? strchr(marks, (int)c) : NULL;
    if (mark == NULL) {
        return c < ' ' || c == 0x7f ? " " : NULL;
    }
    (void)snprintf(escaped[mark - marks], sizeof(escaped[0]), "\\%c", *mark);
    return escaped[mark - marks];
}

/* Text in a line of Markdown. */
static void
put_text(FILE *file, const char *text)
{
    if (*text != '\0' && strchr("#+-", *text) != NULL) {
        (void)fputc('\\', file); /* Of a heading or a list, at the beginning of a line only. */
    }
    sim_escape_put(file, text, escape);
}

static void
put_freed(FILE *file, char *text, const char *end)
{
    put_text(file, text);
    (void)fputs(end, file);
    free(text);
}

/* A block of code: its fence is longer than any run of backticks inside. */
static void
put_code(FILE *file, char *text)
{
    size_t fence = 3;
    for (const char *at = strchr(text, '`'); at != NULL; at = strchr(at, '`')) {
        size_t run = strspn(at, "`");
        fence = run >= fence ? run + 1 : fence;
        at += run;
    }
    char *ticks = sim_heap_new(fence + 1, 1);
    memset(ticks, '`', fence);
    (void)fprintf(file, "%ssh\n", ticks);
    for (const char *c = text; *c != '\0'; c++) {
        (void)fputc((unsigned char)*c < ' ' ? ' ' : *c, file);
    }
    (void)fprintf(file, "\n%s\n\n", ticks);
    free(ticks);
    free(text);
}

/* ---- What was run. --------------------------------------------------------------------------- */

static const char *
end_word(const struct report_sweep *sweep)
{
    static const char *const words[] = {"passed", "**failed**", "cut short"};
    return words[report_sweep_end(sweep)];
}

static void
put_row(FILE *file, const struct report_sweep *sweep)
{
    (void)fputs("| ", file);
    put_text(file, sweep->scenario);
    (void)fprintf(file, " | %s | %lld | %lld | %lld.%01lld |\n", end_word(sweep),
            (long long)report_sweep_runs(sweep), (long long)report_sweep_failed(sweep),
            (long long)(sweep->elapsed_ms / 1000), (long long)(sweep->elapsed_ms % 1000 / 100));
}

/* Failed ones first: a long list is cut at its end. */
static void
put_table(FILE *file, const struct report_sweeps *list)
{
    static const enum report_end order[] = {REPORT_FAILED, REPORT_CUT, REPORT_PASSED};
    size_t rows = 0;
    (void)fputs("| scenario | | runs | failed | seconds |\n|---|---|---:|---:|---:|\n", file);
    for (size_t pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < list->count && rows < ROWS_MAX; i++) {
            if (report_sweep_end(&list->sweeps[i]) == order[pass]) {
                put_row(file, &list->sweeps[i]);
                rows++;
            }
        }
    }
    if (rows < list->count) {
        (void)fprintf(file, "\n%zu more are in the database.\n", list->count - rows);
    }
    (void)fputc('\n', file);
}

static void
put_sentence(FILE *file, const struct report_sweeps *list)
{
    size_t ends[3] = {0, 0, 0};
    long long runs = 0;
    for (size_t i = 0; i < list->count; i++) {
        ends[report_sweep_end(&list->sweeps[i])]++;
        runs += report_sweep_runs(&list->sweeps[i]);
    }
    (void)fprintf(file, "%zu scenario%s, %lld run%s: %zu passed, %zu failed", list->count,
            list->count == 1 ? "" : "s", runs, runs == 1 ? "" : "s", ends[REPORT_PASSED],
            ends[REPORT_FAILED]);
    if (ends[REPORT_CUT] > 0) {
        (void)fprintf(file, ", %zu cut short", ends[REPORT_CUT]);
    }
    (void)fputs(".\n\n", file);
}

/* ---- What failed. ---------------------------------------------------------------------------- */

static void
put_way(const struct report_export *export, const struct report_sweep *sweep,
        const struct report_way *way)
{
    FILE *file = export->file;
    (void)fputs("### ", file);
    put_text(file, sweep->scenario);
    (void)fputs(": ", file);
    put_text(file, way->verdict);
    (void)fputs("\n\n", file);
    put_text(file, report_way_message(way));
    (void)fputs("  \n", file);
    if (way->answer.text[0] != '\0') {
        put_freed(file, report_way_answer(way), "  \n");
    }
    if (way->file[0] != '\0') {
        put_freed(file, report_way_place(way), "  \n");
    }
    put_freed(file, report_way_count(sweep, way), "\n\n");
    put_code(file, report_way_command(export, sweep, way, "explain"));
}

static void
put_ways(const struct report_export *export, const struct report_sweeps *list)
{
    size_t ways = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct report_sweep *sweep = &list->sweeps[i];
        for (size_t j = 0; j < sweep->way_count; j++) {
            if (!report_way_counts(sweep, &sweep->ways[j])) {
                continue;
            }
            if (++ways <= WAYS_MAX) {
                put_way(export, sweep, &sweep->ways[j]);
            }
        }
        if (report_sweep_first_way(sweep) == NULL && report_sweep_end(sweep) != REPORT_PASSED) {
            (void)fputs("### ", export->file);
            put_text(export->file, sweep->scenario);
            (void)fputs("\n\n", export->file);
            put_freed(export->file, report_sweep_reason(sweep), "\n\n");
        }
    }
    if (ways > WAYS_MAX) {
        (void)fprintf(
                export->file, "%zu more ways to fail are in the database.\n", ways - WAYS_MAX);
    }
}

enum sim_store_err
report_write_markdown(const struct report_export *export, const struct report_sweeps *list)
{
    (void)fputs("## rewake\n\n", export->file);
    put_sentence(export->file, list);
    put_table(export->file, list);
    put_ways(export, list);
    return SIM_STORE_OK;
}
