/*
 * remember.c -- the failures that the next sweep tries first, and those that failed again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

static void
put_key(struct sim__statement *statement, const struct sim_remembered *failure)
{
    sim__put_text(statement, failure->scenario);
    sim__put_int(statement, failure->verdict);
    sim__put_int(statement, failure->oracle);
    sim__put_int(statement, failure->site);
}

static enum sim_store_err
insert_failure(struct sim_store *store, const struct sim_remembered *failure)
{
    /* REPLACE gives the row a new number: it is the newest again. */
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT OR REPLACE INTO remembered (scenario, verdict, oracle, site, library, token,"
            " run) VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0))");
    put_key(&statement, failure);
    sim__put_text(&statement, failure->library);
    sim__put_text(&statement, failure->token);
    sim__put_int(&statement, failure->run);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_remember(struct sim_store *store, const struct sim_remembered *failure)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(failure->scenario != NULL && failure->token != NULL);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    return sim__store_end(store, insert_failure(store, failure));
}

static enum sim_store_err
delete_failure(struct sim_store *store, const struct sim_remembered *failure)
{
    struct sim__statement statement = sim__store_prepare(store,
            "DELETE FROM remembered WHERE scenario = ? AND verdict = ? AND oracle = ?"
            " AND site = ?");
    put_key(&statement, failure);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_forget(struct sim_store *store, const struct sim_remembered *failure)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(failure->scenario != NULL);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    return sim__store_end(store, delete_failure(store, failure));
}

static enum sim_store_err
insert_again(struct sim_store *store, int64_t sweep, int64_t run)
{
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT OR IGNORE INTO failed_again VALUES (?, ?)");
    sim__put_int(&statement, sweep);
    sim__put_int(&statement, run);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_failed_again(struct sim_store *store, int64_t sweep, int64_t run)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(run > 0);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    return sim__store_end(store, insert_again(store, sweep, run));
}

static struct sim_remembered
read_remembered(sqlite3_stmt *stmt)
{
    return (struct sim_remembered){
            .scenario = (const char *)sqlite3_column_text(stmt, 0),
            .library = (const char *)sqlite3_column_text(stmt, 1),
            .token = (const char *)sqlite3_column_text(stmt, 2),
            .verdict = (uint32_t)sqlite3_column_int64(stmt, 3),
            .oracle = (uint32_t)sqlite3_column_int64(stmt, 4),
            .site = (uint32_t)sqlite3_column_int64(stmt, 5),
            .run = sqlite3_column_int64(stmt, 6),
    };
}

enum sim_store_err
sim_store_remembered(struct sim_store *store,
        bool (*each)(const struct sim_remembered *failure, void *argument), void *argument)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(each != NULL);
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT scenario, library, token, verdict, oracle, site, coalesce(run, 0)"
            " FROM remembered ORDER BY id DESC");
    bool more = true;
    while (more && sim__store_row(&statement)) {
        struct sim_remembered failure = read_remembered(statement.stmt);
        more = each(&failure, argument);
    }
    return sim__store_done(&statement);
}
