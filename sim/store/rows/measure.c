/*
 * measure.c -- how many runs each strategy needs, in the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

/* measure.sql, made into a C array by the build. */
extern const char sim_measure_sql[];

static enum sim_store_err
insert_row(struct sim_store *store, const struct sim_measure_row *row, const char *build,
        int64_t measured_ms)
{
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT OR REPLACE INTO measures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sim__put_text(&statement, row->scenario);
    sim__put_text(&statement, row->strategy);
    sim__put_int(&statement, (int64_t)row->runs_max);
    sim__put_int(&statement, row->trials);
    sim__put_int(&statement, row->found);
    sim__put_int(&statement, row->exhausted);
    sim__put_int(&statement, (int64_t)row->trial_runs);
    sim__put_int(&statement, (int64_t)row->trial_steps);
    sim__put_int(&statement, row->verdict);
    sim__put_int(&statement, row->oracle);
    sim__put_int(&statement, row->as_stated);
    sim__put_text(&statement, build);
    sim__put_int(&statement, measured_ms);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_measure(struct sim_store *store, const struct sim_measure_row *row, const char *build,
        int64_t measured_ms)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(row->scenario != NULL && row->strategy != NULL);
    rt_assert(row->found <= row->trials && row->exhausted <= row->trials);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = sim__store_sqlite(store, sqlite3_exec(store->db, sim_measure_sql, NULL, NULL, NULL));
    if (err == SIM_STORE_OK) {
        err = insert_row(store, row, build, measured_ms);
    }
    return sim__store_end(store, err);
}
