/*
 * statement.c -- statements, which do nothing after an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/store/internal.h"

static bool
failed(const struct sim__statement *statement)
{
    return statement->store->err != SIM_STORE_OK;
}

struct sim__statement
sim__store_prepare(struct sim_store *store, const char *sql)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(store->db != NULL);
    struct sim__statement statement = {.store = store, .next = 1};
    if (!failed(&statement)) {
        (void)sim__store_sqlite(
                store, sqlite3_prepare_v2(store->db, sql, -1, &statement.stmt, NULL));
    }
    return statement;
}

void
sim__put_int(struct sim__statement *statement, int64_t value)
{
    if (!failed(statement)) {
        (void)sim__store_sqlite(
                statement->store, sqlite3_bind_int64(statement->stmt, statement->next++, value));
    }
}

void
sim__put_text(struct sim__statement *statement, const char *text)
{
    if (!failed(statement)) {
        (void)sim__store_sqlite(statement->store,
                sqlite3_bind_text(statement->stmt, statement->next++, text, -1, SQLITE_STATIC));
    }
}

void
sim__put_value(struct sim__statement *statement, const sqlite3_value *value)
{
    if (!failed(statement)) {
        (void)sim__store_sqlite(
                statement->store, sqlite3_bind_value(statement->stmt, statement->next++, value));
    }
}

bool
sim__store_row(struct sim__statement *statement)
{
    int rc = failed(statement) ? SQLITE_DONE : sqlite3_step(statement->stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        (void)sim__store_sqlite(statement->store, rc);
    }
    return rc == SQLITE_ROW;
}

void
sim__store_run(struct sim__statement *statement)
{
    while (sim__store_row(statement)) {
    }
    (void)sqlite3_reset(statement->stmt);
    statement->next = 1;
}

void
sim__store_done(struct sim__statement *statement)
{
    (void)sqlite3_finalize(statement->stmt);
    statement->stmt = NULL;
}

/* Prepared, with its parameter if it has one. */
static struct sim__statement
prepare_int(struct sim_store *store, const char *sql, int64_t value)
{
    struct sim__statement statement = sim__store_prepare(store, sql);
    if (sqlite3_bind_parameter_count(statement.stmt) > 0) {
        sim__put_int(&statement, value);
    }
    return statement;
}

void
sim__store_run_int(struct sim_store *store, const char *sql, int64_t value)
{
    struct sim__statement statement = prepare_int(store, sql, value);
    sim__store_run(&statement);
    sim__store_done(&statement);
}

int64_t
sim__store_answer(struct sim__statement *statement, int64_t none)
{
    bool found =
            sim__store_row(statement) && sqlite3_column_type(statement->stmt, 0) != SQLITE_NULL;
    int64_t answer = found ? sqlite3_column_int64(statement->stmt, 0) : none;
    sim__store_done(statement);
    return answer;
}

int64_t
sim__store_ask_int(struct sim_store *store, const char *sql, int64_t value)
{
    struct sim__statement statement = prepare_int(store, sql, value);
    return sim__store_answer(&statement, 0);
}
