/*
 * code.c -- writes edges of code, and the runs that reached them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/code.h"
#include "sim/store/internal.h"

/* code.sql, made into a C array by the build. */
extern const char sim_code_sql[];

static enum sim_store_err
execute(struct sim_store *store, const char *sql)
{
    return sim__store_sqlite(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}

enum sim_store_err
sim__store_make_code(struct sim_store *store)
{
    return execute(store, sim_code_sql);
}

enum sim_store_err
sim_store_code_edges(struct sim_store *store, const struct sim_code_edge *edges, uint32_t count)
{
    rt_check(store, SIM__STORE_MAGIC);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = sim__store_make_code(store);
    if (err == SIM_STORE_OK) {
        struct sim__statement statement = sim__store_prepare(
                store, "INSERT OR IGNORE INTO code_edges VALUES (?, ?, ?, ?, ?)");
        for (uint32_t i = 0; i < count; i++) {
            sim__put_bits(&statement, edges[i].id);
            sim__put_text(&statement, edges[i].file);
            sim__put_text(&statement, edges[i].function);
            sim__put_int(&statement, edges[i].line);
            sim__put_int(&statement, edges[i].nth);
            (void)sim__store_run(&statement);
        }
        err = sim__store_done(&statement);
    }
    return sim__store_end(store, err);
}

enum sim_store_err
sim_store_code_covered(struct sim_store *store, int64_t sweep,
        const struct sim_code_covered *covered, uint32_t count)
{
    rt_check(store, SIM__STORE_MAGIC);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct sim__statement statement = sim__store_prepare(
            store, "INSERT OR REPLACE INTO code_coverage VALUES (?, ?, ?, ?, ?)");
    for (uint32_t i = 0; i < count; i++) {
        sim__put_int(&statement, sweep);
        sim__put_bits(&statement, covered[i].edge);
        sim__put_bits(&statement, covered[i].first_run);
        sim__put_bits(&statement, covered[i].runs);
        sim__put_bits(&statement, covered[i].before_fault);
        (void)sim__store_run(&statement);
    }
    return sim__store_end(store, sim__store_done(&statement));
}

/* ---- Sets. ----------------------------------------------------------------------------------- */

static bool
is_in(const uint64_t *set, uint32_t edge)
{
    return (set[edge / 64] >> edge % 64 & 1) != 0;
}

/* The same for the same edges, however they are numbered. */
static int64_t
hash_of(const uint64_t *set, const struct sim_code_edge *edges, uint32_t count)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = is_in(set, i) ? edges[i].id + 1 : 0;
        id = (id ^ id >> 32) * UINT64_C(0xd6e8feb86659fd93);
        id = (id ^ id >> 32) * UINT64_C(0xd6e8feb86659fd93);
        hash += id ^ id >> 32;
    }
    return (int64_t)(hash >> 1);
}

/* The answer of a statement with one integer to be bound; `none` where there is no row. */
static int64_t
ask_number(struct sim_store *store, const char *sql, int64_t value, int64_t none,
        enum sim_store_err *err)
{
    struct sim__statement statement = sim__store_prepare(store, sql);
    sim__put_int(&statement, value);
    int64_t answer = none;
    if (sim__store_row(&statement)) {
        answer = sqlite3_column_int64(statement.stmt, 0);
    }
    enum sim_store_err done = sim__store_done(&statement);
    *err = *err == SIM_STORE_OK ? done : *err;
    return answer;
}

/* The edges of the set that is being written, one a row. */
static enum sim_store_err
fill_now(struct sim_store *store, const uint64_t *set, const struct sim_code_edge *edges,
        uint32_t count, int64_t *ret_edges)
{
    enum sim_store_err err = execute(store,
            "CREATE TEMP TABLE IF NOT EXISTS code_set_now (edge INTEGER PRIMARY KEY);"
            "DELETE FROM code_set_now");
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT INTO code_set_now VALUES (?)");
    for (uint32_t i = 0; i < count; i++) {
        if (is_in(set, i)) {
            sim__put_bits(&statement, edges[i].id);
            (void)sim__store_run(&statement);
            ++*ret_edges;
        }
    }
    return sim__store_done(&statement);
}

