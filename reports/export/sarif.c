/*
 * sarif.c -- SARIF 2.1.0: one result for each way to fail, for tools that show findings at lines.
 *
 * A rule is a verdict and its oracle. If the events of the run are stored, the result has a code
 * flow: from the line that stored the waker to the line that missed the wake. Files of the
 * repository are relative to SRCROOT; others have their absolute path (reports/base/path.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/path.h"
#include "reports/export/words.h"
#include "reports/model/flow.h"
#include "runtime/base/assert.h"
#include "sim/base/build.h"
#include "sim/base/heap.h"
#include "sim/base/json.h"

#define SCHEMA \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

struct writing {
    const struct report_export *export;
    const struct report_sweeps *list;
    struct sim_json json;
    char **rules; /* "lost-wakeup/rewake", each once. */
    uint32_t rule_count;
    uint32_t rule_capacity;
    enum sim_store_err err;
};

/* {"text": …} */
#define MESSAGE(key, of) SIM_FIELDS(key, SIM_TEXT("text", of))

/* ---- Rules. ---------------------------------------------------------------------------------- */

static char *
rule_of(const struct report_way *way)
{
    return sim_heap_printf("%s/%s", way->verdict, way->oracle);
}

static size_t
find_rule(const struct writing *writing, const char *rule)
{
    size_t i = 0;
    while (i < writing->rule_count && strcmp(writing->rules[i], rule) != 0) {
        i++;
    }
    return i;
}

static void
note_rules(struct writing *writing, const struct report_sweep *sweep)
{
    for (size_t i = 0; i < sweep->way_count; i++) {
        char *rule = rule_of(&sweep->ways[i]);
        if (!report_way_counts(sweep, &sweep->ways[i]) ||
                find_rule(writing, rule) < writing->rule_count) {
            free(rule);
            continue;
        }
        sim_heap_grow(&writing->rules, writing->rule_count, &writing->rule_capacity,
                sizeof(*writing->rules));
        writing->rules[writing->rule_count++] = rule;
    }
}

/* Each verdict has a section in sim/docs/verdicts.md. SIM_DOCS_URL, of the build, is where these
 * pages are published, with a slash at its end: a helpUri must be absolute. */
#ifdef SIM_DOCS_URL
#define HELP_URL SIM_DOCS_URL
#else
#define HELP_URL NULL
#endif

/* The meaning of verdict and oracle, from the database. */
static void
put_rule(struct writing *writing, const char *rule)
{
    const char *url = HELP_URL;
    const char *slash = strchr(rule, '/');
    char *verdict = sim_heap_must(strndup(rule, (size_t)(slash - rule)));
    char *meaning = report_word_meaning(writing->export->store, "verdicts", verdict);
    char *oracle = report_word_meaning(writing->export->store, "oracles", slash + 1);
    char *both = sim_heap_printf("%s; %s", meaning, oracle);
    char *help = sim_heap_printf("Usual causes and what to do: sim/docs/verdicts.md#%s", verdict);
    char *uri = sim_heap_printf("%sverdicts.md#%s", url != NULL ? url : "", verdict);
    SIM_JSON_PUT(&writing->json,
            SIM_FIELDS(NULL, SIM_TEXT("id", rule), MESSAGE("shortDescription", meaning),
                    MESSAGE("fullDescription", both), MESSAGE("help", help),
                    SIM_IF(url != NULL, SIM_TEXT("helpUri", uri)),
                    SIM_FIELDS("defaultConfiguration", SIM_TEXT("level", "error"))));
    free(uri);
    free(help);
    free(both);
    free(oracle);
    free(meaning);
    free(verdict);
}

static void
put_tool(struct writing *writing)
{
    struct sim_json *json = &writing->json;
    sim_json_open(json, "tool", '{');
    sim_json_open(json, "driver", '{');
    SIM_JSON_PUT(json, SIM_TEXT("name", "rewake"), SIM_TEXT("semanticVersion", SIM_VERSION));
    sim_json_open(json, "rules", '[');
    for (size_t i = 0; i < writing->rule_count; i++) {
        put_rule(writing, writing->rules[i]);
    }
    sim_json_close(json, ']');
    sim_json_close(json, '}');
    sim_json_close(json, '}');
}

