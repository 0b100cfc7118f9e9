/*
 * query.c -- a query, with its result as a table or as JSON.
 *
 * Only a single reading statement is allowed. SQLite reports whether it reads; an authorizer
 * refuses ATTACH, as a query must not open (or make) another file, and pragmas that set something.
 *
 * A table needs the widths of its columns before its first line, so the first rows are kept until
 * the widths are known, and later ones are not: a long result takes no memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/base/json.h"
#include "sim/base/page.h"
#include "sim/store/internal.h"

#define MEASURED_ROWS 500 /* Rows that decide how wide a column is. */
#define WIDTH_MAX 60      /* A longer text shifts the rest of its line only. */

/* ---- The answer in progress. ----------------------------------------------------------------- */

struct answer {
    struct sim__statement statement;
    bool (*line)(const char *text, size_t length, void *argument);
    void *argument;
    bool stopped; /* `line` wants no more. */
    int columns;
    char **names;           /* Of columns, for JSON. */
    size_t *widths;         /* Of a table. */
    struct sim_page *cells; /* Rows kept until the widths are known. */
    size_t rows;            /* Of those. */
    struct sim_page out;
};

/* SQLite returns SQLITE_ERROR (and the authorizer SQLITE_AUTH) for an invalid text, perhaps only
 * after some rows. */
static enum sim_store_err
refuse_question(struct sim_store *store, int rc)
{
    int primary = rc & 0xff;
    bool text = primary == SQLITE_ERROR || primary == SQLITE_AUTH || primary == SQLITE_RANGE ||
                primary == SQLITE_MISMATCH || primary == SQLITE_TOOBIG;
    return text ? sim__store_refuse(store, SIM_STORE_QUERY, "%s", sqlite3_errmsg(store->db))
                : sim__store_sqlite(store, rc);
}

/* The next row. Records the error of a query that fails after some rows. */
static bool
answer_row(struct answer *answer)
{
    struct sim__statement *statement = &answer->statement;
    if (statement->store->err != SIM_STORE_OK) {
        return false;
    }
    int rc = sqlite3_step(statement->stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        (void)refuse_question(statement->store, rc);
    }
    return rc == SQLITE_ROW;
}

/* Passes the line on and empties it. */
static void
answer_line(struct answer *answer)
{
    if (!answer->stopped) {
        answer->stopped =
                !answer->line(sim_page_text(&answer->out), answer->out.length, answer->argument);
    }
    sim_page_clear(&answer->out);
}

/* Columns of a terminal, approximately: characters, not bytes. */
static size_t
text_width(const char *text)
{
    return sim_text_width(text, strlen(text));
}

/* ---- Values. --------------------------------------------------------------------------------- */

static void
put_hex(struct sim_page *line, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sim_page_printf(line, "%02x", bytes[i]);
    }
}

/* Text as SQLite would convert it; a blob in hexadecimal; NULL as nothing. */
static void
put_plain(struct sim_page *line, sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_BLOB) {
        put_hex(line, sqlite3_column_blob(stmt, column),
                (size_t)sqlite3_column_bytes(stmt, column));
        return;
    }
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    for (; text != NULL && *text != '\0'; text++) {
        /* A row is a line. */
        char shown = (unsigned char)*text < ' ' ? ' ' : *text;
        sim_page_add(line, &shown, 1);
    }
}

/* Whether a reader that knows only doubles would change it. Seeds are text always, so that a
 * column has one type. */
static bool
is_text_in_json(const char *name, int64_t value)
{
    bool seed = strcmp(name, "seed") == 0 || strncmp(name, "seed_", 5) == 0;
    return seed || value > INT64_C(9007199254740992) || value < INT64_C(-9007199254740992);
}

/* JSON has no infinity; SQLite prints one as a word. */
static bool
is_number_in_json(const char *text)
{
    return strspn(text, "+-.0123456789e") == strlen(text);
}

static void
put_json(struct sim_json *json, const char *key, sqlite3_stmt *stmt, int column)
{
    int type = sqlite3_column_type(stmt, column);
    struct sim_page plain = {0};
    put_plain(&plain, stmt, column);
    const char *text = sim_page_text(&plain);
    if (type == SQLITE_TEXT) {
        sim_json_text(json, key, (const char *)sqlite3_column_text(stmt, column));
    } else if (type == SQLITE_BLOB ||
               (type == SQLITE_INTEGER && is_text_in_json(sqlite3_column_name(stmt, column),
                                                  sqlite3_column_int64(stmt, column)))) {
        sim_json_text(json, key, text);
    } else {
        sim_json_raw(json, key, *text != '\0' && is_number_in_json(text) ? text : "null");
    }
    sim_page_fini(&plain);
}

