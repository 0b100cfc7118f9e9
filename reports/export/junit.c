/*
 * junit.c -- JUnit XML: one case a scenario.
 *
 * The format has no standard. This is the subset that all readers accept, also the strict ones:
 * <testsuites>, one <testsuite>, and in each <testcase> at most one <failure> or <error> before
 * <system-out>. The way to fail with the most runs comes first; the text has all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/export/words.h"
#include "reports/model/flow.h"
#include "sim/base/utf8.h"

/* ---- Text as XML 1.0 takes it. --------------------------------------------------------------- */

/* XML has no way to say most control characters, not even escaped: they become U+FFFD, as do bytes
 * that are no UTF-8. In an attribute, line ends and tabs are escaped: a reader would make blanks
 * of them. */
static bool
is_allowed(uint32_t character)
{
    return character == '\t' || character == '\n' || character == '\r' ||
           (character >= 0x20 && character < 0xd800) ||
           (character >= 0xe000 && character < 0xfffe) || character >= 0x10000;
}

static const char *
escape_text(uint32_t character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\r':
        return "&#13;"; /* A reader would make a line end of it. */
    default:
        return is_allowed(character) ? NULL : SIM_NO_CHARACTER_UTF8;
    }
}

static const char *
escape_attribute(uint32_t character)
{
    return character == '"'    ? "&quot;"
           : character == '\n' ? "&#10;"
           : character == '\t' ? "&#9;"
                               : escape_text(character);
}

static void
put_text(FILE *file, const char *text)
{
    sim_escape_put(file, text, escape_text);
}

static void
put_attribute(FILE *file, const char *name, const char *value)
{
    (void)fprintf(file, " %s=\"", name);
    sim_escape_put(file, value, escape_attribute);
    (void)fputc('"', file);
}

/* ---- Cases. ---------------------------------------------------------------------------------- */

static bool
is_failure(const struct report_sweep *sweep)
{
    return report_sweep_end(sweep) == REPORT_FAILED;
}

static bool
is_error(const struct report_sweep *sweep)
{
    return report_sweep_end(sweep) == REPORT_CUT;
}

static void
put_number(FILE *file, const char *name, int64_t number)
{
    (void)fprintf(file, " %s=\"%lld\"", name, (long long)number);
}

static void
put_seconds(FILE *file, int64_t ms)
{
    (void)fprintf(file, " time=\"%lld.%03lld\"", (long long)(ms / 1000), (long long)(ms % 1000));
}

static void
put_freed(FILE *file, char *text, const char *end)
{
    put_text(file, text);
    (void)fputs(end, file);
    free(text);
}

/* ---- A way to fail, as text. ----------------------------------------------------------------- */

static void
put_way(const struct report_export *export, const struct report_sweep *sweep,
        const struct report_way *way)
{
    FILE *file = export->file;
    char *place = report_way_place(way);
    char *answer = report_way_answer(way);
    put_text(file, way->verdict);
    (void)fputs(": ", file);
    put_text(file, report_way_message(way));
    (void)fputs("\n", file);
    put_text(file, answer);
    (void)fputs(answer[0] != '\0' ? "\n" : "", file);
    free(answer);
    if (place[0] != '\0') {
        (void)fputs("at ", file);
        put_text(file, place);
        (void)fputs("\n", file);
    }
    free(place);
    put_freed(file, report_way_count(sweep, way), "\n");
    put_freed(file, report_way_command(export, sweep, way, "replay"), "\n");
    put_freed(file, report_way_command(export, sweep, way, "explain"), "\n");
}

static void
put_failure(const struct report_export *export, const struct report_sweep *sweep)
{
    FILE *file = export->file;
    const struct report_way *first = report_sweep_first_way(sweep);
    (void)fputs("      <failure", file);
    put_attribute(file, "message", report_way_message(first));
    put_attribute(file, "type", first->verdict);
    (void)fputs(">", file);
    for (size_t i = 0; i < sweep->way_count; i++) {
        if (report_way_counts(sweep, &sweep->ways[i])) {
            (void)fputs(&sweep->ways[i] != first ? "\n" : "", file);
            put_way(export, sweep, &sweep->ways[i]);
        }
    }
    (void)fputs("</failure>\n", file);
}

/* It failed without a failing run, or was cut short. */
static void
put_reason(FILE *file, const struct report_sweep *sweep)
{
    char *reason = report_sweep_reason(sweep);
    (void)fprintf(file, "      <%s", is_error(sweep) ? "error" : "failure");
    put_attribute(file, "message", reason);
    put_attribute(file, "type", is_error(sweep) ? "cut-short" : "not-as-stated");
    (void)fputs("/>\n", file);
    free(reason);
}

