/*
 * move.c -- copies and adds up the rows of a sweep.
 *
 * Every table with a column `run` or `sweep` is copied, also one of a newer rewake, with its
 * numbers shifted; rules name those whose rows add up. The two runs of an explanation have numbers
 * below 0 that are made of the failure's (SIM_FAILING_OF, SIM_PASSING_OF): where that is shifted,
 * they are shifted twice as far in the other direction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/merge/move.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

extern const char sim_code_sql[];
extern const char sim_explained_sql[];
extern const char sim_notes_sql[];
extern const char sim_stacks_sql[];

/* ---- Rows. ----------------------------------------------------------------------------------- */

/* Parameters: ?1 the old sweep, ?2 the new one, ?3 shift of runs, ?4 of events. */
static void
put_move(struct sim__statement *statement, const struct sim__move *move)
{
    const int64_t values[] = {move->old, move->new, move->run_shift, move->event_shift};
    int count = sqlite3_bind_parameter_count(statement->stmt);
    for (int i = 0; i < count; i++) {
        sim__put_int(statement, values[i]);
    }
}

void
sim__move_check(const struct sim__move *move)
{
    if (move->to->err == SIM_STORE_OK && move->from->err != SIM_STORE_OK) {
        move->to->err = move->from->err;
        memcpy(move->to->message, move->from->message, sizeof(move->to->message));
    }
}

void
sim__move_rows(const struct sim__move *move, const char *select, const char *insert)
{
    struct sim__statement source = sim__store_prepare(move->from, select);
    struct sim__statement target = sim__store_prepare(move->to, insert);
    put_move(&source, move);
    while (move->to->err == SIM_STORE_OK && sim__store_row(&source)) {
        for (int i = 0; i < sqlite3_column_count(source.stmt); i++) {
            sim__put_value(&target, sqlite3_column_value(source.stmt, i));
        }
        sim__store_run(&target);
    }
    sim__store_done(&source);
    sim__store_done(&target);
    sim__move_check(move);
}

struct rows {
    const char *select;
    const char *insert;
};

static void
move_each(const struct sim__move *move, const struct rows *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sim__move_rows(move, rows[i].select, rows[i].insert);
    }
}

/* ---- Tables. --------------------------------------------------------------------------------- */

/* What happens to a row that is there already: by default it stays as it is. */
static const char rules_sql[] =
        "WITH rules (name, rule) AS (VALUES"
        " ('sweep_verdicts', 'UPDATE SET runs = runs + excluded.runs'),"
        " ('coverage', 'UPDATE SET first_run = min(first_run, excluded.first_run),"
        "   runs = runs + excluded.runs'),"
        " ('waste', 'UPDATE SET first_run = min(first_run, excluded.first_run),"
        "   runs = runs + excluded.runs, times = times + excluded.times,"
        "   most = max(most, excluded.most)'),"
        " ('code_coverage', 'UPDATE SET first_run = min(first_run, excluded.first_run),"
        "   runs = runs + excluded.runs, before_fault = before_fault + excluded.before_fault'),"
        " ('sweep_strategies', 'UPDATE SET runs = runs + excluded.runs,"
        "   failures = failures + excluded.failures'),"
        /* Where shards ended differently, the end of one that is not complete counts. */
        " ('sweep_notes', 'UPDATE SET command_ms = min(command_ms, excluded.command_ms),"
        "   ended = iif(ended = ''complete'', excluded.ended, ended),"
        "   checked = checked + excluded.checked, unequal = unequal + excluded.unequal')),"
        /* Those of a sweep that is new here, and those that are moved with all sweeps. */
        " others (name, is_new) AS (VALUES ('sweeps', 0), ('remembered', 0), ('failed_again', 0),"
        "  ('sweep_species', 1), ('species', 1))"
        /* Columns: the name, where its rows are, SELECT, INSERT. */
        " SELECT m.name, printf('SELECT %s FROM %s WHERE %s', group_concat(CASE"
        "   WHEN p.name = 'sweep' THEN '?2' WHEN p.name = 'first_id' THEN 'first_id + ?4'"
        "   WHEN p.name IN ('run', 'shown', 'failing', 'passing') AND p.type = 'INTEGER'"
        "   THEN printf('%s + iif(%s > 0, 1, -2) * ?3', p.name, p.name) ELSE p.name END), m.name,"
        "   iif(max(p.name = 'sweep'), 'sweep = ?1', 'run IN (SELECT run * n FROM runs, (SELECT 1"
        "   AS n UNION SELECT -2) WHERE sweep = ?1 UNION ALL SELECT -2 * run - 1 FROM runs"
        "   WHERE sweep = ?1)')),"
        "  printf('INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO %s', m.name,"
        "   group_concat(p.name), group_concat('?'), coalesce(r.rule, 'NOTHING'))"
        " FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS p LEFT JOIN rules AS r"
        "  ON r.name = m.name WHERE m.type = 'table' AND m.name NOT IN (SELECT name FROM others"
        "  WHERE is_new <= ?1) GROUP BY m.name HAVING max(p.name IN ('run', 'sweep'))"
        " ORDER BY m.name <> 'runs', m.name";

