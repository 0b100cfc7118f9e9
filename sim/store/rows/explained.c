/*
 * explained.c -- explanations, and the two runs that each shows: the smaller and the passing one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/explained.h"

#include "runtime/base/assert.h"
#include "sim/store/internal.h"

/* explained.sql, made into a C array by the build. */
extern const char sim_explained_sql[];

/* ---- The two runs. --------------------------------------------------------------------------- */

static enum sim_store_err
insert_told(struct sim_store *store, int64_t number, int64_t run, const struct sim_told_run *told)
{
    const struct sim_outcome *outcome = told->outcome;
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT OR REPLACE INTO told (told, run, parts_step, seed, digest, steps, sim_ns,"
            " decisions, deviations, verdict, oracle, actor, object, site, fail_step, "
            "missing_wake_step,"
            " events) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sim__put_int(&statement, number);
    sim__put_int(&statement, run);
    sim__put_bits(&statement, told->parts_step);
    sim__put_bits(&statement, outcome->seed);
    sim__put_bits(&statement, outcome->digest);
    sim__put_bits(&statement, outcome->steps);
    sim__put_bits(&statement, outcome->sim_ns);
    sim__put_bits(&statement, outcome->decisions);
    sim__put_int(&statement, outcome->deviations);
    sim__put_int(&statement, outcome->verdict);
    sim__put_int(&statement, outcome->oracle);
    if (outcome->actor == UINT32_MAX) {
        sim__put_null(&statement);
    } else {
        sim__put_int(&statement, outcome->actor);
    }
    sim__put_int(&statement, outcome->object);
    sim__put_int(&statement, outcome->site);
    sim__put_bits(&statement, outcome->fail_step);
    sim__put_bits(&statement, outcome->missing_wake_step);
    sim__put_bits(&statement, outcome->events);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

static enum sim_store_err
write_told(struct sim_store *store, int64_t number, int64_t run, const struct sim_told_run *told)
{
    const struct sim_full_run full = {
            .outcome = told->outcome,
            .token = told->token,
            .options = told->options,
            .recorder = told->recorder,
            .fifo = SIM_FIFO_NOT_ASKED,
    };
    enum sim_store_err err = sim__store_details(store, number, &full);
    return err == SIM_STORE_OK ? insert_told(store, number, run, told) : err;
}

/* ---- The explanation. ------------------------------------------------------------------------ */

static enum sim_store_err
clear(struct sim_store *store, int64_t run)
{
    static const char *const statements[] = {
            "DELETE FROM explained_places WHERE run = ?",
            "DELETE FROM told WHERE run = ?",
            "DELETE FROM deciding WHERE run = ?",
    };
    enum sim_store_err err = sim__store_forget_details(store, SIM_TOLD_OF(run));
    if (err == SIM_STORE_OK) {
        err = sim__store_forget_details(store, SIM_TWIN_OF(run));
    }
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && err == SIM_STORE_OK; i++) {
        err = sim__store_run_int(store, statements[i], run);
    }
    return err;
}

static enum sim_store_err
insert_explained(struct sim_store *store, const struct sim_explained *explained)
{
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT OR REPLACE INTO explained (run, told, twin, "
                                      "headline, cause, wake_outcome, answer,"
                                      " decision, ordering, swapped, needed, why, refs, build)"
                                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sim__put_int(&statement, explained->run);
    sim__put_int(&statement, SIM_TOLD_OF(explained->run));
    if (explained->twin != NULL) {
        sim__put_int(&statement, SIM_TWIN_OF(explained->run));
    } else {
        sim__put_null(&statement);
    }
    sim__put_text(&statement, explained->headline);
    sim__put_text(&statement, explained->cause);
    sim__put_text(&statement, explained->wake_outcome);
    sim__put_text(&statement, explained->answer);
    sim__put_text(&statement, explained->decision);
    sim__put_text(&statement, explained->ordering);
    sim__put_text(&statement, explained->swapped);
    sim__put_text(&statement, explained->needed);
    sim__put_text(&statement, explained->why);
    sim__put_text(&statement, explained->refs);
    sim__put_text(&statement, explained->build);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

static enum sim_store_err
insert_places(struct sim_store *store, const struct sim_explained *explained)
{
    struct sim__statement statement = sim__store_prepare(
            store, "INSERT OR REPLACE INTO explained_places VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (uint32_t i = 0; i < explained->places_count; i++) {
        const struct sim_explained_place *place = &explained->places[i];
        sim__put_int(&statement, explained->run);
        sim__put_text(&statement, place->role);
        sim__put_int(&statement, place->nth);
        sim__put_text(&statement, place->file);
        sim__put_text(&statement, place->function);
        sim__put_int(&statement, place->line);
        sim__put_bits(&statement, place->step);
        (void)sim__store_run(&statement);
    }
    return sim__store_done(&statement);
}

static enum sim_store_err
insert_deciding(struct sim_store *store, const struct sim_explained *explained)
{
    if (explained->decided_told == NULL) {
        return SIM_STORE_OK;
    }
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT INTO deciding VALUES (?, ?, ?, ?)");
    sim__put_int(&statement, explained->run);
    sim__put_bits(&statement, explained->decided_step);
    sim__put_text(&statement, explained->decided_told);
    sim__put_text(&statement, explained->decided_twin);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim__store_explained_tables(struct sim_store *store)
{
    return sim__store_sqlite(store, sqlite3_exec(store->db, sim_explained_sql, NULL, NULL, NULL));
}

static enum sim_store_err
write_all(struct sim_store *store, const struct sim_explained *explained)
{
    enum sim_store_err err = sim__store_known(store, explained->run);
    if (err == SIM_STORE_OK) {
        err = sim__store_explained_tables(store);
    }
    if (err == SIM_STORE_OK) {
        err = sim__store_sites(store); /* Those of this build, which has made the two runs. */
    }
    if (err == SIM_STORE_OK) {
        err = clear(store, explained->run);
    }
    if (err == SIM_STORE_OK) {
        err = write_told(store, SIM_TOLD_OF(explained->run), explained->run, explained->told);
    }
    if (err == SIM_STORE_OK && explained->twin != NULL) {
        err = write_told(store, SIM_TWIN_OF(explained->run), explained->run, explained->twin);
    }
    if (err == SIM_STORE_OK) {
        err = insert_explained(store, explained);
    }
    if (err == SIM_STORE_OK) {
        err = insert_deciding(store, explained);
    }
    return err == SIM_STORE_OK ? insert_places(store, explained) : err;
}

enum sim_store_err
sim_store_explained(struct sim_store *store, const struct sim_explained *explained)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(explained->run > 0 && explained->told != NULL);
    enum sim_store_err err = sim__store_begin(store);
    return err != SIM_STORE_OK ? err : sim__store_end(store, write_all(store, explained));
}

/* ---- Questions. ------------------------------------------------------------------------------ */

enum sim_store_err
sim_store_run_of_token(struct sim_store *store, const char *token, int64_t *ret_run)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(token != NULL);
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT max(run) FROM (SELECT run FROM details WHERE token = ?1 AND run > 0"
            " UNION ALL SELECT run FROM shrunk WHERE token = ?1)");
    sim__put_text(&statement, token);
    int64_t run = sim__store_row(&statement) ? sqlite3_column_int64(statement.stmt, 0) : 0;
    enum sim_store_err err = sim__store_done(&statement);
    if (err == SIM_STORE_OK && run == 0) {
        return sim__store_refuse(store, SIM_STORE_UNKNOWN, "a run with this token");
    }
    if (err == SIM_STORE_OK) {
        *ret_run = run;
    }
    return err;
}

#define UNEXPLAINED_SQL(where) "SELECT shown FROM ways" where " ORDER BY verdict = ?, last DESC"

static bool
has_explanations(struct sim_store *store)
{
    struct sim__statement statement = sim__store_prepare(
            store, "SELECT 1 FROM sqlite_schema WHERE name = 'explained_places'");
    bool there = sim__store_row(&statement);
    return sim__store_done(&statement) == SIM_STORE_OK && there;
}

enum sim_store_err
sim_store_is_explained(struct sim_store *store, int64_t run, bool *ret_explained)
{
    rt_check(store, SIM__STORE_MAGIC);
    struct sim__statement statement = sim__store_prepare(
            store, has_explanations(store) ? "SELECT verdict = 0 OR run IN (SELECT run FROM "
                                             "explained) FROM runs WHERE run = ?"
                                           : "SELECT verdict = 0 FROM runs WHERE run = ?");
    sim__put_int(&statement, run);
    bool known = sim__store_row(&statement);
    bool explained = known && sqlite3_column_int(statement.stmt, 0) != 0;
    enum sim_store_err err = sim__store_done(&statement);
    if (err == SIM_STORE_OK && !known) {
        return sim__store_refuse(store, SIM_STORE_UNKNOWN, "run:%lld", (long long)run);
    }
    *ret_explained = explained;
    return err;
}

enum sim_store_err
sim_store_unexplained(
        struct sim_store *store, int64_t *ret_runs, uint32_t capacity, uint32_t *ret_count)
{
    rt_check(store, SIM__STORE_MAGIC);
    enum sim_store_err err = sim_store_ways_make(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct sim__statement statement = sim__store_prepare(
            store, has_explanations(store)
                           ? UNEXPLAINED_SQL(" WHERE shown NOT IN (SELECT run FROM explained)")
                           : UNEXPLAINED_SQL(""));
    sim__put_int(&statement, SIM_VERDICT_HANG);
    uint32_t count = 0;
    while (sim__store_row(&statement)) {
        if (count < capacity) {
            ret_runs[count] = sqlite3_column_int64(statement.stmt, 0);
        }
        count++;
    }
    *ret_count = count;
    return sim__store_done(&statement);
}
