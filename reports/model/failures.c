/*
 * failures.c -- which failures a database has, grouped by cause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/failures.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"

bool
report_has_table(struct sim_store *store, const char *name)
{
    struct report_ask ask = report_ask(store, "SELECT 1 FROM sqlite_schema WHERE name = ?");
    report_put_text(&ask, name);
    bool there = report_row(&ask);
    return report_done(&ask) == SIM_STORE_OK && there;
}

#define WAYS_SQL(again) \
    "CREATE TEMP TABLE IF NOT EXISTS report_ways AS SELECT sweep, verdict, oracle, site," \
    " sum(runs) AS runs, min(first_number) AS first_number, min(first) AS first," \
    " max(last) AS last, max(again) AS again FROM (SELECT sweep, verdict, oracle, site," \
    "  count(*) AS runs, min(number) AS first_number, min(run) AS first, max(run) AS last," \
    "  NULL AS again FROM runs WHERE verdict <> 0 AND number >= -1" \
    "  GROUP BY sweep, verdict, oracle, site" again ") GROUP BY sweep, verdict, oracle, site"

/* A table of the connection's own: the file is only read. */
enum sim_store_err
report_ways_make(struct sim_store *store)
{
    const char *sql =
            report_has_table(store, "failed_again")
                    ? WAYS_SQL(" UNION ALL SELECT a.sweep, verdict, oracle, site, 0, NULL,"
                               " a.run, a.run, a.run FROM failed_again AS a"
                               " JOIN runs AS r ON r.run = a.run")
                    : WAYS_SQL("");
    int rc = sqlite3_exec(sim_store_handle(store), sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? SIM_STORE_OK : sim_store_refused(store, rc);
}

/* Of each way to fail the run that is shown: explained, with events, the newest; else the newest of
 * all. What else is known is known of few. */
#define FAILURES_SQL(kept, explained) \
    "WITH ways AS (SELECT s.scenario, w.verdict, w.oracle, w.site, sum(w.runs) AS runs," \
    "   max(w.last) AS last" \
    "  FROM report_ways AS w JOIN sweeps AS s USING (sweep) GROUP BY s.scenario, w.verdict, " \
    "w.oracle, w.site)," \
    " known AS (SELECT r.run, s.scenario, r.verdict, r.oracle, r.site, " explained \
    " AS explained," \
    "  row_number() OVER (PARTITION BY s.scenario, r.verdict, r.oracle, r.site" \
    "   ORDER BY " explained " DESC, coalesce(e.stored, 0) > 0 DESC, r.run DESC) AS rank" \
    "  FROM (" kept ") AS k CROSS JOIN runs AS r ON r.run = k.run JOIN sweeps AS s USING (sweep)" \
    "  LEFT JOIN details AS e ON e.run = k.run WHERE r.verdict <> 0)," \
    " shown AS (SELECT w.*, coalesce(k.run, w.last) AS run, coalesce(k.explained, 0) AS explained" \
    "  FROM ways AS w LEFT JOIN known AS k ON k.rank = 1 AND k.scenario = w.scenario" \
    "  AND k.verdict = w.verdict AND k.oracle = w.oracle AND k.site = w.site" \
    "  AND (k.explained OR EXISTS (SELECT 1 FROM details AS d" \
    "   WHERE d.run = k.run AND d.stored > 0)))" \
    " SELECT f.run, f.runs, f.verdict, f.oracle, f.site, f.explained, f.scenario," \
    " coalesce(d.message, ''), coalesce(p.place, '')" \
    " FROM shown AS f LEFT JOIN details AS d USING (run) LEFT JOIN places AS p ON p.site = f.site" \
    " ORDER BY f.last DESC"

static bool
add(struct report_failures *failures, uint32_t *capacity, struct report_ask *ask)
{
    if (failures->count == *capacity) {
        uint32_t grown = *capacity != 0 ? *capacity * 2 : 64;
        struct report_failure *more = reallocarray(failures->failures, grown, sizeof(*more));
        if (more == NULL) {
            return false;
        }
        failures->failures = more;
        *capacity = grown;
    }
    struct report_failure *failure = &failures->failures[failures->count++];
    *failure = (struct report_failure){
            .run = report_int(ask, 0),
            .count = report_int(ask, 1),
            .verdict = (uint32_t)report_int(ask, 2),
            .oracle = (uint32_t)report_int(ask, 3),
            .site = (uint32_t)report_int(ask, 4),
            .explained = report_int(ask, 5) != 0,
            .scenario = strdup(report_text(ask, 6)),
            .message = strdup(report_text(ask, 7)),
            .place = strdup(report_text(ask, 8)),
    };
    return failure->scenario != NULL && failure->message != NULL && failure->place != NULL;
}

enum sim_store_err
report_failures_load(struct sim_store *store, struct report_failures *ret_failures)
{
    uint32_t capacity = 0;
    bool room = true;
    *ret_failures = (struct report_failures){.count = 0};
    enum sim_store_err err = report_ways_make(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct report_ask ask = report_ask(store,
            report_has_table(store, "explained") ? FAILURES_SQL("SELECT run FROM details UNION"
                                                                " SELECT run FROM explained",
                                                           "(r.run IN (SELECT run FROM explained))")
                                                 : FAILURES_SQL("SELECT run FROM details", "0"));
    while (room && report_row(&ask)) {
        room = add(ret_failures, &capacity, &ask);
    }
    err = report_done(&ask);
    return err == SIM_STORE_OK && !room ? sim_store_refused(store, SQLITE_NOMEM) : err;
}

void
report_failures_free(struct report_failures *failures)
{
    for (uint32_t i = 0; i < failures->count; i++) {
        free(failures->failures[i].scenario);
        free(failures->failures[i].message);
        free(failures->failures[i].place);
    }
    free(failures->failures);
    *failures = (struct report_failures){.count = 0};
}
