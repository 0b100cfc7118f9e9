/*
 * coverage.c -- writes and reads what a sweep has covered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/coverage.h"
#include "sim/store/internal.h"

/* The transaction around `insert`, which writes with `statement`. */
static enum sim_store_err
write_with(struct sim_store *store, const char *sql,
        void (*insert)(struct sim__statement *statement, const void *rows, uint32_t row),
        int64_t sweep, const void *rows, uint32_t count)
{
    rt_check(store, SIM__STORE_MAGIC);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct sim__statement statement = sim__store_prepare(store, sql);
    for (uint32_t i = 0; i < count; i++) {
        sim__put_int(&statement, sweep);
        insert(&statement, rows, i);
        (void)sim__store_run(&statement);
    }
    return sim__store_end(store, sim__store_done(&statement));
}

static void
put_covered(struct sim__statement *statement, const void *rows, uint32_t row)
{
    const struct sim_covered *covered = (const struct sim_covered *)rows + row;
    sim__put_int(statement, covered->element.kind);
    sim__put_int(statement, covered->element.first);
    sim__put_int(statement, covered->element.second);
    sim__put_bits(statement, covered->first_run);
    sim__put_bits(statement, covered->runs);
}

enum sim_store_err
sim_store_covered(
        struct sim_store *store, int64_t sweep, const struct sim_covered *covered, uint32_t count)
{
    return write_with(store, "INSERT OR REPLACE INTO coverage VALUES (?, ?, ?, ?, ?, ?)",
            put_covered, sweep, covered, count);
}

static void
put_drawn(struct sim__statement *statement, const void *rows, uint32_t row)
{
    const struct sim_drawn *drawn = (const struct sim_drawn *)rows + row;
    sim__put_text(statement, drawn->strategy);
    sim__put_bits(statement, drawn->runs);
    sim__put_bits(statement, drawn->failures);
}

enum sim_store_err
sim_store_drawn(
        struct sim_store *store, int64_t sweep, const struct sim_drawn *drawn, uint32_t count)
{
    return write_with(store, "INSERT OR REPLACE INTO sweep_strategies VALUES (?, ?, ?, ?)",
            put_drawn, sweep, drawn, count);
}

struct species {
    const char *strategy;
    const struct sim_census *census;
};

static void
put_species(struct sim__statement *statement, const void *rows, uint32_t row)
{
    const struct species *species = (const struct species *)rows + row;
    sim__put_text(statement, species->strategy);
    sim__put_bits(statement, species->census->runs);
    sim__put_bits(statement, species->census->seen);
    sim__put_bits(statement, species->census->once);
    sim__put_bits(statement, species->census->twice);
    sim__put_int(statement, species->census->level);
}

enum sim_store_err
sim_store_species(struct sim_store *store, int64_t sweep, const char *strategy,
        const struct sim_census *census)
{
    const struct species species = {strategy, census};
    return write_with(store, "INSERT OR REPLACE INTO sweep_species VALUES (?, ?, ?, ?, ?, ?, ?)",
            put_species, sweep, &species, 1);
}

static void
put_goal(struct sim__statement *statement, const void *rows, uint32_t row)
{
    const struct sim_goal *goal = (const struct sim_goal *)rows + row;
    sim__put_int(statement, goal->site);
    sim__put_text(statement, goal->what);
    sim__put_text(statement, goal->text);
}

enum sim_store_err
sim_store_goals(
        struct sim_store *store, int64_t sweep, const struct sim_goal *goals, uint32_t count)
{
    return write_with(store, "INSERT OR REPLACE INTO goals VALUES (?, ?, ?, ?)", put_goal, sweep,
            goals, count);
}

/* ---- Read again. ----------------------------------------------------------------------------- */

#define COLUMNS_MAX 8

/* Sweeps of which coverage was noted, also those whose runs covered nothing. */
#define LOOKED_AT "SELECT sweep FROM coverage UNION SELECT sweep FROM sweep_strategies"

static const char *const questions[] = {
        [SIM_ASKED_SWEEPS] = "SELECT s.sweep, s.scenario, s.library, s.strategy, s.runs,"
                             " (SELECT coalesce(sum(v.runs), 0) FROM sweep_verdicts AS v"
                             "  WHERE v.sweep = s.sweep AND v.verdict <> 0),"
                             " (SELECT count(*) FROM coverage AS c WHERE c.sweep = s.sweep),"
                             " (SELECT coalesce(max(first_run) + 1, 0) FROM coverage AS c"
                             "  WHERE c.sweep = s.sweep)"
                             " FROM sweeps AS s WHERE s.runs > 0"
                             " AND s.sweep IN (" LOOKED_AT ")"
                             " AND (s.sweep = ?1 OR ?1 = -1 OR ?1 = 0 AND s.sweep IN"
                             " (SELECT max(sweep) FROM sweeps WHERE runs > 0"
                             "  AND sweep IN (" LOOKED_AT ") GROUP BY scenario))"
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
    rt_check(store, SIM__STORE_MAGIC);
    struct sim__statement statement = sim__store_prepare(store, questions[asked]);
    sim__put_int(&statement, sweep);
    bool goes_on = true;
    while (goes_on && sim__store_row(&statement)) {
        const char *columns[COLUMNS_MAX] = {NULL};
        int count = sqlite3_column_count(statement.stmt);
        for (int i = 0; i < count && i < COLUMNS_MAX; i++) {
            columns[i] = (const char *)sqlite3_column_text(statement.stmt, i);
        }
        goes_on = row(columns, argument);
    }
    return sim__store_done(&statement);
}
