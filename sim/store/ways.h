/*
 * ways.h -- distinct failures, and the run that represents each.
 *
 * Failures with the same scenario, verdict, oracle and source line are one (a row of `ways`). In a
 * sweep one run represents them: the remembered run that failed again before the sweep; else the
 * first that was reported; else the first. Of a scenario it is that of the newest sweep with such a
 * failure. `rewake run`, pages, exports and explanations all name this run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_WAYS_H
#define SIM_STORE_WAYS_H

#include "sim/store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes two temporary things for this connection, once; the file is only read.
 *
 *   ways_of_sweeps(sweep, verdict, oracle, site, runs, first_number, again, shown, last)
 *       The distinct failures of each sweep: how many `runs` had it, the `first_number` and the
 *       `last` of them, the remembered run that failed `again` (or NULL), the run to be `shown`.
 *   ways(scenario, verdict, oracle, site, runs, shown, last)
 *       The same for each scenario, over all sweeps.
 *
 * They group millions of failing runs once; other queries use the result.
 */
RT_MUST_CHECK enum sim_store_err sim_store_ways_make(struct sim_store *store);

#ifdef __cplusplus
}
#endif
#endif
