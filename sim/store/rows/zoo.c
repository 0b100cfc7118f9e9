/*
 * zoo.c -- the table of real bugs, in the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

/* zoo.sql, made into a C array by the build. */
extern const char sim_zoo_sql[];

static enum sim_store_err
make_table(struct sim_store *store)
{
    return sim__store_sqlite(store, sqlite3_exec(store->db, sim_zoo_sql, NULL, NULL, NULL));
}

static void
put_what(struct sim__statement *statement, const struct sim_zoo_row *row)
{
    sim__put_text(statement, row->name);
    sim__put_text(statement, row->bug);
    sim__put_text(statement, row->reference);
    sim__put_text(statement, row->about);
    sim__put_int(statement, row->verdict);
    sim__put_int(statement, row->oracle);
    sim__put_int(statement, row->as_stated);
    sim__put_int(statement, row->baseline);
}

static void
put_figures(struct sim__statement *statement, const struct sim_zoo_row *row)
{
    sim__put_int(statement, row->trials);
    sim__put_int(statement, row->found);
    sim__put_int(statement, (int64_t)row->trial_runs);
    sim__put_int(statement, (int64_t)row->trial_steps);
    sim__put_int(statement, (int64_t)row->fixed_runs);
    sim__put_int(statement, (int64_t)row->fixed_failures);
}

static enum sim_store_err
insert_row(struct sim_store *store, const struct sim_zoo_row *row, const char *build,
        int64_t measured_ms)
{
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT OR REPLACE INTO zoo VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    put_what(&statement, row);
    put_figures(&statement, row);
    sim__put_text(&statement, build);
    sim__put_int(&statement, measured_ms);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_zoo(struct sim_store *store, const struct sim_zoo_row *row, const char *build,
        int64_t measured_ms)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(row->name != NULL && row->bug != NULL && row->reference != NULL);
    rt_assert(row->found <= row->trials);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = make_table(store);
    if (err == SIM_STORE_OK) {
        err = insert_row(store, row, build, measured_ms);
    }
    return sim__store_end(store, err);
}
