/*
 * failures.h -- the failures of a database: each way to fail with its representative run
 * (sim/store/read.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_MODEL_FAILURES_H
#define REPORTS_MODEL_FAILURES_H

#include "sim/store/read.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report_failure {
    int64_t run;   /* The representative run: failure-<run>.html */
    int64_t count; /* Runs that failed this way. */
    uint32_t verdict;
    uint32_t oracle;
    uint32_t site;
    bool page; /* It has a page. */
    char *scenario;
    char *message; /* "" where none is stored. */
    char *place;   /* "tokio-4497.c:60 wait_poll"; "" where none is known. */
};

struct report_failures {
    struct report_failure *failures; /* Newest first. */
    uint32_t count;
};

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