/* As they are in both databases; the columns come from `to`, which is known to be ours. `added`: it
 * has the sweep already. */
static void
move_tables(const struct sim__move *move, bool added)
{
    struct sim__statement tables = sim__store_prepare(move->to, rules_sql);
    sim__put_int(&tables, added);
    while (sim__store_row(&tables)) {
        if (sim__store_has(move->from, (const char *)sqlite3_column_text(tables.stmt, 0))) {
            sim__move_rows(move, (const char *)sqlite3_column_text(tables.stmt, 1),
                    (const char *)sqlite3_column_text(tables.stmt, 2));
        }
    }
    sim__store_done(&tables);
}

/* Tables that are made when they are first needed. An older rewake has made fewer. */
static void
make_tables(const struct sim__move *move)
{
    static const struct {
        const char *first;
        const char *last;
        const char *script;
    } scripts[] = {
            {"sweep_notes", "failed_again", sim_notes_sql},
            {"explained", "explained_lines", sim_explained_sql},
            {"stacks", "stacks", sim_stacks_sql},
            {"code_edges", "code_functions", sim_code_sql},
    };
    for (size_t i = 0; i < COUNT(scripts); i++) {
        if (sim__store_has(move->from, scripts[i].first)) {
            sim__store_make(move->to, scripts[i].last, scripts[i].script);
        }
    }
}

/* Rows that have neither a run nor a sweep. */
static const struct rows events[] = {
        {"SELECT id + ?4, step_cause, object_site, await_actor_kind, argument"
         " FROM details AS d CROSS JOIN event_words AS w"
         " ON w.id >= d.first_id AND w.id < d.first_id + d.stored"
         " WHERE d.run IN (SELECT run * n FROM runs, (SELECT 1 AS n UNION SELECT -2)"
         " WHERE sweep = ?1 UNION ALL SELECT -2 * run - 1 FROM runs WHERE sweep = ?1)",
                "INSERT INTO event_words VALUES (?, ?, ?, ?, ?)"},
};

/* Of code (code.sql). A set that is there stays as it is; a new one is written out, since its base
 * may be stored as another difference here. */
#define SETS \
    "(SELECT code_set FROM code_runs WHERE sweep = ?1 UNION SELECT before FROM code_runs" \
    " WHERE sweep = ?1)"
static const struct rows code[] = {
        {"SELECT edge, file, function, line, nth FROM code_edges",
                "INSERT OR IGNORE INTO code_edges VALUES (?, ?, ?, ?, ?)"},
        {"SELECT code_set, edge FROM code_set_members WHERE code_set IN " SETS,
                "INSERT INTO code_set_edges SELECT ?1, ?2, 1"
                " WHERE NOT EXISTS (SELECT 1 FROM code_sets WHERE code_set = ?1)"},
        {"SELECT code_set, edges FROM code_sets WHERE code_set IN " SETS,
                "INSERT OR IGNORE INTO code_sets VALUES (?1, NULL, ?2)"},
};

/* ---- A sweep's own row. ---------------------------------------------------------------------- */

#define SWEEP_COLUMNS \
    "scenario, library, strategy, options, build, git, seed_first, started_ms, elapsed_ms, runs," \
    " steps, sim_ns, digest, complete"

