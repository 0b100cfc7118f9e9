/*
 * ask.h -- one query of the trace database, row by row.
 *
 * reports/ reads the database and nothing else, so a database from another machine gives the same
 * report. A query keeps its first error until report_done returns it.
 *
 *   struct report_ask ask = report_ask(store, "SELECT run, message FROM failures WHERE run = ?");
 *   report_put_int(&ask, run);
 *   while (report_row(&ask)) {
 *       use(report_int(&ask, 0), report_text(&ask, 1));
 *   }
 *   enum sim_store_err err = report_done(&ask);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/store/read.h"

struct sqlite3_stmt;

struct report_ask {
    struct sim_store *store;
    struct sqlite3_stmt *statement;
    int next;               /* Parameter that the next put binds, from 1. */
    enum sim_store_err err; /* The first error. */
};

/* Prepares `sql`, one reading statement. Needs a report_done, also after an error. */
struct report_ask report_ask(struct sim_store *store, const char *sql);

/* Bind the next parameter. Text is borrowed until report_done; NULL is bound as NULL. */
void report_put_int(struct report_ask *ask, int64_t value);
void report_put_text(struct report_ask *ask, const char *text);

/* The next row; false at the end and after an error. */
bool report_row(struct report_ask *ask);

/* Column `column` (from 0) of the row. NULL reads as 0 and as "". Text and blob are borrowed until
 * the next row. */
bool report_null(struct report_ask *ask, int column);
int64_t report_int(struct report_ask *ask, int column);
const char *report_text(struct report_ask *ask, int column);
const void *report_blob(struct report_ask *ask, int column, size_t *ret_size);

/* ---- Rows as structs. ------------------------------------------------------------------------ */

enum report_type { REPORT_BOOL, REPORT_U32, REPORT_I64, REPORT_U64, REPORT_TEXT };

/* The member that a column of the row is read into. */
struct report_column {
    size_t offset;
    enum report_type type;
};

/* clang-format off: it does not know _Generic. */
#define REPORT_COLUMN(type, member) \
    { \
        offsetof(type, member), _Generic(((type *)NULL)->member, bool: REPORT_BOOL, \
        uint32_t: REPORT_U32, int64_t: REPORT_I64, uint64_t: REPORT_U64, char *: REPORT_TEXT) \
    }
/* clang-format on */
#define REPORT_COLUMNS(columns) (sizeof(columns) / sizeof((columns)[0]))

/* Reads the first `count` columns of the row into `*object`; text is copied; NULL reads as 0 and as
 * "". */
void report_row_read(
        struct report_ask *ask, const struct report_column *columns, size_t count, void *object);

/* Frees the text in it. */
void report_row_free(const struct report_column *columns, size_t count, void *object);

/* ---- The end. -------------------------------------------------------------------------------- */

/* Frees it and returns its first error; sim_store_message has the text. */
enum sim_store_err report_done(struct report_ask *ask);

/* Whether the database has a table or view called `name`. */
bool report_has_table(struct sim_store *store, const char *name);