/* The set of the sweep that others are stored as differences to; -1: none yet. */
static int64_t
root_of(struct sim_store *store, int64_t sweep, enum sim_store_err *err)
{
    return ask_number(store,
            "SELECT coalesce(s.base, s.code_set) FROM code_runs AS c JOIN code_sets AS s"
            " USING (code_set) WHERE c.sweep = ? ORDER BY c.number LIMIT 1",
            sweep, -1, err);
}

static enum sim_store_err
insert_set(struct sim_store *store, int64_t set, int64_t root, int64_t edges)
{
    struct sim__statement row = sim__store_prepare(store, "INSERT INTO code_sets VALUES (?, ?, ?)");
    sim__put_int(&row, set);
    if (root < 0) {
        sim__put_null(&row);
    } else {
        sim__put_int(&row, root);
    }
    sim__put_int(&row, edges);
    (void)sim__store_run(&row);
    enum sim_store_err err = sim__store_done(&row);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct sim__statement rows = sim__store_prepare(store,
            "INSERT INTO code_set_edges SELECT ?1, edge, 1 FROM code_set_now WHERE edge NOT IN"
            " (SELECT edge FROM code_set_edges WHERE code_set = ?2)"
            " UNION ALL SELECT ?1, edge, 0 FROM code_set_edges WHERE code_set = ?2 AND edge NOT IN"
            " (SELECT edge FROM code_set_now)");
    sim__put_int(&rows, set);
    sim__put_int(&rows, root);
    (void)sim__store_run(&rows);
    return sim__store_done(&rows);
}

/* Answers its number, and writes it where it is not there. */
static enum sim_store_err
put_set(struct sim_store *store, int64_t sweep, const uint64_t *set,
        const struct sim_code_edge *edges, uint32_t count, int64_t *ret_set)
{
    enum sim_store_err err = SIM_STORE_OK;
    int64_t number = 0;
    *ret_set = hash_of(set, edges, count);
    bool known = ask_number(store, "SELECT 1 FROM code_sets WHERE code_set = ?", *ret_set, 0, &err);
    if (err == SIM_STORE_OK && !known) {
        int64_t root = root_of(store, sweep, &err);
        err = err == SIM_STORE_OK ? fill_now(store, set, edges, count, &number) : err;
        err = err == SIM_STORE_OK ? insert_set(store, *ret_set, root, number) : err;
    }
    return err;
}

static enum sim_store_err
put_run(struct sim_store *store, int64_t sweep, const struct sim_code_run *run, int64_t reached,
        int64_t before)
{
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT OR REPLACE INTO code_runs VALUES (?, ?, ?, ?, ?)");
    sim__put_int(&statement, sweep);
    sim__put_bits(&statement, run->number);
    sim__put_int(&statement, reached);
    sim__put_int(&statement, before);
    sim__put_int(&statement, run->fresh);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_code_run(struct sim_store *store, int64_t sweep, const struct sim_code_run *run,
        const struct sim_code_edge *edges, uint32_t count)
{
    rt_check(store, SIM__STORE_MAGIC);
    int64_t reached = 0;
    int64_t before = 0;
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = put_set(store, sweep, run->reached, edges, count, &reached);
    err = err == SIM_STORE_OK ? put_set(store, sweep, run->before, edges, count, &before) : err;
    err = err == SIM_STORE_OK ? put_run(store, sweep, run, reached, before) : err;
    return sim__store_end(store, err);
}

enum sim_store_err
sim_store_code_known(struct sim_store *store, bool *ret_known)
{
    rt_check(store, SIM__STORE_MAGIC);
    enum sim_store_err err = SIM_STORE_OK;
    int64_t tables = ask_number(store,
            "SELECT count(*) FROM sqlite_schema WHERE name = 'code_edges' AND ?1 = ?1", 0, 0, &err);
    if (err == SIM_STORE_OK) {
        *ret_known = tables > 0;
    }
    return err;
}
