/*
 * read.c -- reads runs, their events, distinct failures, and what sweeps have covered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/store/internal.h"

/* ---- A run. ---------------------------------------------------------------------------------- */

#define TEXT(member) SIM__AS(#member, SIM__COPY, struct sim_found_run, member)
#define BYTES(member) SIM__AS(#member, SIM__BYTES_COPY, struct sim_found_run, member)

static const char found_sql[] =
        "SELECT r.run, r.sweep, r.seed, r.digest, r.events, r.verdict, r.oracle, r.site, d.stored,"
        " s.scenario, s.library, s.strategy, coalesce(d.options, s.options), d.token, d.message,"
        " h.token, r.tape, d.hashes FROM runs AS r JOIN sweeps AS s USING (sweep)"
        " LEFT JOIN details AS d USING (run) LEFT JOIN shrunk AS h USING (run) WHERE r.run = ?";
/* The same, in their order. */
static const struct sim__table found_table = {
        .columns = {SIM__EACH(struct sim_found_run, run, sweep, seed, digest, events, verdict,
                            oracle, site),
                SIM__EACH(struct sim_found_run, events_stored), TEXT(scenario), TEXT(library),
                TEXT(strategy), TEXT(options), TEXT(token), TEXT(message), TEXT(shrunk_token),
                BYTES(tape), BYTES(hashes)},
};

/* In place, from the bytes of the file. */
static void
hashes_decode(uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes = (const uint8_t *)&hashes[i];
        uint64_t hash = 0;
        for (size_t k = 8; k > 0; k--) {
            hash = hash << 8 | bytes[k - 1];
        }
        hashes[i] = hash;
    }
}

enum sim_store_err
sim_store_find_run(struct sim_store *store, int64_t run, struct sim_found_run *ret_found)
{
    sim__store_enter(store);
    struct sim__statement statement = sim__store_prepare(store, found_sql);
    sim__put_int(&statement, run);
    struct sim_found_run found = {0};
    if (sim__store_row(&statement)) {
        sim__row_read(statement.stmt, &found_table, &found);
        found.hashes_count /= 8; /* It was their bytes. */
        hashes_decode(found.hashes, found.hashes_count);
    }
    sim__store_done(&statement);
    if (store->err == SIM_STORE_OK && found.run == 0) {
        return sim__store_refuse(store, SIM_STORE_UNKNOWN, "run:%lld", (long long)run);
    }
    if (store->err == SIM_STORE_OK) {
        *ret_found = found;
    } else {
        sim_found_run_clear(&found);
    }
    return store->err;
}

void
sim_found_run_clear(struct sim_found_run *found)
{
    rt_assert(found != NULL);
    free(found->scenario);
    free(found->library);
    free(found->strategy);
    free(found->options);
    free(found->token);
    free(found->message);
    free(found->shrunk_token);
    free(found->tape);
    free(found->hashes);
    *found = (struct sim_found_run){0};
}

enum sim_store_err
sim_store_read_events(struct sim_store *store, int64_t run, uint64_t first,
        struct sim_event *events, uint32_t capacity, uint32_t *ret_count)
{
    sim__store_enter(store);
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT w.step_cause, w.object_site, w.await_actor_kind, w.argument"
            " FROM details AS d CROSS JOIN event_words AS w"
            " ON w.id >= d.first_id + max(0, ?2 - d.first_n) AND w.id < d.first_id + d.stored"
            " WHERE d.run = ?1 ORDER BY w.id LIMIT ?3");
    sim__put_int(&statement, run);
    sim__put_int(&statement, (int64_t)first);
    sim__put_int(&statement, capacity);
    uint32_t count = 0;
    while (count < capacity && sim__store_row(&statement)) {
        sim__row_read(statement.stmt, &sim__event_words, &events[count++]);
    }
    sim__store_done(&statement);
    if (store->err == SIM_STORE_OK) {
        *ret_count = count;
    }
    return store->err;
}

