/*
 * move.c -- copies and adds up the rows of a sweep.
 *
 * Every table with a column `run` or `sweep` is copied, also one of a newer rewake; only those
 * whose rows add up are named here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/merge/move.h"

#include <stdlib.h>
#include <string.h>

extern const char sim_code_sql[];
extern const char sim_notes_sql[];
extern const char sim_stacks_sql[];

/* ---- Rows. ----------------------------------------------------------------------------------- */

/* Parameters: ?1 the old sweep, ?2 the new one, ?3 shift of runs, ?4 of events. */
static void
put_move(struct sim__statement *statement, const struct sim__move *move)
{
    const int64_t values[] = {move->old, move->new, move->run_shift, move->event_shift};
    int count = statement->err == SIM_STORE_OK ? sqlite3_bind_parameter_count(statement->stmt) : 0;
    for (int i = 0; i < count; i++) {
        sim__put_int(statement, values[i]);
    }
}

enum sim_store_err
sim__move_rows(const struct sim__move *move, const char *select, const char *insert)
{
    struct sim__statement source = sim__store_prepare(move->from, select);
    struct sim__statement target = sim__store_prepare(move->to, insert);
    put_move(&source, move);
    while (target.err == SIM_STORE_OK && sim__store_row(&source)) {
        for (int i = 0; i < sqlite3_column_count(source.stmt); i++) {
            sim__put_value(&target, sqlite3_column_value(source.stmt, i));
        }
        (void)sim__store_run(&target);
    }
    enum sim_store_err err = sim__store_done(&source);
    enum sim_store_err target_err = sim__store_done(&target);
    return target_err != SIM_STORE_OK ? target_err : err;
}

struct rows {
    const char *select;
    const char *insert;
};

static enum sim_store_err
move_each(const struct sim__move *move, const struct rows *rows, size_t count)
{
    enum sim_store_err err = SIM_STORE_OK;
    for (size_t i = 0; i < count && err == SIM_STORE_OK; i++) {
        err = sim__move_rows(move, rows[i].select, rows[i].insert);
    }
    return err;
}

/* ---- Tables whose rows are copied. ----------------------------------------------------------- */

/* All but those that add up, or are handled separately below. */
static const char tables_sql[] =
        "SELECT m.name, group_concat(CASE p.name WHEN 'run' THEN 'run + ?3' WHEN 'sweep' THEN '?2'"
        " WHEN 'first_id' THEN 'first_id + ?4' ELSE p.name END), group_concat(p.name),"
        " count(*), max(p.name = 'sweep')"
        " FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS p"
        " WHERE m.type = 'table' AND m.name NOT IN ('sweeps', 'sweep_verdicts', 'seeds',"
        " 'coverage', 'code_coverage', 'sweep_strategies', 'sweep_species', 'goals', 'shards',"
        " 'species', 'remembered', 'sweep_notes', 'also_stated', 'failed_again', 'explained',"
        " 'told') GROUP BY m.name HAVING "
        "max(p.name IN ('run', "
        "'sweep'))"
        " ORDER BY m.name <> 'runs', m.name";

/* `table` as it is in both databases; the columns come from `to`, which is known to be ours. */
static enum sim_store_err
move_table(const struct sim__move *move, sqlite3_stmt *table)
{
    const char *name = (const char *)sqlite3_column_text(table, 0);
    bool of_sweep = sqlite3_column_int(table, 4) != 0;
    sqlite3_str *marks = sqlite3_str_new(move->to->db);
    for (int i = 0; i < sqlite3_column_int(table, 3); i++) {
        sqlite3_str_appendall(marks, i > 0 ? ", ?" : "?");
    }
    char *list = sqlite3_str_finish(marks);
    char *select = sqlite3_mprintf("SELECT %s FROM %s WHERE %s",
            (const char *)sqlite3_column_text(table, 1), name,
            of_sweep ? "sweep = ?1" : "run IN (SELECT run FROM runs WHERE sweep = ?1)");
    char *insert = sqlite3_mprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", name,
            (const char *)sqlite3_column_text(table, 2), list);
    rt_assert(list != NULL && select != NULL && insert != NULL);
    enum sim_store_err err = sim__move_rows(move, select, insert);
    sqlite3_free(list);
    sqlite3_free(select);
    sqlite3_free(insert);
    return err;
}

