/*
 * site.h -- the pages of a report that are not about one failure: index, commands, coverage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_OVERVIEW_SITE_H
#define REPORTS_OVERVIEW_SITE_H

#include "reports/model/failures.h"

/* The greatest number of pages about the coverage of one sweep. */
#define REPORT_COVERED_MAX 1000u

/*
 * Writes index.html, command-N.html, coverage.html and coverage-<sweep>.html into `folder`, which
 * exists. `lcov`: a folder with lcov's pages, to link; NULL: build/coverage/html if it has any. 0,
 * or the exit status after a line on stderr.
 */
int report_site_make(const char *folder, struct sim_store *store,
        const struct report_failures *failures, const char *lcov);

#endif