enum sim_store_err
sim_store_run_of_token(struct sim_store *store, const char *token, int64_t *ret_run)
{
    sim__store_enter(store);
    rt_assert(token != NULL);
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT max(run) FROM (SELECT run FROM details WHERE token = ?1 AND run > 0"
            " UNION ALL SELECT run FROM shrunk WHERE token = ?1)");
    sim__put_text(&statement, token);
    int64_t run = sim__store_answer(&statement, 0);
    if (store->err == SIM_STORE_OK && run == 0) {
        return sim__store_refuse(store, SIM_STORE_UNKNOWN, "a run with this token");
    }
    if (store->err == SIM_STORE_OK) {
        *ret_run = run;
    }
    return store->err;
}

/* ---- Distinct failures. ---------------------------------------------------------------------- */

#define KEY "verdict, oracle, site"

/* Runs of a sweep have numbers from -1 on (read.h). Few are reported: they are looked up. */
#define OF_SWEEPS_SQL(again) \
    "CREATE TEMP TABLE IF NOT EXISTS ways_of_sweeps AS SELECT sweep, " KEY ", sum(runs) AS runs," \
    " min(first_number) AS first_number, max(again) AS again," \
    " coalesce(max(again), min(reported), min(first)) AS shown, max(last) AS last FROM (" \
    " SELECT sweep, " KEY ", count(*) AS runs, min(number) AS first_number, min(run) AS first," \
    "  max(run) AS last, NULL AS reported, NULL AS again" \
    "  FROM runs WHERE verdict <> 0 AND number >= -1 GROUP BY sweep, " KEY \
    " UNION ALL SELECT sweep, " KEY ", 0, NULL, NULL, NULL, r.run, NULL" \
    "  FROM details AS d CROSS JOIN runs AS r ON r.run = d.run" \
    "  WHERE verdict <> 0 AND number >= -1" again ") GROUP BY sweep, " KEY ";"

#define AGAIN_SQL \
    " UNION ALL SELECT a.sweep, " KEY ", 0, NULL, NULL, a.run, NULL, a.run" \
    "  FROM failed_again AS a JOIN runs AS r ON r.run = a.run"

#define WAYS_SQL \
    "CREATE TEMP VIEW IF NOT EXISTS ways AS SELECT scenario, " KEY ", runs, shown, last FROM (" \
    " SELECT s.scenario, " KEY ", sum(w.runs) OVER way AS runs, w.shown," \
    "  max(w.last) OVER way AS last," \
    "  row_number() OVER (PARTITION BY s.scenario, " KEY " ORDER BY w.sweep DESC) AS age" \
    "  FROM temp.ways_of_sweeps AS w JOIN sweeps AS s USING (sweep)" \
    "  WINDOW way AS (PARTITION BY s.scenario, " KEY ")) WHERE age = 1;"

enum sim_store_err
sim_store_ways_make(struct sim_store *store)
{
    sim__store_enter(store);
    sim__store_execute(store, sim__store_has(store, "failed_again") ? OF_SWEEPS_SQL(AGAIN_SQL)
                                                                              WAYS_SQL
                                                                    : OF_SWEEPS_SQL("") WAYS_SQL);
    return store->err;
}

enum sim_store_err
sim_store_growth_make(struct sim_store *store)
{
    sim__store_enter(store);
    sim__store_execute(store,
            "CREATE TEMP TABLE IF NOT EXISTS growth AS"
            " SELECT sweep, number + 1 AS runs, fresh AS points FROM runs WHERE fresh > 0;"
            "CREATE INDEX IF NOT EXISTS temp.growth_of_sweep ON growth (sweep, runs, points);");
    return store->err;
}

enum sim_store_err
sim_store_is_explained(struct sim_store *store, int64_t run, bool *ret_explained)
{
    sim__store_enter(store);
    struct sim__statement statement = sim__store_prepare(
            store, sim__store_has(store, "explained")
                           ? "SELECT verdict = 0 OR run IN (SELECT run FROM explained) FROM runs"
                             " WHERE run = ?"
                           : "SELECT verdict = 0 FROM runs WHERE run = ?");
    sim__put_int(&statement, run);
    int64_t explained = sim__store_answer(&statement, -1);
    if (store->err == SIM_STORE_OK && explained < 0) {
        return sim__store_refuse(store, SIM_STORE_UNKNOWN, "run:%lld", (long long)run);
    }
    *ret_explained = explained > 0;
    return store->err;
}

#define UNEXPLAINED_SQL(where) "SELECT shown FROM ways" where " ORDER BY verdict = ?, last DESC"

