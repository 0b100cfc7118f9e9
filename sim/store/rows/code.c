/*
 * code.c -- writes edges of code, and the runs that reached them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/code.h"

#include <stdlib.h>

#include "sim/base/heap.h"
#include "sim/store/internal.h"

/* code.sql, made into a C array by the build. */
extern const char sim_code_sql[];

/* ---- Edges. ---------------------------------------------------------------------------------- */

static const struct sim__table code_edges = {
        .name = "code_edges",
        .make = sim_code_sql,
        .sql = "INSERT OR IGNORE INTO code_edges (%s) SELECT %s FROM given",
        .row_size = sizeof(struct sim_code_edge),
        .columns = {SIM__NAMED("edge", struct sim_code_edge, id),
                SIM__EACH(struct sim_code_edge, file, function, line, nth)},
};

enum sim_store_err
sim_store_code_edges(struct sim_store *store, const struct sim_code_edge *edges, uint32_t count)
{
    return sim__store_write(store, &code_edges, edges, count, 0);
}

static const struct sim__table code_coverage = {
        .name = "code_coverage",
        .key = "sweep",
        .row_size = sizeof(struct sim_code_covered),
        .columns = {SIM__EACH(struct sim_code_covered, edge, first_run, runs, before_fault)},
};

enum sim_store_err
sim_store_code_covered(struct sim_store *store, int64_t sweep,
        const struct sim_code_covered *covered, uint32_t count)
{
    return sim__store_write(store, &code_coverage, covered, count, sweep);
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

/* The edges of the set, one a row of a temporary table. */
static void
fill_now(struct sim_store *store, const uint64_t *set, const struct sim_code_edge *edges,
        uint32_t count)
{
    static const struct sim__table now = {
            .name = "code_set_now",
            .row_size = sizeof(uint64_t),
            .columns = {{"edge", SIM__U64, 0, sizeof(uint64_t)}},
    };
    sim__store_execute(store,
            "CREATE TEMP TABLE IF NOT EXISTS code_set_now (edge INTEGER PRIMARY KEY);"
            "DELETE FROM code_set_now");
    uint64_t *ids = sim_heap_new(count, sizeof(*ids));
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_in(set, i)) {
            ids[used++] = edges[i].id;
        }
    }
    sim__store_insert(store, &now, ids, used, 0);
    free(ids);
}

/* As the difference to `root`; -1: whole. */
static void
insert_set(struct sim_store *store, int64_t set, int64_t root)
{
    static const char *const statements[] = {
            "INSERT INTO code_sets SELECT ?1, nullif(?2, -1), count(*) FROM code_set_now",
            "INSERT INTO code_set_edges SELECT ?1, edge, 1 FROM code_set_now WHERE edge NOT IN"
            " (SELECT edge FROM code_set_edges WHERE code_set = ?2)"
            " UNION ALL SELECT ?1, edge, 0 FROM code_set_edges WHERE code_set = ?2 AND edge NOT IN"
            " (SELECT edge FROM code_set_now)",
    };
    for (size_t i = 0; i < 2; i++) {
        struct sim__statement statement = sim__store_prepare(store, statements[i]);
        sim__put_int(&statement, set);
        sim__put_int(&statement, root);
        sim__store_run(&statement);
        sim__store_done(&statement);
    }
}

/* Answers its number, and writes it where it is not there: as its difference to the first set of
 * the sweep, or to that one's. */
static int64_t
put_set(struct sim_store *store, int64_t sweep, const uint64_t *set,
        const struct sim_code_edge *edges, uint32_t count)
{
    int64_t number = hash_of(set, edges, count);
    if (sim__store_ask_int(store, "SELECT 1 FROM code_sets WHERE code_set = ?", number) != 0) {
        return number;
    }
    struct sim__statement first = sim__store_prepare(store,
            "SELECT coalesce(s.base, s.code_set) FROM code_runs AS c JOIN code_sets AS s"
            " USING (code_set) WHERE c.sweep = ? ORDER BY c.number LIMIT 1");
    sim__put_int(&first, sweep);
    int64_t root = sim__store_answer(&first, -1);
    fill_now(store, set, edges, count);
    insert_set(store, number, root);
    return number;
}

/* ---- Runs. ----------------------------------------------------------------------------------- */

struct code_run {
    uint64_t number;
    int64_t reached;
    int64_t before;
    uint32_t fresh;
};

static const struct sim__table code_runs = {
        .name = "code_runs",
        .key = "sweep",
        .row_size = sizeof(struct code_run),
        .columns = {SIM__EACH(struct code_run, number, before, fresh),
                SIM__NAMED("code_set", struct code_run, reached)},
};

enum sim_store_err
sim_store_code_run(struct sim_store *store, int64_t sweep, const struct sim_code_run *run,
        const struct sim_code_edge *edges, uint32_t count)
{
    sim__store_begin(store);
    const struct code_run row = {
            .number = run->number,
            .reached = put_set(store, sweep, run->reached, edges, count),
            .before = put_set(store, sweep, run->before, edges, count),
            .fresh = run->fresh,
    };
    sim__store_insert(store, &code_runs, &row, 1, sweep);
    return sim__store_end(store);
}
