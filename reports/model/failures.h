/*
 * failures.h -- which failures a database has, grouped by cause.
 *
 * A cause is scenario, verdict, oracle and the line that is blamed. Of each, one run stands for the
 * others: the newest that is explained, else the newest with its events, else the newest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_MODEL_FAILURES_H
#define REPORTS_MODEL_FAILURES_H

#include "sim/store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report_failure {
    int64_t run;   /* That stands for them: failure-<run>.html */
    int64_t count; /* How many runs have this cause. */
    uint32_t verdict;
    uint32_t oracle;
    uint32_t site;
    bool explained; /* The database has an explanation of `run`. */
    bool page;      /* A page of its own is made for it. */
    char *scenario;
    char *message; /* "" where none was kept. */
    char *place;   /* "a06.c:60 wait_poll"; "" where none is known. */
};

struct report_failures {
    struct report_failure *failures; /* Newest first. */
    uint32_t count;
};

/*
 * Makes the temporary table `report_ways` of this connection, once: of each sweep the ways to fail
 * (verdict, oracle, site), how many `runs` of it failed so, `first_number` of them, their `first`
 * and `last` run; `again`: the remembered run that failed so again before the sweep, or NULL.
 * Millions of failing runs are grouped for it; all else asks what comes of that.
 */
RT_MUST_CHECK enum sim_store_err report_ways_make(struct sim_store *store);

/* Reads them. report_failures_free may follow in any case. */
RT_MUST_CHECK enum sim_store_err report_failures_load(
        struct sim_store *store, struct report_failures *ret_failures);
void report_failures_free(struct report_failures *failures);

/* Whether the database has a table or view called `name`. */
bool report_has_table(struct sim_store *store, const char *name);

#ifdef __cplusplus
}
#endif
#endif
