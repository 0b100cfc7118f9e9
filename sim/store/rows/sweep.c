/*
 * sweep.c -- sweeps: totals, seeds, and the rows of their runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

static enum sim_store_err
insert_sweep(struct sim_store *store, const struct sim_sweep *sweep)
{
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT INTO sweeps (scenario, library, strategy, options, build, git, seed_first,"
            " started_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    sim__put_text(&statement, sweep->scenario);
    sim__put_text(&statement, sweep->library);
    sim__put_text(&statement, sweep->strategy);
    sim__put_text(&statement, sweep->options);
    sim__put_text(&statement, sweep->build);
    sim__put_text(&statement, sweep->git);
    sim__put_bits(&statement, sweep->seed_first);
    sim__put_int(&statement, sweep->started_ms);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_sweep_begin(struct sim_store *store, const struct sim_sweep *sweep, int64_t *ret_sweep)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(sweep->scenario != NULL && sweep->strategy != NULL && sweep->options != NULL);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = insert_sweep(store, sweep);
    int64_t id = sqlite3_last_insert_rowid(store->db);
    if (err == SIM_STORE_OK) {
        err = sim__store_sites(store);
    }
    err = sim__store_end(store, err);
    if (err == SIM_STORE_OK) {
        *ret_sweep = id;
    }
    return err;
}

static enum sim_store_err
update_totals(struct sim_store *store, int64_t sweep, const struct sim_sweep_totals *totals)
{
    struct sim__statement statement = sim__store_prepare(store,
            "UPDATE sweeps SET runs = ?, steps = ?, sim_ns = ?, digest = ?, elapsed_ms = ?,"
            " complete = ? WHERE sweep = ?");
    sim__put_bits(&statement, totals->runs);
    sim__put_bits(&statement, totals->steps);
    sim__put_bits(&statement, totals->sim_ns);
    sim__put_bits(&statement, totals->digest);
    sim__put_bits(&statement, totals->elapsed_ms);
    sim__put_int(&statement, totals->complete);
    sim__put_int(&statement, sweep);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

static enum sim_store_err
update_verdicts(struct sim_store *store, int64_t sweep, const uint64_t *counts)
{
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT OR REPLACE INTO sweep_verdicts VALUES (?, ?, ?)");
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (counts[i] != 0) {
            sim__put_int(&statement, sweep);
            sim__put_int(&statement, i);
            sim__put_bits(&statement, counts[i]);
            (void)sim__store_run(&statement);
        }
    }
    return sim__store_done(&statement);
}

static uint64_t
sum_of_verdicts(const struct sim_sweep_totals *totals)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        sum += totals->verdicts[i];
    }
    return sum;
}

enum sim_store_err
sim_store_sweep_update(
        struct sim_store *store, int64_t sweep, const struct sim_sweep_totals *totals)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(sum_of_verdicts(totals) == totals->runs);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = update_totals(store, sweep, totals);
    if (err == SIM_STORE_OK) {
        err = update_verdicts(store, sweep, totals->verdicts);
    }
    return sim__store_end(store, err);
}

/* Seeds arrive in order, so only the sweep's last range can grow. */
static enum sim_store_err
join_seeds(struct sim_store *store, int64_t sweep, uint64_t first, uint64_t last, uint64_t stride)
{
    struct sim__statement statement = sim__store_prepare(store,
            "UPDATE seeds SET last = ?1 WHERE sweep = ?2 AND stride = ?3 AND last = ?4 - ?3"
            " AND first = (SELECT max(first) FROM seeds WHERE sweep = ?2)");
    sim__put_bits(&statement, last);
    sim__put_int(&statement, sweep);
    sim__put_bits(&statement, stride);
    sim__put_bits(&statement, first);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

static enum sim_store_err
insert_seeds(struct sim_store *store, int64_t sweep, uint64_t first, uint64_t last, uint64_t stride)
{
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT INTO seeds VALUES (?, ?, ?, ?)");
    sim__put_int(&statement, sweep);
    sim__put_bits(&statement, first);
    sim__put_bits(&statement, last);
    sim__put_bits(&statement, stride);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_sweep_seeds(
        struct sim_store *store, int64_t sweep, uint64_t first, uint64_t last, uint64_t stride)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(stride >= 1);
    rt_assert(first <= last);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = join_seeds(store, sweep, first, last, stride);
    if (err == SIM_STORE_OK && sqlite3_changes(store->db) == 0) {
        err = insert_seeds(store, sweep, first, last, stride);
    }
    return sim__store_end(store, err);
}

#define RUN_COLUMNS \
    "number, seed, digest, steps, sim_ns, decisions, deviations, verdict, oracle, actor, object," \
    " site, fail_step, missing_wake_step, events, fresh, news, tape"

/* `sql` reads the rows from `ring_runs`, and takes one number. */
static enum sim_store_err
run_over_rows(
        struct sim_store *store, const char *sql, int64_t number, const struct sim__array *rows)
{
    rt_assert(store->rows.count == 0);
    store->rows.rows = rows->rows;
    store->rows.tapes = rows->tapes;
    store->rows.tapes_size = rows->tapes_size;
    store->rows.count = rows->count;
    enum sim_store_err err = sim__store_run_int(store, sql, number);
    store->rows.count = 0;
    return err;
}

enum sim_store_err
sim__store_insert_runs(struct sim_store *store, int64_t sweep, const struct sim_run_row *rows,
        uint32_t count, const uint8_t *tapes, size_t tapes_size)
{
    const struct sim__array array = {
            .rows = rows, .count = count, .tapes = tapes, .tapes_size = tapes_size};
    return run_over_rows(store,
            "INSERT INTO runs (sweep, " RUN_COLUMNS ") SELECT ?, * FROM ring_runs", sweep, &array);
}

enum sim_store_err
sim__store_replace_run(struct sim_store *store, int64_t run, const struct sim_run_row *row,
        const uint8_t *tape, size_t tape_size)
{
    const struct sim__array array = {
            .rows = row, .count = 1, .tapes = tape, .tapes_size = tape_size};
    return run_over_rows(store,
            "UPDATE runs SET (" RUN_COLUMNS ") = (SELECT * FROM ring_runs) WHERE run = ?", run,
            &array);
}

enum sim_store_err
sim_store_runs(struct sim_store *store, int64_t sweep, const struct sim_run_row *rows,
        uint32_t count, const uint8_t *tapes, size_t tapes_size)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(rows != NULL || count == 0);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = sim__store_insert_runs(store, sweep, rows, count, tapes, tapes_size);
    return sim__store_end(store, err);
}