static bool
is_taken(char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The name of a column, numbered where an earlier one has it: "n", "n:2", "n:3". */
static char *
name_of_column(char *const *names, sqlite3_stmt *stmt, int column)
{
    const char *plain = sqlite3_column_name(stmt, column);
    char *name = sqlite3_mprintf("%s", plain);
    for (int number = 2; name != NULL && is_taken(names, column, name); number++) {
        sqlite3_free(name);
        name = sqlite3_mprintf("%s:%d", plain, number);
    }
    return name;
}

static void
answer_names(struct answer *answer)
{
    answer->names = sim_heap_new((size_t)answer->columns, sizeof(*answer->names));
    for (int i = 0; i < answer->columns; i++) {
        answer->names[i] = name_of_column(answer->names, answer->statement.stmt, i);
        rt_assert(answer->names[i] != NULL);
    }
}

static void
answer_json(struct answer *answer)
{
    answer_names(answer);
    while (!answer->stopped && answer_row(answer)) {
        char *text = NULL;
        size_t length = 0;
        struct sim_json json;
        sim_json_begin(&json, sim_heap_must(open_memstream(&text, &length)), NULL);
        for (int i = 0; i < answer->columns; i++) {
            put_json(&json, answer->names[i], answer->statement.stmt, i);
        }
        sim_json_end(&json);
        (void)fclose(json.file);
        sim_page_add(&answer->out, text, length - 1); /* Without the end of the line. */
        free(text);
        answer_line(answer);
    }
}

/* ---- A table. -------------------------------------------------------------------------------- */

/* One cell, and blanks up to the column's width unless it is the last. */
static void
put_cell(struct answer *answer, int column, const char *text)
{
    sim_page_put(&answer->out, text);
    if (column + 1 < answer->columns) {
        size_t width = text_width(text);
        size_t wanted = answer->widths[column];
        sim_page_fill(&answer->out, ' ', (wanted > width ? wanted - width : 0) + 2);
    }
}

static void
measure(struct answer *answer, int column, const char *text)
{
    size_t width = text_width(text);
    width = width < WIDTH_MAX ? width : WIDTH_MAX;
    if (width > answer->widths[column]) {
        answer->widths[column] = width;
    }
}

static void
keep_row(struct answer *answer)
{
    struct sim_page *row = answer->cells + answer->rows * (size_t)answer->columns;
    for (int i = 0; i < answer->columns; i++) {
        put_plain(&row[i], answer->statement.stmt, i);
        measure(answer, i, sim_page_text(&row[i]));
    }
    answer->rows++;
}

static void
print_heading(struct answer *answer)
{
    for (int i = 0; i < answer->columns; i++) {
        put_cell(answer, i, sqlite3_column_name(answer->statement.stmt, i));
    }
    answer_line(answer);
    for (int i = 0; i < answer->columns; i++) {
        sim_page_fill(&answer->out, '-', answer->widths[i]);
        sim_page_put(&answer->out, i + 1 < answer->columns ? "  " : "");
    }
    answer_line(answer);
}

static void
print_kept(struct answer *answer)
{
    for (size_t row = 0; row < answer->rows; row++) {
        for (int i = 0; i < answer->columns; i++) {
            put_cell(answer, i,
                    sim_page_text(&answer->cells[row * (size_t)answer->columns + (size_t)i]));
        }
        answer_line(answer);
    }
}

static void
print_rest(struct answer *answer)
{
    while (!answer->stopped && answer_row(answer)) {
        for (int i = 0; i < answer->columns; i++) {
            struct sim_page cell = {0};
            put_plain(&cell, answer->statement.stmt, i);
            put_cell(answer, i, sim_page_text(&cell));
            sim_page_fini(&cell);
        }
        answer_line(answer);
    }
}

static void
answer_table(struct answer *answer)
{
    size_t columns = (size_t)answer->columns;
    answer->widths = sim_heap_new(columns, sizeof(*answer->widths));
    answer->cells = sim_heap_new(columns * MEASURED_ROWS, sizeof(*answer->cells));
    for (int i = 0; i < answer->columns; i++) {
        measure(answer, i, sqlite3_column_name(answer->statement.stmt, i));
    }
    bool more = true;
    while (more && answer->rows < MEASURED_ROWS) {
        more = answer_row(answer);
        if (more) {
            keep_row(answer);
        }
    }
    /* A query that fails prints nothing, not even a heading. */
    if (answer->statement.store->err == SIM_STORE_OK) {
        print_heading(answer);
        print_kept(answer);
        if (more) {
            print_rest(answer);
        }
    }
}

static void
answer_fini(struct answer *answer)
{
    for (size_t i = 0; answer->cells != NULL && i < answer->rows * (size_t)answer->columns; i++) {
        sim_page_fini(&answer->cells[i]);
    }
    for (int i = 0; answer->names != NULL && i < answer->columns; i++) {
        sqlite3_free(answer->names[i]);
    }
    free(answer->names);
    free(answer->cells);
    free(answer->widths);
    sim_page_fini(&answer->out);
}

/* ---- Allowed statements. --------------------------------------------------------------------- */

/* Pragmas whose argument names what they describe; all others with an argument set something. */
static bool
pragma_reads(const char *name)
{
    static const char *const names[] = {"table_info", "table_xinfo", "table_list", "index_list",
            "index_info", "index_xinfo", "foreign_key_list", "integrity_check", "quick_check"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (sqlite3_stricmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int
authorize(void *argument, int action, const char *one, const char *two, const char *database,
        const char *trigger)
{
    (void)argument;
    (void)database;
    (void)trigger;
    if (action == SQLITE_ATTACH || action == SQLITE_DETACH) {
        return SQLITE_DENY;
    }
    bool sets = action == SQLITE_PRAGMA && two != NULL && !pragma_reads(one);
    return sets ? SQLITE_DENY : SQLITE_OK;
}

/* Whether nothing but blanks, semicolons and comments follows. */
static bool
is_the_only_one(sqlite3 *db, const char *tail)
{
    while (*tail != '\0') {
        sqlite3_stmt *next = NULL;
        const char *rest = tail;
        int rc = sqlite3_prepare_v2(db, tail, -1, &next, &rest);
        (void)sqlite3_finalize(next);
        if (rc != SQLITE_OK || next != NULL) {
            return false;
        }
        tail = rest;
    }
    return true;
}

/* The statement, which is to be finalized also after an error. */
static sqlite3_stmt *
prepare_question(struct sim_store *store, const char *sql)
{
    const char *tail = sql;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, &tail);
    if (rc != SQLITE_OK) {
        (void)refuse_question(store, rc);
    } else if (stmt == NULL) {
        (void)sim__store_refuse(store, SIM_STORE_QUERY, "there is no statement");
    } else if (!sqlite3_stmt_readonly(stmt) || sqlite3_column_count(stmt) == 0) {
        (void)sim__store_refuse(store, SIM_STORE_QUERY, "it does not read");
    } else if (!is_the_only_one(store->db, tail)) {
        (void)sim__store_refuse(store, SIM_STORE_QUERY, "more than one statement");
    }
    return stmt;
}

static void
bind_values(struct sim_store *store, sqlite3_stmt *stmt, const struct sim_store_value *values,
        uint32_t count)
{
    for (uint32_t i = 0; i < count && store->err == SIM_STORE_OK; i++) {
        int index = sqlite3_bind_parameter_index(stmt, values[i].name);
        int rc = index > 0 ? sqlite3_bind_text(stmt, index, values[i].text, -1, SQLITE_STATIC)
                           : SQLITE_OK;
        if (rc != SQLITE_OK) {
            (void)refuse_question(store, rc);
        }
    }
}

enum sim_store_err
sim_store_query_with(struct sim_store *store, const char *sql, const struct sim_store_value *values,
        uint32_t count, enum sim_store_form form,
        bool (*line)(const char *text, size_t length, void *argument), void *argument)
{
    sim__store_enter(store);
    rt_assert(sql != NULL && line != NULL);
    struct answer answer = {
            .statement = {.store = store, .next = 1}, .line = line, .argument = argument};
    (void)sqlite3_set_authorizer(store->db, authorize, NULL);
    answer.statement.stmt = prepare_question(store, sql);
    bind_values(store, answer.statement.stmt, values, count);
    if (store->err == SIM_STORE_OK) {
        answer.columns = sqlite3_column_count(answer.statement.stmt);
        (form == SIM_STORE_JSON ? answer_json : answer_table)(&answer);
        answer_fini(&answer);
    }
    sim__store_done(&answer.statement);
    (void)sqlite3_set_authorizer(store->db, NULL, NULL);
    return store->err;
}

enum sim_store_err
sim_store_query(struct sim_store *store, const char *sql, enum sim_store_form form,
        bool (*line)(const char *text, size_t length, void *argument), void *argument)
{
    return sim_store_query_with(store, sql, NULL, 0, form, line, argument);
}
