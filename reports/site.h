/*
 * site.h -- a report: the trace database as pages for a browser.
 *
 *      index.html            the newest sweep of each scenario
 *      command-N.html        the sweeps of one command, the newest first
 *      coverage.html         coverage of the schedule
 *      coverage-SWEEP.html   that of one sweep
 *      failure-RUN.html      one failure
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "reports/model/sweeps.h"

#define REPORT_MESSAGE_MAX 1024u

/* The greatest number of pages about the coverage of one sweep. */
#define REPORT_COVERED_MAX 1000u

/* What to write, and where. Borrowed. */
struct report_site {
    struct sim_store *store;
    const char *folder;
    const char *lcov;    /* A folder with lcov's pages; NULL: build/coverage/html if it has any. */
    const char *db;      /* For --db in commands; NULL: the usual one. */
    const int64_t *runs; /* Failures that get a page; without one, each way to fail. */
    size_t run_count;
    char message[REPORT_MESSAGE_MAX]; /* Of an error: one line. */
};

enum report_site_err {
    REPORT_SITE_OK,
    REPORT_SITE_UNKNOWN, /* A run, or lcov's folder, does not exist. */
    REPORT_SITE_SYSTEM   /* The database cannot be read, or a file cannot be written. */
};

/* Whether pages can be written into the folder, which need not exist. An index.html that is not of
 * rewake is not replaced. */
RT_MUST_CHECK enum report_site_err report_site_check(struct report_site *site);

/* Writes all pages; makes the folder. */
RT_MUST_CHECK enum report_site_err report_site_make(struct report_site *site);