/* ---- Cases and suites. ----------------------------------------------------------------------- */

/* "zoo/async-io-07b6cca/broken" is in the class "rewake.zoo.async-io-07b6cca". */
static void
put_class(FILE *file, const char *scenario)
{
    char class[512];
    const char *slash = strrchr(scenario, '/');
    int length = slash != NULL ? (int)(slash - scenario) : 0;
    (void)snprintf(class, sizeof(class), "rewake%s%.*s", length > 0 ? "/" : "", length, scenario);
    for (char *c = class; *c != '\0'; c++) {
        *c = *c == '/' ? '.' : *c;
    }
    put_attribute(file, "classname", class);
}

/* The explanation, else the locations that the events of the run name. */
static enum sim_store_err
put_explanation(const struct report_export *export, const struct report_way *way)
{
    FILE *file = export->file;
    struct report_flow flow = {.count = 0};
    enum sim_store_err err = SIM_STORE_OK;
    if (way->explanation[0] != '\0') {
        (void)fputs("\n", file);
        put_text(file, way->explanation);
        (void)fputs("\n", file);
        return err;
    }
    err = report_flow_read(export->store, way->run, &flow);
    for (size_t i = 0; i < flow.count; i++) {
        const struct report_flow_place *place = &flow.places[i];
        (void)fprintf(file, "%sstep %lld: ", i == 0 ? "\n" : "", (long long)place->step);
        put_text(file, place->text);
        (void)fputs(" (", file);
        put_text(file, place->file);
        (void)fprintf(file, ":%lld ", (long long)place->line);
        put_text(file, place->function);
        (void)fputs(")\n", file);
    }
    report_flow_done(&flow);
    return err;
}

static enum sim_store_err
put_case(const struct report_export *export, const struct report_sweep *sweep)
{
    FILE *file = export->file;
    (void)fputs("    <testcase", file);
    put_attribute(file, "name", sweep->scenario);
    put_class(file, sweep->scenario);
    put_seconds(file, sweep->elapsed_ms);
    (void)fputs(">\n", file);
    if (report_sweep_first_way(sweep) != NULL) {
        put_failure(export, sweep);
    } else if (report_sweep_end(sweep) != REPORT_PASSED) {
        put_reason(file, sweep);
    }
    (void)fputs("      <system-out>", file);
    put_freed(file, report_sweep_sentence(sweep), "\n");
    enum sim_store_err err = SIM_STORE_OK;
    for (size_t i = 0; i < sweep->way_count && err == SIM_STORE_OK; i++) {
        err = put_explanation(export, &sweep->ways[i]);
    }
    (void)fputs("</system-out>\n    </testcase>\n", file);
    return err;
}

static void
put_totals(FILE *file, const struct report_sweeps *list)
{
    int64_t failures = 0;
    int64_t errors = 0;
    int64_t ms = 0;
    for (size_t i = 0; i < list->count; i++) {
        failures += is_failure(&list->sweeps[i]);
        errors += is_error(&list->sweeps[i]);
        ms += list->sweeps[i].elapsed_ms;
    }
    (void)fputs(" name=\"rewake\"", file);
    put_number(file, "tests", (int64_t)list->count);
    put_number(file, "failures", failures);
    put_number(file, "errors", errors);
    put_seconds(file, ms);
}

/* When the first sweep began, UTC. */
static void
put_date(FILE *file, const struct report_sweeps *list)
{
    char text[40];
    struct tm date;
    time_t seconds = list->count > 0 ? (time_t)(list->sweeps[0].started_ms / 1000) : 0;
    if (list->count > 0 && gmtime_r(&seconds, &date) != NULL &&
            strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &date) > 0) {
        put_attribute(file, "timestamp", text);
    }
}

enum sim_store_err
report_write_junit(const struct report_export *export, const struct report_sweeps *list)
{
    FILE *file = export->file;
    enum sim_store_err err = SIM_STORE_OK;
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", file);
    put_totals(file, list);
    (void)fputs(">\n  <testsuite", file);
    put_totals(file, list);
    put_date(file, list);
    (void)fputs(">\n", file);
    for (size_t i = 0; i < list->count && err == SIM_STORE_OK; i++) {
        err = put_case(export, &list->sweeps[i]);
    }
    (void)fputs("  </testsuite>\n</testsuites>\n", file);
    return err;
}
