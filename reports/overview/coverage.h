/*
 * coverage.h -- pages about coverage: one of all scenarios, one of each sweep.
 *
 * This is coverage of the schedule: which wakes led to which polls, which wakers were replaced,
 * which access was first. Coverage of the code is lcov's; the pages link it and do not mix it in,
 * as a line that ran is no order that was tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_OVERVIEW_COVERAGE_H
#define REPORTS_OVERVIEW_COVERAGE_H

#include "reports/model/sweeps.h"
#include "reports/overview/growth.h"

/* Adds the content of <main> of coverage.html. `lcov`: lcov's index.html as a URL relative to the
 * page; NULL: not known. */
RT_MUST_CHECK enum sim_store_err report_coverage_put(struct report_html *html,
        struct sim_store *store, const struct report_sweeps *list,
        const struct report_growths *growths, const char *lcov);

/* Adds the content of <main> of coverage-<sweep>.html. */
RT_MUST_CHECK enum sim_store_err report_covered_put(struct report_html *html,
        struct sim_store *store, const struct report_sweep *sweep,
        const struct report_growth *growth);

#endif