/* ---- Places. --------------------------------------------------------------------------------- */

/* RFC 3986: characters of a path that need no escape. */
static bool
is_path_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-._~/!$&'()*+,;=@", c) != NULL;
}

static char *
uri_of(const char *file)
{
    char *uri = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&uri, &size);
    rt_assert(out != NULL);
    (void)fputs(*file == '/' ? "file://" : "", out);
    for (; *file != '\0'; file++) {
        (void)fprintf(out, is_path_character(*file) ? "%c" : "%%%02X", (unsigned char)*file);
    }
    (void)fclose(out);
    return uri;
}

/* Begins a location; the caller closes it. */
static void
open_location(struct sim_json *json, const char *key, const char *file, int64_t line,
        const char *function)
{
    char *uri = uri_of(file);
    sim_json_open(json, key, '{');
    SIM_JSON_PUT(
            json, SIM_FIELDS("physicalLocation",
                          SIM_FIELDS("artifactLocation", SIM_TEXT("uri", uri),
                                  SIM_IF(*file != '/', SIM_TEXT("uriBaseId", "SRCROOT"))),
                          SIM_IF(line > 0, SIM_FIELDS("region", SIM_INTEGER("startLine", line)))));
    if (*function != '\0') {
        sim_json_open(json, "logicalLocations", '[');
        SIM_JSON_PUT(
                json, SIM_FIELDS(NULL, SIM_TEXT("name", function), SIM_TEXT("kind", "function")));
        sim_json_close(json, ']');
    }
    free(uri);
}

/* The line of the failure, else the file of the scenario, else none. */
static void
put_locations(struct sim_json *json, const struct report_sweep *sweep, const struct report_way *way)
{
    bool line = way->file[0] != '\0';
    sim_json_open(json, "locations", '[');
    if (line || sweep->file[0] != '\0') {
        open_location(json, NULL, line ? way->file : sweep->file, way->line, way->function);
        sim_json_close(json, '}');
    }
    sim_json_close(json, ']');
}

/* `steps`: the text has their numbers; not if the message is on a smaller run, with other steps. */
static void
put_flow(struct sim_json *json, const struct report_sweep *sweep, const struct report_flow *flow,
        bool steps)
{
    sim_json_open(json, "codeFlows", '[');
    sim_json_open(json, NULL, '{');
    sim_json_open(json, "threadFlows", '[');
    sim_json_open(json, NULL, '{');
    sim_json_open(json, "locations", '[');
    for (size_t i = 0; i < flow->count; i++) {
        const struct report_flow_place *place = &flow->places[i];
        char text[512];
        int used = steps ? snprintf(text, sizeof(text), "step %lld: ", (long long)place->step) : 0;
        (void)snprintf(text + used, sizeof(text) - (size_t)used, "%.400s", place->text);
        sim_json_open(json, NULL, '{');
        char *file = report_path(place->file, sweep->library);
        open_location(json, "location", file, place->line, place->function);
        free(file);
        SIM_JSON_PUT(json, MESSAGE("message", text));
        sim_json_close(json, '}');
        sim_json_signed(json, "executionOrder", (int64_t)i + 1);
        sim_json_close(json, '}');
    }
    sim_json_close(json, ']');
    sim_json_close(json, '}');
    sim_json_close(json, ']');
    sim_json_close(json, '}');
    sim_json_close(json, ']');
}

/* ---- Results. -------------------------------------------------------------------------------- */