/* Where shards ended differently, the end of one that is not complete counts. */
static const struct rows notes[] = {
        {"SELECT ?2, command_ms, about, file, stated, held, ended, checked, unequal"
         " FROM sweep_notes WHERE sweep = ?1",
                "INSERT INTO sweep_notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET command_ms = min(command_ms, excluded.command_ms),"
                " ended = iif(ended = 'complete', excluded.ended, ended),"
                " checked = checked + excluded.checked, unequal = unequal + excluded.unequal"},
};

static const struct rows also[] = {
        {"SELECT ?2, verdict FROM also_stated WHERE sweep = ?1",
                "INSERT OR IGNORE INTO also_stated VALUES (?, ?)"},
};

static enum sim_store_err
move_tables(const struct sim__move *move)
{
    struct sim__statement tables = sim__store_prepare(move->to, tables_sql);
    enum sim_store_err err = SIM_STORE_OK;
    while (err == SIM_STORE_OK && sim__store_row(&tables)) {
        if (sim__store_has(move->from, (const char *)sqlite3_column_text(tables.stmt, 0))) {
            err = move_table(move, tables.stmt);
        }
    }
    enum sim_store_err done = sim__store_done(&tables);
    return err != SIM_STORE_OK ? err : done;
}

/* An older rewake has noted nothing. */
static enum sim_store_err
move_notes(const struct sim__move *move)
{
    if (!sim__store_has(move->from, "sweep_notes")) {
        return SIM_STORE_OK;
    }
    enum sim_store_err err = sim__store_make(move->to, "failed_again", sim_notes_sql);
    err = err == SIM_STORE_OK ? move_each(move, notes, 1) : err;
    bool more = err == SIM_STORE_OK && sim__store_has(move->from, "also_stated");
    return more ? move_each(move, also, 1) : err;
}

/* ---- What adds up. --------------------------------------------------------------------------- */

static const struct rows sums[] = {
        {"SELECT id + ?4, step_cause, object_site, await_actor_kind, argument"
         " FROM details AS d CROSS JOIN event_words AS w"
         " ON w.id >= d.first_id AND w.id < d.first_id + d.stored"
         " WHERE d.run IN (SELECT run FROM runs WHERE sweep = ?1)",
                "INSERT INTO event_words VALUES (?, ?, ?, ?, ?)"},
        {"SELECT ?2, verdict, runs FROM sweep_verdicts WHERE sweep = ?1",
                "INSERT INTO sweep_verdicts VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET runs = runs + excluded.runs"},
        {"SELECT ?2, first, last, stride FROM seeds WHERE sweep = ?1",
                "INSERT INTO seeds VALUES (?, ?, ?, ?)"},
        {"SELECT ?2, kind, site, other, first_run, runs FROM coverage WHERE sweep = ?1",
                "INSERT INTO coverage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET first_run = min(first_run, excluded.first_run), runs = runs + excluded.runs"},
        {"SELECT ?2, strategy, runs, failures FROM sweep_strategies WHERE sweep = ?1",
                "INSERT INTO sweep_strategies VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET runs = runs + excluded.runs, failures = failures + excluded.failures"},
        {"SELECT ?2, site, what, text FROM goals WHERE sweep = ?1",
                "INSERT OR IGNORE INTO goals VALUES (?, ?, ?, ?)"},
};

/* Of code (code.sql). A set that is there stays as it is; a new one is written out, since its base
 * may be stored as another difference here. */
