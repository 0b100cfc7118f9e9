/*
 * explained.c -- the explanation of a failure, from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/explained.h"

#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/base/heap.h"

/* ---- Text with references. ------------------------------------------------------------------- */

/* References lie inside of the text, one after the other, or are left out. */
static bool
fits(const struct report_text *text, const struct sim_ref *ref)
{
    size_t after = text->refs_count > 0 ? text->refs[text->refs_count - 1].to : 0;
    return ref->from >= after && ref->from < ref->to && ref->to <= strlen(text->text);
}

/* A row has the text; others, a reference each. */
enum sim_store_err
report_text_load(
        struct sim_store *store, int64_t run, const char *name, struct report_text *ret_text)
{
    uint32_t capacity = 0;
    struct report_ask ask = report_ask(store,
            "WITH e AS (SELECT * FROM explained WHERE run = ?1)"
            " SELECT NULL, NULL, NULL, NULL, NULL, CASE ?2 WHEN 'headline' THEN headline"
            "  WHEN 'answer' THEN answer WHEN 'decision' THEN decision WHEN 'ordering' THEN "
            "ordering"
            "  WHEN 'needed' THEN needed ELSE why END FROM e"
            " UNION ALL SELECT * FROM (SELECT r.value ->> 0, r.value ->> 1, r.value ->> 2 IS NULL,"
            "  r.value ->> 2, r.value ->> 3, NULL FROM e,"
            "  json_each(iif(json_valid(e.refs), e.refs, '{}'), '$.' || ?2) AS r ORDER BY r.key)");
    report_put_int(&ask, run);
    report_put_text(&ask, name);
    *ret_text = (struct report_text){
            .text = sim_heap_text(report_row(&ask) ? report_text(&ask, 5) : "")};
    while (report_row(&ask)) {
        const char *file = report_text(&ask, 4);
        struct sim_ref ref = {
                .kind = file[0] != '\0'            ? SIM_REF_LINE
                        : report_int(&ask, 2) != 0 ? SIM_REF_NAME
                                                   : SIM_REF_STEP,
                .from = (size_t)report_int(&ask, 0),
                .to = (size_t)report_int(&ask, 1),
                .number = (uint64_t)report_int(&ask, 3),
        };
        if (fits(ret_text, &ref)) {
            ref.file = ref.kind == SIM_REF_LINE ? sim_heap_text(file) : NULL;
            sim_heap_grow(
                    &ret_text->refs, ret_text->refs_count, &capacity, sizeof(*ret_text->refs));
            ret_text->refs[ret_text->refs_count++] = ref;
        }
    }
    return report_done(&ask);
}

/* A name is in backquotes, which are part of its reference. */
char *
report_text_quoted(const struct report_text *text)
{
    char *copy = sim_heap_text(text->text);
    for (uint32_t i = 0; i < text->refs_count; i++) {
        if (text->refs[i].kind == SIM_REF_NAME) {
            copy[text->refs[i].from] = '\'';
            copy[text->refs[i].to - 1] = '\'';
        }
    }
    return copy;
}

void
report_text_free(struct report_text *text)
{
    for (uint32_t i = 0; i < text->refs_count; i++) {
        free((char *)(uintptr_t)text->refs[i].file);
    }
    free(text->text);
    free(text->refs);
    *text = (struct report_text){.text = NULL};
}

/* ---- Locations. ------------------------------------------------------------------------------ */

static const struct report_column location_columns[] = {
        REPORT_COLUMN(struct report_location, role),
        REPORT_COLUMN(struct report_location, nth),
        REPORT_COLUMN(struct report_location, file),
        REPORT_COLUMN(struct report_location, function),
        REPORT_COLUMN(struct report_location, line),
        REPORT_COLUMN(struct report_location, step),
};

static enum sim_store_err
load_locations(struct sim_store *store, struct report_explained *explained)
{
    uint32_t capacity = 0;
    struct report_ask ask = report_ask(store,
            "SELECT role, nth, file, function, line, step FROM explained_places WHERE run = ?"
            " ORDER BY CASE role WHEN 'cause' THEN 0 WHEN 'stored' THEN 1 WHEN 'first' THEN 2"
            " WHEN 'second' THEN 3 ELSE 4 END, nth");
    report_put_int(&ask, explained->run);
    while (report_row(&ask)) {
        sim_heap_grow(&explained->locations, explained->locations_count, &capacity,
                sizeof(*explained->locations));
        report_row_read(&ask, location_columns, REPORT_COLUMNS(location_columns),
                &explained->locations[explained->locations_count++]);
    }
    return report_done(&ask);
}

/* ---- Lines of source. ------------------------------------------------------------------------ */

static const struct report_column line_columns[] = {
        REPORT_COLUMN(struct report_excerpt_line, file),
        REPORT_COLUMN(struct report_excerpt_line, line),
        REPORT_COLUMN(struct report_excerpt_line, text),
};

