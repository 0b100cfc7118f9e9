/*
 * event_table.c -- two arrays as virtual tables: the ring of events, and rows of runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/rows/event_table.h"

#include <string.h>

#include "runtime/base/assert.h"

struct array_vtab {
    sqlite3_vtab base;
    const struct sim__array *array;
};

struct array_cursor {
    sqlite3_vtab_cursor base;
    const struct sim__array *array;
    uint64_t row;
};

/* ---- Columns. Their order is that of the declarations below. --------------------------------- */

/* The four words of an event; schema.sql takes them apart again. */
static uint64_t
event_word(const struct sim_event *event, int column)
{
    switch (column) {
    case 0:
        return event->step | (uint64_t)event->cause << 32;
    case 1:
        return event->object | (uint64_t)event->site << 32;
    case 2:
        return event->await | (uint64_t)event->actor << 32 | (uint64_t)event->kind << 48 |
               (uint64_t)event->flags << 56;
    default:
        rt_assert(column == 3);
        return event->argument;
    }
}

struct sim_event
sim__event_of_words(const uint64_t *words)
{
    return (struct sim_event){
            .step = (uint32_t)words[0],
            .cause = (uint32_t)(words[0] >> 32),
            .object = (uint32_t)words[1],
            .site = (uint32_t)(words[1] >> 32),
            .await = (uint32_t)words[2],
            .actor = (uint16_t)(words[2] >> 32),
            .kind = (uint8_t)(words[2] >> 48),
            .flags = (uint8_t)(words[2] >> 56),
            .argument = words[3],
    };
}

static void
event_column(const struct sim__array *array, uint64_t row, int column, sqlite3_context *to)
{
    const struct sim_record_memory *memory = &array->recorder->memory;
    uint64_t n = array->recorder->count - array->count + row;
    const struct sim_event *event = &memory->events[n & (memory->events_capacity - 1)];
    sqlite3_result_int64(to, (sqlite3_int64)event_word(event, column));
}

#define EVENT_DECLARATION \
    "CREATE TABLE ring_events (step_cause, object_site, await_actor_kind, argument)"

static void
tape_column(const struct sim__array *array, const struct sim_run_row *run, sqlite3_context *to)
{
    if (run->tape_length == 0) {
        sqlite3_result_null(to);
        return;
    }
    rt_assert(run->tape_offset <= array->tapes_size);
    rt_assert(run->tape_length <= array->tapes_size - run->tape_offset);
    /* Static: the bytes do not change until the statement is over. */
    sqlite3_result_blob(to, array->tapes + run->tape_offset, (int)run->tape_length, SQLITE_STATIC);
}

/* The columns that are plain numbers. */
static uint64_t
run_number(const struct sim_run_row *run, int column)
{
    const uint64_t numbers[] = {run->number, run->seed, run->digest, run->steps, run->sim_ns,
            run->decisions, run->deviations, run->verdict, run->oracle, run->actor, run->object,
            run->site, run->fail_step, run->missing_wake_step, run->events, run->fresh, run->news};
    rt_assert((size_t)column < sizeof(numbers) / sizeof(numbers[0]));
    return numbers[column];
}

#define RUN_DECLARATION \
    "CREATE TABLE ring_runs (number, seed, digest, steps, sim_ns, decisions, deviations, verdict," \
    " oracle, actor, object, site, fail_step, missing_wake_step, events, fresh, news, tape)"
#define RUN_COLUMN_ACTOR 9
#define RUN_COLUMN_TAPE 17

static void
run_column(const struct sim__array *array, uint64_t row, int column, sqlite3_context *to)
{
    const struct sim_run_row *run = &array->rows[row];
    if (column == RUN_COLUMN_TAPE) {
        tape_column(array, run, to);
    } else if (column == RUN_COLUMN_ACTOR && run->actor == UINT32_MAX) {
        sqlite3_result_null(to);
    } else {
        sqlite3_result_int64(to, (sqlite3_int64)run_number(run, column));
    }
}

/* ---- What SQLite asks of a virtual table. ---------------------------------------------------- */

static int
array_connect(sqlite3 *db, void *argument, int argc, const char *const *argv,
        sqlite3_vtab **ret_vtab, char **ret_error)
{
    (void)argc;
    (void)argv;
    (void)ret_error;
    const struct sim__array *array = argument;
    int rc = sqlite3_declare_vtab(db, array->declaration);
    if (rc != SQLITE_OK) {
        return rc;
    }
    struct array_vtab *vtab = sqlite3_malloc64(sizeof(*vtab));
    if (vtab == NULL) {
        return SQLITE_NOMEM;
    }
    *vtab = (struct array_vtab){.array = array};
    *ret_vtab = &vtab->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

static int
array_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

/* The only plan: from the first row to the last. */
static int
array_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct array_vtab *self = (const struct array_vtab *)(const void *)vtab;
    info->estimatedRows = (sqlite3_int64)self->array->count;
    return SQLITE_OK;
}

static int
array_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
    const struct array_vtab *self = (const struct array_vtab *)(const void *)vtab;
    struct array_cursor *cursor = sqlite3_malloc64(sizeof(*cursor));
    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    *cursor = (struct array_cursor){.array = self->array};
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static int
array_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int
array_filter(
        sqlite3_vtab_cursor *cursor, int number, const char *text, int argc, sqlite3_value **argv)
{
    (void)number;
    (void)text;
    (void)argc;
    (void)argv;
    struct array_cursor *self = (struct array_cursor *)(void *)cursor;
    self->row = 0;
    return SQLITE_OK;
}

static int
array_next(sqlite3_vtab_cursor *cursor)
{
    struct array_cursor *self = (struct array_cursor *)(void *)cursor;
    self->row++;
    return SQLITE_OK;
}

static int
array_eof(sqlite3_vtab_cursor *cursor)
{
    const struct array_cursor *self = (const struct array_cursor *)(const void *)cursor;
    return self->row >= self->array->count;
}

static int
array_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
    const struct array_cursor *self = (const struct array_cursor *)(const void *)cursor;
    self->array->column(self->array, self->row, column, to);
    return SQLITE_OK;
}

static int
array_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
    const struct array_cursor *self = (const struct array_cursor *)(const void *)cursor;
    *ret_rowid = (sqlite3_int64)self->row;
    return SQLITE_OK;
}

/* Without xCreate a table is there by its name alone, and cannot be made by a statement. */
static const sqlite3_module array_module = {
        .xConnect = array_connect,
        .xBestIndex = array_best_index,
        .xDisconnect = array_disconnect,
        .xOpen = array_open,
        .xClose = array_close,
        .xFilter = array_filter,
        .xNext = array_next,
        .xEof = array_eof,
        .xColumn = array_column,
        .xRowid = array_rowid,
};

int
sim__event_tables_register(
        sqlite3 *db, struct sim__array *ring_events, struct sim__array *ring_runs)
{
    rt_assert(db != NULL);
    *ring_events = (struct sim__array){.declaration = EVENT_DECLARATION, .column = event_column};
    *ring_runs = (struct sim__array){.declaration = RUN_DECLARATION, .column = run_column};
    int rc = sqlite3_create_module(db, "ring_events", &array_module, ring_events);
    if (rc == SQLITE_OK) {
        rc = sqlite3_create_module(db, "ring_runs", &array_module, ring_runs);
    }
    return rc;
}