static const struct rows code[] = {
        {"SELECT edge, file, function, line, nth FROM code_edges",
                "INSERT OR IGNORE INTO code_edges VALUES (?, ?, ?, ?, ?)"},
        {"SELECT code_set, edge FROM code_set_members WHERE code_set IN (SELECT code_set"
         " FROM code_runs WHERE sweep = ?1 UNION SELECT before FROM code_runs WHERE sweep = ?1)",
                "INSERT INTO code_set_edges SELECT ?1, ?2, 1"
                " WHERE NOT EXISTS (SELECT 1 FROM code_sets WHERE code_set = ?1)"},
        {"SELECT code_set, edges FROM code_sets WHERE code_set IN (SELECT code_set"
         " FROM code_runs WHERE sweep = ?1 UNION SELECT before FROM code_runs WHERE sweep = ?1)",
                "INSERT OR IGNORE INTO code_sets VALUES (?1, NULL, ?2)"},
        {"SELECT ?2, edge, first_run, runs, before_fault FROM code_coverage WHERE sweep = ?1",
                "INSERT INTO code_coverage VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET first_run = min(first_run, excluded.first_run), runs = runs + excluded.runs,"
                " before_fault = before_fault + excluded.before_fault"},
};

/* Of a sweep that is new there. */
static const struct rows beginning[] = {
        {"SELECT ?2, strategy, runs, seen, once, twice, level FROM sweep_species WHERE sweep = ?1",
                "INSERT INTO sweep_species VALUES (?, ?, ?, ?, ?, ?, ?)"},
};

static const struct rows beginning_of_part[] = {
        {"SELECT ?2, species, runs FROM species WHERE sweep = ?1",
                "INSERT INTO species VALUES (?, ?, ?)"},
};