/* An older rewake stored none. */
static enum sim_store_err
load_lines(struct sim_store *store, struct report_explained *explained)
{
    uint32_t capacity = 0;
    if (!report_has_table(store, "explained_lines")) {
        return SIM_STORE_OK;
    }
    explained->keeps_lines = true;
    struct report_ask ask = report_ask(store,
            "SELECT file, line, text FROM explained_lines WHERE run = ? ORDER BY file, line");
    report_put_int(&ask, explained->run);
    while (report_row(&ask)) {
        sim_heap_grow(
                &explained->lines, explained->lines_count, &capacity, sizeof(*explained->lines));
        report_row_read(&ask, line_columns, REPORT_COLUMNS(line_columns),
                &explained->lines[explained->lines_count++]);
    }
    return report_done(&ask);
}

static int
against_line(const void *wanted, const void *has)
{
    const struct report_excerpt_line *a = wanted;
    const struct report_excerpt_line *b = has;
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

const char *
report_explained_line(const struct report_explained *explained, const char *file, uint32_t line)
{
    const struct report_excerpt_line wanted = {.file = (char *)(uintptr_t)file, .line = line};
    const struct report_excerpt_line *found =
            explained->lines_count == 0 ? NULL
                                        : bsearch(&wanted, explained->lines, explained->lines_count,
                                                  sizeof(wanted), against_line);
    return found != NULL ? found->text : NULL;
}

/* ---- The explanation. ------------------------------------------------------------------------ */

static const struct report_column explained_columns[] = {
        REPORT_COLUMN(struct report_explained, run),
        REPORT_COLUMN(struct report_explained, shown),
        REPORT_COLUMN(struct report_explained, passing),
        REPORT_COLUMN(struct report_explained, shown_parts_step),
        REPORT_COLUMN(struct report_explained, passing_parts_step),
        REPORT_COLUMN(struct report_explained, decided_step),
        REPORT_COLUMN(struct report_explained, decided_shown),
        REPORT_COLUMN(struct report_explained, decided_passing),
};

/* The columns of explained.sql that are text for people. */
static const struct {
    const char *name;
    size_t offset;
} texts[] = {
        {"headline", offsetof(struct report_explained, headline)},
        {"answer", offsetof(struct report_explained, answer)},
        {"decision", offsetof(struct report_explained, decision)},
        {"ordering", offsetof(struct report_explained, ordering)},
        {"needed", offsetof(struct report_explained, needed)},
        {"why", offsetof(struct report_explained, why)},
};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static struct report_text *
text_at(struct report_explained *explained, size_t index)
{
    return (void *)((char *)explained + texts[index].offset);
}

static const char explained_sql[] =
        "SELECT e.run, e.failing, e.passing, t.parts_step, w.parts_step, d.step, d.failing,"
        " d.passing FROM explained AS e LEFT JOIN explained_runs AS t ON t.shown = e.failing"
        " LEFT JOIN explained_runs AS w ON w.shown = e.passing LEFT JOIN deciding AS d USING (run)"
        " WHERE e.run = ?";

enum sim_store_err
report_explained_load(struct sim_store *store, int64_t run, struct report_explained *ret_explained)
{
    *ret_explained = (struct report_explained){.run = 0};
    if (!report_has_table(store, "explained_places")) {
        return SIM_STORE_UNKNOWN;
    }
    struct report_ask ask = report_ask(store, explained_sql);
    report_put_int(&ask, run);
    bool known = report_row(&ask);
    if (known) {
        report_row_read(&ask, explained_columns, REPORT_COLUMNS(explained_columns), ret_explained);
    }
    enum sim_store_err err = report_done(&ask);
    err = err == SIM_STORE_OK && !known ? SIM_STORE_UNKNOWN : err;
    if (err == SIM_STORE_OK) {
        err = load_locations(store, ret_explained);
    }
    if (err == SIM_STORE_OK) {
        err = load_lines(store, ret_explained);
    }
    for (size_t i = 0; i < TEXTS && err == SIM_STORE_OK; i++) {
        err = report_text_load(store, run, texts[i].name, text_at(ret_explained, i));
    }
    if (err != SIM_STORE_OK) {
        report_explained_free(ret_explained);
    }
    return err;
}

void
report_explained_free(struct report_explained *explained)
{
    for (uint32_t i = 0; i < explained->locations_count; i++) {
        report_row_free(
                location_columns, REPORT_COLUMNS(location_columns), &explained->locations[i]);
    }
    free(explained->locations);
    for (uint32_t i = 0; i < explained->lines_count; i++) {
        report_row_free(line_columns, REPORT_COLUMNS(line_columns), &explained->lines[i]);
    }
    free(explained->lines);
    for (size_t i = 0; i < TEXTS; i++) {
        report_text_free(text_at(explained, i));
    }
    report_row_free(explained_columns, REPORT_COLUMNS(explained_columns), explained);
    *explained = (struct report_explained){.run = 0};
}