static void
insert_sweep(struct sim__move *move)
{
    sim__move_rows(move, "SELECT " SWEEP_COLUMNS " FROM sweeps WHERE sweep = ?1",
            "INSERT INTO sweeps (" SWEEP_COLUMNS ")"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    move->new = sqlite3_last_insert_rowid(move->to->db);
}

/* Digests are added modulo 2^64, in halves of 32 bits: a sum of SQL does not wrap around. */
static void
add_totals(const struct sim__move *move)
{
    sim__move_rows(move,
            "SELECT ?2, started_ms, elapsed_ms, runs, steps, sim_ns, digest >> 32 & 0xffffffff,"
            " digest & 0xffffffff FROM sweeps WHERE sweep = ?1",
            "UPDATE sweeps SET started_ms = min(started_ms, ?2), elapsed_ms = elapsed_ms + ?3,"
            " runs = runs + ?4, steps = steps + ?5, sim_ns = sim_ns + ?6, digest ="
            " (((digest >> 32 & 0xffffffff) + ?7 + ((digest & 0xffffffff) + ?8 >> 32)) << 32)"
            " | ((digest & 0xffffffff) + ?8 & 0xffffffff) WHERE sweep = ?1");
}

/* ---- Species. -------------------------------------------------------------------------------- */

/* Adds what `sweep` has counted to `species`. The strategy, from malloc; NULL: it has none. */
static char *
add_species_of(struct sim_store *store, int64_t sweep, struct sim_species *species)
{
    char *strategy = NULL;
    struct sim_species counted = {
            .entries = sim_heap_new(SIM_RUN_SPECIES, sizeof(*counted.entries)),
            .capacity = SIM_RUN_SPECIES};
    struct sim__statement row = sim__store_prepare(
            store, "SELECT runs, level, strategy FROM sweep_species WHERE sweep = ?");
    sim__put_int(&row, sweep);
    if (sim__store_row(&row)) {
        counted.runs = (uint64_t)sqlite3_column_int64(row.stmt, 0);
        counted.level = (uint32_t)sqlite3_column_int(row.stmt, 1);
        strategy = sim_heap_text((const char *)sqlite3_column_text(row.stmt, 2));
    }
    sim__store_done(&row);
    /* To be merged, the entries may stand in any order. */
    struct sim__statement rows =
            sim__store_prepare(store, "SELECT species, runs FROM species WHERE sweep = ?");
    sim__put_int(&rows, sweep);
    while (counted.used < counted.capacity && sim__store_row(&rows)) {
        counted.entries[counted.used++] =
                (struct sim_species_entry){(uint64_t)sqlite3_column_int64(rows.stmt, 0),
                        (uint64_t)sqlite3_column_int64(rows.stmt, 1)};
    }
    sim_species_merge(species, &counted);
    free(counted.entries);
    sim__store_done(&rows);
    return strategy;
}

static void
add_species(const struct sim__move *move)
{
    struct sim_species all;
    struct sim_species_entry *entries = sim_heap_new(SIM_RUN_SPECIES, sizeof(*entries));
    sim_species_init(&all, entries, SIM_RUN_SPECIES);
    char *there = add_species_of(move->to, move->new, &all);
    char *strategy = add_species_of(move->from, move->old, &all);
    sim__move_check(move);
    if (strategy != NULL) {
        const struct sim_census census = sim_species_census(&all);
        sim__store_census(move->to, move->new, strategy, &census);
        sim__store_species_list(move->to, move->new, &all);
    }
    free(entries);
    free(strategy);
    free(there);
}

/* ---- After a part was added. ----------------------------------------------------------------- */

/* Ranges of seeds that touch become one. */
static const char *const join_seeds[] = {
        "CREATE TEMP TABLE IF NOT EXISTS joined (first INTEGER, last INTEGER, stride INTEGER)",
        "DELETE FROM joined",
        "INSERT INTO joined SELECT min(first), max(last), stride FROM ("
        " SELECT *, sum(gap) OVER (PARTITION BY stride ORDER BY first) AS block FROM ("
        "  SELECT *, lag(last) OVER (PARTITION BY stride ORDER BY first) IS NOT first - stride"
        "  AS gap FROM seeds WHERE sweep = ?1)) GROUP BY stride, block",
        "DELETE FROM seeds WHERE sweep = ?1",
        "INSERT INTO seeds SELECT ?1, first, last, stride FROM joined",
};

/* `fresh` counts what no earlier run of any shard has covered. A run without news any more has no
 * row, as in the undivided sweep, unless --record all kept it. */
static const char *const count_fresh[] = {
        "UPDATE runs SET fresh = 0 WHERE sweep = ?1",
        "UPDATE runs SET fresh = f.n FROM (SELECT first_run, count(*) AS n FROM coverage"
        " WHERE sweep = ?1 GROUP BY first_run) AS f WHERE sweep = ?1 AND number = f.first_run",
        "UPDATE runs SET news = news & ~2 | iif(fresh > 0, 2, 0) WHERE sweep = ?1",
        "DELETE FROM runs WHERE sweep = ?1 AND news = 0 AND verdict = 0"
        " AND run NOT IN (SELECT run FROM details)",
        "UPDATE sweeps SET complete = (SELECT sum(complete) = max(shards) FROM shards"
        " WHERE sweep = ?1) WHERE sweep = ?1",
};

/* The same for code, before it. */
static const char *const count_fresh_code[] = {
        "UPDATE code_runs SET fresh = 0 WHERE sweep = ?1",
        "UPDATE code_runs SET fresh = f.n FROM (SELECT first_run, count(*) AS n FROM code_coverage"
        " WHERE sweep = ?1 GROUP BY first_run) AS f WHERE sweep = ?1 AND number = f.first_run",
        "UPDATE runs SET news = news & ~16 WHERE sweep = ?1",
        "UPDATE runs SET news = news | 16 WHERE sweep = ?1 AND number IN (SELECT number"
        " FROM code_runs WHERE sweep = ?1 AND fresh > 0)",
        "DELETE FROM code_runs WHERE sweep = ?1 AND fresh = 0 AND number NOT IN (SELECT number"
        " FROM runs WHERE sweep = ?1 AND (verdict <> 0 OR news & 8))",
};

static void
run_each(const struct sim__move *move, const char *const *statements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sim__store_run_int(move->to, statements[i], move->new);
    }
}