enum sim_store_err
sim_store_unexplained(
        struct sim_store *store, int64_t *ret_runs, uint32_t capacity, uint32_t *ret_count)
{
    enum sim_store_err err = sim_store_ways_make(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct sim__statement statement = sim__store_prepare(
            store, sim__store_has(store, "explained")
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
    sim__store_done(&statement);
    return store->err;
}

/* ---- What sweeps covered. -------------------------------------------------------------------- */

#define COLUMNS_MAX 8

/* Sweeps of which coverage was noted, also those whose runs covered nothing. */
#define NOTED "SELECT sweep FROM coverage UNION SELECT sweep FROM sweep_strategies"

static const char *const questions[] = {
        [SIM_ASKED_SWEEPS] = "SELECT s.sweep, s.scenario, s.library, s.strategy, s.runs,"
                             " (SELECT coalesce(sum(v.runs), 0) FROM sweep_verdicts AS v"
                             "  WHERE v.sweep = s.sweep AND v.verdict <> 0),"
                             " (SELECT count(*) FROM coverage AS c WHERE c.sweep = s.sweep),"
                             " (SELECT coalesce(max(first_run) + 1, 0) FROM coverage AS c"
                             "  WHERE c.sweep = s.sweep)"
                             " FROM sweeps AS s WHERE s.runs > 0"
                             " AND s.sweep IN (" NOTED ")"
                             " AND (s.sweep = ?1 OR ?1 = -1 OR ?1 = 0 AND s.sweep IN"
                             " (SELECT max(sweep) FROM sweeps WHERE runs > 0"
                             "  AND sweep IN (" NOTED ") GROUP BY scenario))"
                             " ORDER BY s.scenario, s.sweep",
        [SIM_ASKED_ELEMENTS] = "SELECT c.element, k.meaning, c.place, c.other, c.runs, c.first_run"
                               " FROM covered AS c JOIN element_kinds AS k ON k.name = c.element"
                               " WHERE c.sweep = ?1 ORDER BY k.kind, c.runs DESC, c.place, c.other",
        [SIM_ASKED_GROWTH] = "SELECT runs_so_far, covered FROM coverage_growth"
                             " WHERE sweep = ?1 ORDER BY runs_so_far",
        [SIM_ASKED_DRAWN] = "SELECT strategy, runs, failures,"
                            " min(1000000000, (3000000000 + runs - 1) / runs)"
                            " FROM sweep_strategies WHERE sweep = ?1 AND runs > 0"
                            " ORDER BY runs DESC, strategy",
        [SIM_ASKED_SPECIES] = "SELECT strategy, runs, seen, once, twice, level"
                              " FROM sweep_species WHERE sweep = ?1",
        [SIM_ASKED_GOALS] = "SELECT what, text, place, runs FROM goals_reached"
                            " WHERE sweep = ?1 ORDER BY runs, place",
        [SIM_ASKED_NEWS] = "SELECT run FROM runs WHERE sweep = ?1 AND (fresh > 0 OR news & 16)"
                           " ORDER BY number",
        [SIM_ASKED_CODE] = "SELECT edge, file, nth FROM code_edges WHERE ?1 = ?1"
                           " ORDER BY edge",
        [SIM_ASKED_CODE_REACHED] = "SELECT edge, before_fault FROM code_coverage WHERE sweep = ?1",
};

enum sim_store_err
sim_store_ask(struct sim_store *store, enum sim_asked asked, int64_t sweep,
        bool (*row)(const char *const *columns, void *argument), void *argument)
{
    sim__store_enter(store);
    struct sim__statement statement = sim__store_prepare(store, questions[asked]);
    sim__put_int(&statement, sweep);
    bool more = true;
    while (more && sim__store_row(&statement)) {
        const char *columns[COLUMNS_MAX] = {NULL};
        int count = sqlite3_column_count(statement.stmt);
        for (int i = 0; i < count && i < COLUMNS_MAX; i++) {
            columns[i] = (const char *)sqlite3_column_text(statement.stmt, i);
        }
        more = row(columns, argument);
    }
    sim__store_done(&statement);
    return store->err;
}

enum sim_store_err
sim_store_code_known(struct sim_store *store, bool *ret_known)
{
    sim__store_enter(store);
    *ret_known = sim__store_has(store, "code_edges");
    return SIM_STORE_OK;
}
