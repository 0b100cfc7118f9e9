/*
 * ways.c -- distinct failures, and the run that represents each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"
#include "sim/store/read.h"

#define KEY "verdict, oracle, site"

/* Runs of a sweep have numbers from -1 on (store.h). Few are reported: they are looked up. */
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

static bool
has_again(struct sim_store *store)
{
    struct sim__statement statement =
            sim__store_prepare(store, "SELECT 1 FROM sqlite_schema WHERE name = 'failed_again'");
    bool there = sim__store_row(&statement);
    return sim__store_done(&statement) == SIM_STORE_OK && there;
}

enum sim_store_err
sim_store_ways_make(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    const char *sql =
            has_again(store) ? OF_SWEEPS_SQL(AGAIN_SQL) WAYS_SQL : OF_SWEEPS_SQL("") WAYS_SQL;
    return sim__store_sqlite(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}
