/*
 * coverage.h -- pages about what was covered: one of all scenarios, one of each sweep.
 *
 * This is coverage of the schedule: which wakes led to which polls, which wakers were replaced,
 * what came before what. Coverage of the code is lcov's; it is linked, and not mixed in: a line
 * that ran is no order that was tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_OVERVIEW_COVERAGE_H
#define REPORTS_OVERVIEW_COVERAGE_H

#include "reports/model/sweeps.h"
#include "reports/overview/growth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds what stands in <main> of coverage.html. `lcov`: where lcov's index.html is, relative to the
 * page, as a URL; NULL: nobody knows. */
RT_MUST_CHECK enum sim_store_err report_coverage_put(struct report_html *html,
        struct sim_store *store, const struct report_sweeps *list,
        const struct report_growths *growths, const char *lcov);

/* Adds what stands in <main> of coverage-<sweep>.html. */
RT_MUST_CHECK enum sim_store_err report_covered_put(struct report_html *html,
        struct sim_store *store, const struct report_sweep *sweep,
        const struct report_growth *growth);

#ifdef __cplusplus
}
#endif
#endif
