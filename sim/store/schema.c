/*
 * schema.c -- does a file have the tables, columns and views that this build makes?
 *
 * Where the file's SQL is this build's, letter for letter, it has. Else the build's own SQL is run
 * in memory, and each table, view and index that it makes there is compared with the file's:
 * columns by name, type, NOT NULL and place in the primary key; of a view by name. Comments and
 * spaces may differ. Tables that are made when first needed may be missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/store/internal.h"

extern const char sim_code_sql[];
extern const char sim_explained_sql[];
extern const char sim_measure_sql[];
extern const char sim_notes_sql[];
extern const char sim_shard_sql[];
extern const char sim_stacks_sql[];
extern const char sim_zoo_sql[];

static const char *const needed[] = {sim_schema_sql, sim_coverage_sql};
static const char *const optional[] = {sim_notes_sql, sim_explained_sql, sim_measure_sql,
        sim_zoo_sql, sim_code_sql, sim_shard_sql, sim_stacks_sql};

#define NEEDED (sizeof(needed) / sizeof(*needed))
#define OPTIONAL (sizeof(optional) / sizeof(*optional))

/* ---- Letter for letter. ---------------------------------------------------------------------- */

static uint32_t
statements_of(const char *sql)
{
    uint32_t count = 0;
    for (const char *at = sql; (at = strstr(at, "\nCREATE ")) != NULL; at++) {
        count++;
    }
    return count;
}

/* Behind the statement that made an object, in `sql` from `from` on; NULL: it is not there. SQLite
 * keeps "CREATE TABLE name (…)". */
static const char *
find_statement(const char *from, const char *made)
{
    const char *name = strchr(made, ' ');
    name = name != NULL ? strchr(name + 1, ' ') : NULL;
    const char *at = name != NULL ? strstr(from, name) : NULL;
    return at != NULL && at[strlen(name)] == ';' ? at + strlen(name) : NULL;
}

struct progress {
    const char *at; /* In the text. */
    uint32_t found; /* Objects that it has made. */
};

/* Takes an object off the text that made it. They lie in the file in the order in which they were
 * made, so the text of the last one is tried first. False: none has made it. */
static bool
take(struct progress *progress, size_t *last, const char *made)
{
    for (size_t i = 0; i < NEEDED + OPTIONAL; i++) {
        size_t text = (*last + i) % (NEEDED + OPTIONAL);
        const char *after = find_statement(progress[text].at, made);
        if (after != NULL) {
            progress[text].at = after;
            progress[text].found++;
            *last = text;
            return true;
        }
    }
    return false;
}

/* True: each of the build's texts has made all its objects in the file, or, where it is optional,
 * none of them; and there are no others. False: this is not known. */
static bool
is_verbatim(struct sim_store *store)
{
    struct progress progress[NEEDED + OPTIONAL];
    size_t last = 0;
    bool verbatim = true;
    for (size_t i = 0; i < NEEDED + OPTIONAL; i++) {
        progress[i] = (struct progress){i < NEEDED ? needed[i] : optional[i - NEEDED], 0};
    }
    struct sim__statement statement = sim__store_prepare(
            store, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid");
    while (verbatim && sim__store_row(&statement)) {
        const char *made = (const char *)sqlite3_column_text(statement.stmt, 0);
        verbatim = strncmp(made, "CREATE TABLE sqlite_", 20) == 0 || take(progress, &last, made);
    }
    sim__store_done(&statement);
    for (size_t i = 0; i < NEEDED + OPTIONAL && verbatim; i++) {
        uint32_t all = statements_of(i < NEEDED ? needed[i] : optional[i - NEEDED]);
        verbatim = progress[i].found == all || (i >= NEEDED && progress[i].found == 0);
    }
    return verbatim;
}

/* ---- Against a model. ------------------------------------------------------------------------ */

static int
run_all(sqlite3 *db, const char *const *sql, size_t count)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        rc = sqlite3_exec(db, sql[i], NULL, NULL, NULL);
    }
    return rc;
}

/* "run INTEGER 0 1, sweep INTEGER 1 0, …"; "run, sweep, …" of a view, "" of an index. NULL where
 * it is not there, or SQLite cannot say: the view does not fit its tables. The caller frees it
 * (sqlite3_free). */
static char *
columns_of(sqlite3 *db, const char *type, const char *name, bool *ret_there)
{
    static const char sql[] =
            "SELECT (SELECT group_concat(iif(?1 = 'view', name, name || ' ' || type || ' ' ||"
            " \"notnull\" || ' ' || pk), ', ') FROM pragma_table_xinfo(?2))"
            " FROM sqlite_schema WHERE type = ?1 AND name = ?2";
    sqlite3_stmt *stmt = NULL;
    char *columns = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? sqlite3_bind_text(stmt, 1, type, -1, SQLITE_STATIC) : rc;
    rc = rc == SQLITE_OK ? sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC) : rc;
    rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
    if (rc == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        columns = sqlite3_mprintf("%s", text != NULL ? text : "");
    }
    (void)sqlite3_finalize(stmt);
    *ret_there = rc != SQLITE_DONE;
    return columns;
}

/* One object of the model, against the file. */
static void
compare(struct sim_store *store, sqlite3 *model, const char *type, const char *name, bool must)
{
    bool there = false;
    char *wanted = columns_of(model, type, name, &there);
    char *found = columns_of(store->db, type, name, &there);
    bool same = wanted != NULL && found != NULL && strcmp(wanted, found) == 0;
    sqlite3_free(wanted);
    sqlite3_free(found);
    if (!there && must) {
        (void)sim__store_refuse(store, SIM_STORE_CORRUPT, "the %s '%s' is missing", type, name);
    } else if (there && !same) {
        (void)sim__store_refuse(store, SIM_STORE_CORRUPT,
                "the %s '%s' has other columns than this rewake makes", type, name);
    }
}

/* What the texts make in the model, against the file, which must have it or may. SQLite's result
 * for the model. */
static int
compare_all(
        struct sim_store *store, sqlite3 *model, const char *const *sql, size_t count, bool must)
{
    sqlite3_stmt *objects = NULL;
    int rc = run_all(model, sql, count);
    rc = rc == SQLITE_OK ? sqlite3_prepare_v2(model,
                                   "SELECT type, name FROM sqlite_schema"
                                   " WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid",
                                   -1, &objects, NULL)
                         : rc;
    while (rc == SQLITE_OK && store->err == SIM_STORE_OK && sqlite3_step(objects) == SQLITE_ROW) {
        compare(store, model, (const char *)sqlite3_column_text(objects, 0),
                (const char *)sqlite3_column_text(objects, 1), must);
    }
    (void)sqlite3_finalize(objects);
    return rc;
}

void
sim__store_check_schema(struct sim_store *store)
{
    sqlite3 *model = NULL;
    if (store->err != SIM_STORE_OK || is_verbatim(store) || store->err != SIM_STORE_OK) {
        return;
    }
    int rc = sqlite3_open(":memory:", &model);
    rc = rc == SQLITE_OK ? compare_all(store, model, needed, NEEDED, true) : rc;
    rc = rc == SQLITE_OK ? compare_all(store, model, optional, OPTIONAL, false) : rc;
    (void)sqlite3_close(model);
    if (rc != SQLITE_OK && store->err == SIM_STORE_OK) {
        (void)sim__store_refuse(store, SIM_STORE_SYSTEM, "%s", sqlite3_errstr(rc));
    }
}
