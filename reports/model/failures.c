/*
 * failures.c -- the failures of a database, by cause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/failures.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/store/read.h"

bool
report_has_table(struct sim_store *store, const char *name)
{
    struct report_ask ask = report_ask(store, "SELECT 1 FROM sqlite_schema WHERE name = ?");
    report_put_text(&ask, name);
    bool there = report_row(&ask);
    return report_done(&ask) == SIM_STORE_OK && there;
}

static const char failures_sql[] =
        "SELECT f.shown, f.runs, f.verdict, f.oracle, f.site, f.scenario, coalesce(d.message, ''),"
        " coalesce(p.place, '') FROM ways AS f LEFT JOIN details AS d ON d.run = f.shown"
        " LEFT JOIN places AS p ON p.site = f.site ORDER BY f.last DESC";

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
            .scenario = strdup(report_text(ask, 5)),
            .message = strdup(report_text(ask, 6)),
            .place = strdup(report_text(ask, 7)),
    };
    return failure->scenario != NULL && failure->message != NULL && failure->place != NULL;
}

enum sim_store_err
report_failures_load(struct sim_store *store, struct report_failures *ret_failures)
{
    uint32_t capacity = 0;
    bool memory = true;
    *ret_failures = (struct report_failures){.count = 0};
    enum sim_store_err err = sim_store_ways_make(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct report_ask ask = report_ask(store, failures_sql);
    while (memory && report_row(&ask)) {
        memory = add(ret_failures, &capacity, &ask);
    }
    err = report_done(&ask);
    return err == SIM_STORE_OK && !memory ? sim_store_refused(store, SQLITE_NOMEM) : err;
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
