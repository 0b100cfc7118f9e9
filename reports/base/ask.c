/*
 * ask.c -- one query of the trace database, row by row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/ask.h"

#include <sqlite3.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"

static void
note(struct report_ask *ask, int rc)
{
    if (ask->err == SIM_STORE_OK) {
        ask->err = sim_store_refused(ask->store, rc);
    }
}

struct report_ask
report_ask(struct sim_store *store, const char *sql)
{
    struct report_ask ask = {.store = store, .next = 1};
    note(&ask, sqlite3_prepare_v2(sim_store_handle(store), sql, -1, &ask.statement, NULL));
    rt_assert(ask.err != SIM_STORE_OK || sqlite3_stmt_readonly(ask.statement) != 0);
    return ask;
}

void
report_put_int(struct report_ask *ask, int64_t value)
{
    if (ask->err == SIM_STORE_OK) {
        note(ask, sqlite3_bind_int64(ask->statement, ask->next++, value));
    }
}

void
report_put_text(struct report_ask *ask, const char *text)
{
    if (ask->err == SIM_STORE_OK) {
        note(ask, sqlite3_bind_text(ask->statement, ask->next++, text, -1, SQLITE_STATIC));
    }
}

bool
report_row(struct report_ask *ask)
{
    if (ask->err != SIM_STORE_OK) {
        return false;
    }
    int rc = sqlite3_step(ask->statement);
    note(ask, rc);
    return rc == SQLITE_ROW;
}

bool
report_null(struct report_ask *ask, int column)
{
    return sqlite3_column_type(ask->statement, column) == SQLITE_NULL;
}

int64_t
report_int(struct report_ask *ask, int column)
{
    return sqlite3_column_int64(ask->statement, column);
}

const char *
report_text(struct report_ask *ask, int column)
{
    const unsigned char *text = sqlite3_column_text(ask->statement, column);
    return text != NULL ? (const char *)text : "";
}

const void *
report_blob(struct report_ask *ask, int column, size_t *ret_size)
{
    const void *bytes = sqlite3_column_blob(ask->statement, column);
    *ret_size = (size_t)sqlite3_column_bytes(ask->statement, column);
    return bytes;
}

void
report_row_read(
        struct report_ask *ask, const struct report_column *columns, size_t count, void *object)
{
    for (size_t i = 0; i < count; i++) {
        void *member = (char *)object + columns[i].offset;
        int64_t number = report_int(ask, (int)i);
        switch (columns[i].type) {
        case REPORT_BOOL:
            *(bool *)member = number != 0;
            break;
        case REPORT_U32:
            *(uint32_t *)member = (uint32_t)number;
            break;
        case REPORT_I64:
            *(int64_t *)member = number;
            break;
        case REPORT_U64:
            *(uint64_t *)member = (uint64_t)number;
            break;
        case REPORT_TEXT:
            *(char **)member = sim_heap_text(report_text(ask, (int)i));
            break;
        }
    }
}

void
report_row_free(const struct report_column *columns, size_t count, void *object)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i].type == REPORT_TEXT) {
            char **text = (void *)((char *)object + columns[i].offset);
            free(*text);
            *text = NULL;
        }
    }
}

enum sim_store_err
report_done(struct report_ask *ask)
{
    (void)sqlite3_finalize(ask->statement); /* Its error was that of the last step. */
    ask->statement = NULL;
    return ask->err;
}

bool
report_has_table(struct sim_store *store, const char *name)
{
    struct report_ask ask = report_ask(store, "SELECT 1 FROM sqlite_schema WHERE name = ?");
    report_put_text(&ask, name);
    bool there = report_row(&ask);
    return report_done(&ask) == SIM_STORE_OK && there;
}