static void
join_parts(const struct sim__move *move)
{
    sim__move_rows(move, "SELECT ?2, shard FROM shards WHERE sweep = ?1",
            "INSERT INTO merged_now VALUES (?, ?)");
    run_each(move, join_seeds, COUNT(join_seeds));
    if (sim__store_has(move->to, "code_runs")) {
        run_each(move, count_fresh_code, COUNT(count_fresh_code));
    }
    run_each(move, count_fresh, COUNT(count_fresh));
}

/* ---- What the merge calls. ------------------------------------------------------------------- */

void
sim__move_sweep(struct sim__move *move, bool part)
{
    bool added = move->new != 0;
    make_tables(move);
    if (added) {
        add_totals(move);
        add_species(move);
    } else {
        insert_sweep(move);
    }
    if (sim__store_has(move->from, "code_edges")) {
        move_each(move, code, COUNT(code));
    }
    move_tables(move, added);
    move_each(move, events, COUNT(events));
    sim__move_rows(move, "SELECT ?1, ?2", "INSERT INTO moved VALUES (?, ?)");
    if (part) {
        join_parts(move);
    }
}

/* ---- What belongs to no sweep. --------------------------------------------------------------- */

static const struct rows words[] = {
        {"SELECT * FROM verdicts", "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?)"},
        {"SELECT * FROM oracles", "INSERT OR IGNORE INTO oracles VALUES (?, ?, ?)"},
        {"SELECT * FROM event_kinds", "INSERT OR IGNORE INTO event_kinds VALUES (?, ?, ?)"},
        {"SELECT * FROM object_kinds", "INSERT OR IGNORE INTO object_kinds VALUES (?, ?)"},
        {"SELECT * FROM element_kinds", "INSERT OR IGNORE INTO element_kinds VALUES (?, ?, ?)"},
        {"SELECT * FROM sites", "INSERT OR REPLACE INTO sites VALUES (?, ?, ?, ?, ?)"},
};

/* Of equal failures the first run of a sweep, and of several sweeps the last. */
static const struct rows remembered[] = {
        {"SELECT m.scenario, m.library, m.verdict, m.oracle, m.site, m.token, m.run + ?3, r.sweep"
         " FROM remembered AS m JOIN runs AS r USING (run) ORDER BY m.id",
                "INSERT INTO remembered (scenario, library, verdict, oracle, site, token, run)"
                " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7"
                " WHERE ?8 IN (SELECT old FROM moved)"
                " ON CONFLICT (scenario, verdict, oracle, site) DO UPDATE"
                " SET library = excluded.library, token = excluded.token, run = excluded.run"
                " WHERE (SELECT (n.sweep, -n.number) > (o.sweep, -o.number)"
                "        FROM runs AS n, runs AS o"
                "        WHERE n.run = excluded.run AND o.run = remembered.run) IS NOT 0"},
        {"SELECT scenario, library, verdict, oracle, site, token FROM remembered"
         " WHERE run IS NULL ORDER BY id",
                "INSERT OR IGNORE INTO remembered (scenario, library, verdict, oracle, site, token)"
                " VALUES (?, ?, ?, ?, ?, ?)"},
};

/* The run may be another sweep's, which has moved as well, or was there already. */
static const struct rows again[] = {
        {"SELECT a.sweep, a.run + ?3, r.sweep FROM failed_again AS a JOIN runs AS r USING (run)",
                "INSERT OR IGNORE INTO failed_again SELECT new, ?2 FROM moved"
                " WHERE old = ?1 AND ?3 IN (SELECT old FROM moved)"},
        {"SELECT a.sweep, r.sweep, r.number, r.digest FROM failed_again AS a JOIN runs AS r"
         " USING (run)",
                "INSERT OR IGNORE INTO failed_again SELECT m.new, min(r.run) FROM moved AS m,"
                " known AS k JOIN runs AS r ON r.sweep = k.new WHERE m.old = ?1 AND k.old = ?2"
                " AND r.number = ?3 AND r.digest = ?4 GROUP BY m.new"},
};

void
sim__move_rest(const struct sim__move *move)
{
    move_each(move, words, COUNT(words));
    if (sim__store_has(move->from, "failed_again")) {
        move_each(move, again, COUNT(again));
    }
    move_each(move, remembered, COUNT(remembered));
}
