/*
 * explained.c -- the explanation of a failure, from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/explained.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/base/heap.h"

/* ---- Places. --------------------------------------------------------------------------------- */

static bool
add_location(struct report_explained *explained, uint32_t *capacity, struct report_ask *ask)
{
    sim_heap_grow(&explained->locations, explained->locations_count, capacity,
            sizeof(*explained->locations));
    struct report_location *location = &explained->locations[explained->locations_count++];
    *location = (struct report_location){
            .role = strdup(report_text(ask, 0)),
            .nth = (uint32_t)report_int(ask, 1),
            .file = strdup(report_text(ask, 2)),
            .function = strdup(report_text(ask, 3)),
            .line = (uint32_t)report_int(ask, 4),
            .step = (uint64_t)report_int(ask, 5),
    };
    return location->role != NULL && location->file != NULL && location->function != NULL;
}

static enum sim_store_err
load_locations(struct sim_store *store, struct report_explained *explained)
{
    uint32_t capacity = 0;
    bool memory = true;
    struct report_ask ask = report_ask(store,
            "SELECT role, nth, file, function, line, step FROM explained_places WHERE run = ?"
            " ORDER BY CASE role WHEN 'cause' THEN 0 WHEN 'stored' THEN 1 WHEN 'first' THEN 2"
            " WHEN 'second' THEN 3 ELSE 4 END, nth");
    report_put_int(&ask, explained->run);
    while (memory && report_row(&ask)) {
        memory = add_location(explained, &capacity, &ask);
    }
    enum sim_store_err err = report_done(&ask);
    return err == SIM_STORE_OK && !memory ? sim_store_refused(store, SQLITE_NOMEM) : err;
}

/* ---- The deciding step. ---------------------------------------------------------------------- */

/* The table is missing in the database of an older rewake. */
static enum sim_store_err
load_deciding(struct sim_store *store, struct report_explained *explained)
{
    const char *sql = report_has_table(store, "deciding")
                              ? "SELECT step, told, twin FROM deciding WHERE run = ?"
                              : "SELECT 0, '', '' WHERE ? = 0";
    struct report_ask ask = report_ask(store, sql);
    report_put_int(&ask, explained->run);
    bool known = report_row(&ask);
    explained->decided_step = known ? (uint64_t)report_int(&ask, 0) : 0;
    explained->decided_shown = strdup(known ? report_text(&ask, 1) : "");
    explained->decided_passing = strdup(known ? report_text(&ask, 2) : "");
    enum sim_store_err err = report_done(&ask);
    bool memory = explained->decided_shown != NULL && explained->decided_passing != NULL;
    return err == SIM_STORE_OK && !memory ? sim_store_refused(store, SQLITE_NOMEM) : err;
}

/* ---- The explanation. ------------------------------------------------------------------------ */

/* The columns of explained.sql that are text for people. */
static const char *const names[] = {"headline", "answer", "decision", "ordering", "needed", "why"};
#define TEXTS ((int)(sizeof(names) / sizeof(names[0])))

static struct report_text *
text_at(struct report_explained *explained, int index)
{
    struct report_text *const texts[] = {&explained->headline, &explained->answer,
            &explained->decision, &explained->ordering, &explained->needed, &explained->why};
    return texts[index];
}

static bool
read_texts(struct report_ask *ask, struct report_explained *explained)
{
    bool memory = true;
    for (int i = 0; i < TEXTS; i++) {
        text_at(explained, i)->text = strdup(report_text(ask, i));
        memory = memory && text_at(explained, i)->text != NULL;
    }
    explained->cause = strdup(report_text(ask, TEXTS));
    return memory && explained->cause != NULL;
}

/* References lie inside of the text, one after the other, or are left out. */
static bool
fits(const struct report_text *text, const struct sim_ref *ref)
{
    size_t after = text->refs_count > 0 ? text->refs[text->refs_count - 1].to : 0;
    return ref->from >= after && ref->from < ref->to && ref->to <= strlen(text->text);
}

static enum sim_store_err
load_refs(struct sim_store *store, struct report_explained *explained, int index)
{
    struct report_text *text = text_at(explained, index);
    struct report_ask ask = report_ask(store,
            "SELECT r.value ->> 0, r.value ->> 1, r.value ->> 2 IS NULL, r.value ->> 2"
            " FROM explained AS e, json_each(iif(json_valid(e.refs), e.refs, '{}'), '$.' || ?2) AS "
            "r"
            " WHERE e.run = ?1 ORDER BY r.key");
    uint32_t capacity = 0;
    report_put_int(&ask, explained->run);
    report_put_text(&ask, names[index]);
    while (report_row(&ask)) {
        const struct sim_ref ref = {
                .kind = report_int(&ask, 2) != 0 ? SIM_REF_NAME : SIM_REF_STEP,
                .from = (size_t)report_int(&ask, 0),
                .to = (size_t)report_int(&ask, 1),
                .number = (uint64_t)report_int(&ask, 3),
        };
        if (fits(text, &ref)) {
            sim_heap_grow(&text->refs, text->refs_count, &capacity, sizeof(*text->refs));
            text->refs[text->refs_count++] = ref;
        }
    }
    return report_done(&ask);
}

enum sim_store_err
report_explained_load(struct sim_store *store, int64_t run, struct report_explained *ret_explained)
{
    bool memory = true;
    *ret_explained = (struct report_explained){.run = 0};
    if (!report_has_table(store, "explained_places")) {
        return SIM_STORE_UNKNOWN;
    }
    ret_explained->run = run;
    struct report_ask ask = report_ask(store,
            "SELECT headline, answer, decision, ordering, needed, why, cause, e.told, e.twin,"
            " t.parts_step, w.parts_step FROM explained AS e LEFT JOIN told AS t ON t.told = e.told"
            " LEFT JOIN told AS w ON w.told = e.twin WHERE e.run = ?");
    report_put_int(&ask, run);
    bool known = report_row(&ask);
    if (known) {
        memory = read_texts(&ask, ret_explained);
        ret_explained->shown = report_int(&ask, 7);
        ret_explained->passing = report_int(&ask, 8);
        ret_explained->shown_parts_step = (uint64_t)report_int(&ask, 9);
        ret_explained->passing_parts_step = (uint64_t)report_int(&ask, 10);
    }
    enum sim_store_err err = report_done(&ask);
    if (err == SIM_STORE_OK && !memory) {
        err = sim_store_refused(store, SQLITE_NOMEM);
    }
    if (err == SIM_STORE_OK) {
        err = known ? load_locations(store, ret_explained) : SIM_STORE_UNKNOWN;
    }
    if (err == SIM_STORE_OK) {
        err = load_deciding(store, ret_explained);
    }
    for (int i = 0; i < TEXTS && err == SIM_STORE_OK; i++) {
        err = load_refs(store, ret_explained, i);
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
        free(explained->locations[i].role);
        free(explained->locations[i].file);
        free(explained->locations[i].function);
    }
    free(explained->locations);
    for (int i = 0; i < TEXTS; i++) {
        free(text_at(explained, i)->text);
        free(text_at(explained, i)->refs);
    }
    free(explained->cause);
    free(explained->decided_shown);
    free(explained->decided_passing);
    *explained = (struct report_explained){.run = 0};
}

const struct report_location *
report_explained_location(const struct report_explained *explained, const char *role, uint32_t nth)
{
    for (uint32_t i = 0; i < explained->locations_count; i++) {
        if (explained->locations[i].nth == nth && strcmp(explained->locations[i].role, role) == 0) {
            return &explained->locations[i];
        }
    }
    return NULL;
}