static const struct rows parts[] = {
        {"SELECT ?2, shard, shards, chapter, asked, started_ms, elapsed_ms, runs, digest, complete"
         " FROM shards WHERE sweep = ?1",
                "INSERT INTO shards VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {"SELECT ?2, shard FROM shards WHERE sweep = ?1", "INSERT INTO merged_now VALUES (?, ?)"},
};

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* ---- A sweep's own row. ---------------------------------------------------------------------- */

#define SWEEP_COLUMNS \
    "scenario, library, strategy, options, build, git, seed_first, started_ms, elapsed_ms, runs," \
    " steps, sim_ns, digest, complete"

static enum sim_store_err
insert_sweep(struct sim__move *move)
{
    enum sim_store_err err =
            sim__move_rows(move, "SELECT " SWEEP_COLUMNS " FROM sweeps WHERE sweep = ?1",
                    "INSERT INTO sweeps (" SWEEP_COLUMNS ")"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    move->new = sqlite3_last_insert_rowid(move->to->db);
    return err;
}

/* Digests are added modulo 2^64, which SQL cannot do. */
static enum sim_store_err
add_totals(const struct sim__move *move)
{
    static const char digest_sql[] = "SELECT digest FROM sweeps WHERE sweep = ?";
    int64_t there = 0;
    int64_t more = 0;
    enum sim_store_err err = sim__store_ask_int(move->to, digest_sql, move->new, &there);
    if (err == SIM_STORE_OK) {
        err = sim__store_ask_int(move->from, digest_sql, move->old, &more);
    }
    if (err == SIM_STORE_OK) {
        err = sim__move_rows(move,
                "SELECT ?2, started_ms, elapsed_ms, runs, steps, sim_ns FROM sweeps"
                " WHERE sweep = ?1",
                "UPDATE sweeps SET started_ms = min(started_ms, ?2), elapsed_ms = elapsed_ms + ?3,"
                " runs = runs + ?4, steps = steps + ?5, sim_ns = sim_ns + ?6 WHERE sweep = ?1");
    }
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct sim__statement statement =
            sim__store_prepare(move->to, "UPDATE sweeps SET digest = ? WHERE sweep = ?");
    sim__put_int(&statement, (int64_t)((uint64_t)there + (uint64_t)more));
    sim__put_int(&statement, move->new);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

/* ---- Species. -------------------------------------------------------------------------------- */

/* What `sweep` has counted, in `ret`, whose entries are the caller's to free. */
static enum sim_store_err
read_species(struct sim_store *store, int64_t sweep, struct sim_species *ret, char **ret_strategy)
{
    *ret = (struct sim_species){
            .entries = calloc(SIM_RUN_SPECIES, sizeof(*ret->entries)), .capacity = SIM_RUN_SPECIES};
    rt_assert(ret->entries != NULL);
    struct sim__statement row = sim__store_prepare(
            store, "SELECT strategy, runs, level FROM sweep_species WHERE sweep = ?");
    sim__put_int(&row, sweep);
    if (sim__store_row(&row)) {
        *ret_strategy = strdup((const char *)sqlite3_column_text(row.stmt, 0));
        ret->runs = (uint64_t)sqlite3_column_int64(row.stmt, 1);
        ret->level = (uint32_t)sqlite3_column_int(row.stmt, 2);
    }
    enum sim_store_err err = sim__store_done(&row);
    if (err != SIM_STORE_OK) {
        return err;
    }
    /* To be merged, the entries may stand in any order. */
    struct sim__statement rows =
            sim__store_prepare(store, "SELECT species, runs FROM species WHERE sweep = ?");
    sim__put_int(&rows, sweep);
    while (ret->used < ret->capacity && sim__store_row(&rows)) {
        ret->entries[ret->used++] =
                (struct sim_species_entry){(uint64_t)sqlite3_column_int64(rows.stmt, 0),
                        (uint64_t)sqlite3_column_int64(rows.stmt, 1)};
    }
    return sim__store_done(&rows);
}

static enum sim_store_err
write_species(const struct sim__move *move, const char *strategy, const struct sim_species *species)
{
    const struct sim_census census = sim_species_census(species);
    enum sim_store_err err = sim__store_census(move->to, move->new, strategy, &census);
    return err == SIM_STORE_OK ? sim__store_species_list(move->to, move->new, species) : err;
}

static enum sim_store_err
add_species(const struct sim__move *move)
{
    char *strategy = NULL;
    struct sim_species there = {.entries = NULL};
    struct sim_species more = {.entries = NULL};
    struct sim_species all = {.entries = NULL};
    struct sim_species_entry *entries = calloc(SIM_RUN_SPECIES, sizeof(*entries));
    rt_assert(entries != NULL);
    sim_species_init(&all, entries, SIM_RUN_SPECIES);
    enum sim_store_err err = read_species(move->to, move->new, &there, &strategy);
    if (err == SIM_STORE_OK) {
        free(strategy);
        strategy = NULL;
        err = read_species(move->from, move->old, &more, &strategy);
    }
    if (err == SIM_STORE_OK && strategy != NULL) {
        sim_species_merge(&all, &there);
        sim_species_merge(&all, &more);
        err = write_species(move, strategy, &all);
    }
    free(there.entries);
    free(more.entries);
    free(entries);
    free(strategy);
    return err;
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

static enum sim_store_err
run_each(const struct sim__move *move, const char *const *statements, size_t count)
{
    enum sim_store_err err = SIM_STORE_OK;
    for (size_t i = 0; i < count && err == SIM_STORE_OK; i++) {
        struct sim__statement statement = sim__store_prepare(move->to, statements[i]);
        if (sqlite3_bind_parameter_count(statement.stmt) > 0) {
            sim__put_int(&statement, move->new);
        }
        (void)sim__store_run(&statement);
        err = sim__store_done(&statement);
    }
    return err;
}

/* ---- What the merge calls. ------------------------------------------------------------------- */

static enum sim_store_err
note_moved(const struct sim__move *move)
{
    struct sim__statement statement =
            sim__store_prepare(move->to, "INSERT INTO moved VALUES (?, ?)");
    sim__put_int(&statement, move->old);
    sim__put_int(&statement, move->new);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

static enum sim_store_err
move_all(const struct sim__move *move)
{
    bool has_code = sim__store_has(move->from, "code_edges");
    enum sim_store_err err =
            has_code ? sim__store_make(move->to, "code_edges", sim_code_sql) : SIM_STORE_OK;
    if (err == SIM_STORE_OK && has_code) {
        err = move_each(move, code, COUNT(code));
    }
    if (err == SIM_STORE_OK) {
        err = sim__move_explained(move);
    }
    if (err == SIM_STORE_OK && sim__store_has(move->from, "stacks")) {
        err = sim__store_make(move->to, "stacks", sim_stacks_sql);
    }
    if (err == SIM_STORE_OK) {
        err = move_tables(move);
    }
    if (err == SIM_STORE_OK) {
        err = move_notes(move);
    }
    if (err == SIM_STORE_OK) {
        err = move_each(move, sums, COUNT(sums));
    }
    return err == SIM_STORE_OK ? note_moved(move) : err;
}

enum sim_store_err
sim__move_sweep(struct sim__move *move)
{
    enum sim_store_err err = insert_sweep(move);
    if (err == SIM_STORE_OK) {
        err = move_each(move, beginning, COUNT(beginning));
    }
    return err == SIM_STORE_OK ? move_all(move) : err;
}

/* The first shard of its sweep: reserve the numbers of the others as well. */
static enum sim_store_err
begin_part(struct sim__move *move)
{
    enum sim_store_err err = sim__move_sweep(move);
    if (err == SIM_STORE_OK) {
        err = move_each(move, beginning_of_part, COUNT(beginning_of_part));
    }
    return err == SIM_STORE_OK ? move_each(move, parts, COUNT(parts)) : err;
}

static enum sim_store_err
add_part(struct sim__move *move)
{
    enum sim_store_err err = add_totals(move);
    if (err == SIM_STORE_OK) {
        err = add_species(move);
    }
    if (err == SIM_STORE_OK) {
        err = move_all(move);
    }
    return err == SIM_STORE_OK ? move_each(move, parts, COUNT(parts)) : err;
}

enum sim_store_err
sim__move_part(struct sim__move *move)
{
    enum sim_store_err err = move->new == 0 ? begin_part(move) : add_part(move);
    if (err == SIM_STORE_OK) {
        err = run_each(move, join_seeds, COUNT(join_seeds));
    }
    if (err == SIM_STORE_OK && sim__store_has(move->to, "code_runs")) {
        err = run_each(move, count_fresh_code, COUNT(count_fresh_code));
    }
    return err == SIM_STORE_OK ? run_each(move, count_fresh, COUNT(count_fresh)) : err;
}

/* ---- What belongs to no sweep. --------------------------------------------------------------- */

static const struct rows rest_rows[] = {
        {"SELECT verdict, name, meaning FROM verdicts",
                "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?)"},
        {"SELECT oracle, name, meaning FROM oracles",
                "INSERT OR IGNORE INTO oracles VALUES (?, ?, ?)"},
        {"SELECT kind, name, meaning FROM event_kinds",
                "INSERT OR IGNORE INTO event_kinds VALUES (?, ?, ?)"},
        {"SELECT kind, name FROM object_kinds", "INSERT OR IGNORE INTO object_kinds VALUES (?, ?)"},
        {"SELECT kind, name, meaning FROM element_kinds",
                "INSERT OR IGNORE INTO element_kinds VALUES (?, ?, ?)"},
        {"SELECT site, file, function, line, counter FROM sites",
                "INSERT OR REPLACE INTO sites VALUES (?, ?, ?, ?, ?)"},
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

enum sim_store_err
sim__move_rest(const struct sim__move *move)
{
    bool covers = sim__store_has(move->from, "element_kinds");
    for (size_t i = 0; i < COUNT(rest_rows); i++) {
        bool there = covers || strstr(rest_rows[i].select, "element_kinds") == NULL;
        enum sim_store_err err =
                there ? sim__move_rows(move, rest_rows[i].select, rest_rows[i].insert)
                      : SIM_STORE_OK;
        if (err != SIM_STORE_OK) {
            return err;
        }
    }
    enum sim_store_err err = sim__store_has(move->from, "failed_again")
                                     ? move_each(move, again, COUNT(again))
                                     : SIM_STORE_OK;
    return err == SIM_STORE_OK ? move_each(move, remembered, COUNT(remembered)) : err;
}