static void
put_result(struct writing *writing, const struct report_sweep *sweep, const struct report_way *way)
{
    struct sim_json *json = &writing->json;
    struct report_flow flow = {.count = 0};
    char *rule = rule_of(way);
    char *count = report_way_count(sweep, way);
    char *answer = report_way_answer(way);
    char *message = sim_heap_printf("%s: %s. %s%s%s", sweep->scenario, report_way_message(way),
            answer, answer[0] != '\0' ? " " : "", count);
    /* The same finding even if its line has moved or it was explained in the meantime. */
    char *fingerprint = sim_heap_printf("%s:%s:%s:%s:%s", sweep->scenario, way->verdict,
            way->oracle, way->site != 0 ? way->file : "", way->site != 0 ? way->function : "");
    char *replay = report_way_command(writing->export, sweep, way, "replay");
    if (writing->err == SIM_STORE_OK) {
        writing->err = report_flow_read(writing->export->store, way->run, &flow);
    }
    sim_json_open(json, NULL, '{');
    SIM_JSON_PUT(json, SIM_TEXT("ruleId", rule), SIM_NUMBER("ruleIndex", find_rule(writing, rule)),
            SIM_TEXT("level", "error"), MESSAGE("message", message));
    put_locations(json, sweep, way);
    if (flow.count > 1) {
        put_flow(json, sweep, &flow, way->answer.text[0] == '\0');
    }
    SIM_JSON_PUT(json, SIM_INTEGER("occurrenceCount", report_way_runs(way)),
            SIM_FIELDS("partialFingerprints", SIM_TEXT("rewakeWayToFail/v1", fingerprint)),
            SIM_FIELDS("properties", SIM_TEXT("scenario", sweep->scenario),
                    SIM_TEXT("replay", replay), SIM_INTEGER("runsFailed", report_way_runs(way)),
                    SIM_INTEGER("runs", report_sweep_runs(sweep))));
    sim_json_close(json, '}');
    report_flow_done(&flow);
    free(replay);
    free(fingerprint);
    free(answer);
    free(message);
    free(count);
    free(rule);
}

static void
put_results(struct writing *writing)
{
    sim_json_open(&writing->json, "results", '[');
    for (size_t i = 0; i < writing->list->count; i++) {
        const struct report_sweep *sweep = &writing->list->sweeps[i];
        for (size_t j = 0; j < sweep->way_count; j++) {
            if (report_way_counts(sweep, &sweep->ways[j])) {
                put_result(writing, sweep, &sweep->ways[j]);
            }
        }
    }
    sim_json_close(&writing->json, ']');
}

/* False: the command was cut short; its results are still valid. */
static void
put_invocation(struct writing *writing)
{
    struct sim_json *json = &writing->json;
    bool whole = true;
    for (size_t i = 0; i < writing->list->count; i++) {
        whole = whole && report_sweep_end(&writing->list->sweeps[i]) != REPORT_CUT;
    }
    sim_json_open(json, "invocations", '[');
    SIM_JSON_PUT(json, SIM_FIELDS(NULL, SIM_BOOL("executionSuccessful", whole)));
    sim_json_close(json, ']');
}

static void
put_run(struct writing *writing)
{
    struct sim_json *json = &writing->json;
    sim_json_open(json, NULL, '{');
    put_tool(writing);
    put_invocation(writing);
    /* Where it is, only the reader knows. */
    SIM_JSON_PUT(json,
            SIM_FIELDS("originalUriBaseIds",
                    SIM_FIELDS("SRCROOT", MESSAGE("description", "the root of the repository"))));
    put_results(writing);
    sim_json_close(json, '}');
}

enum sim_store_err
report_write_sarif(const struct report_export *export, const struct report_sweeps *list)
{
    struct writing writing = {.export = export, .list = list};
    for (size_t i = 0; i < writing.list->count; i++) {
        note_rules(&writing, &writing.list->sweeps[i]);
    }
    sim_json_begin(&writing.json, export->file, NULL);
    SIM_JSON_PUT(&writing.json, SIM_TEXT("$schema", SCHEMA), SIM_TEXT("version", "2.1.0"));
    sim_json_open(&writing.json, "runs", '[');
    put_run(&writing);
    sim_json_close(&writing.json, ']');
    sim_json_end(&writing.json);
    (void)fputc('\n', export->file);
    for (size_t i = 0; i < writing.rule_count; i++) {
        free(writing.rules[i]);
    }
    free(writing.rules);
    return writing.err;
}
