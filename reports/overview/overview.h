/*
 * overview.h -- the first page of a report: what was run, and what failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_OVERVIEW_OVERVIEW_H
#define REPORTS_OVERVIEW_OVERVIEW_H

#include "reports/base/html.h"
#include "reports/model/failures.h"

/* Adds what stands in <main> of index.html. `failures` with `page` have a page, failure-<run>.html,
 * in the same folder. */
RT_MUST_CHECK enum sim_store_err report_overview_put(
        struct report_html *html, struct sim_store *store, const struct report_failures *failures);

#endif
