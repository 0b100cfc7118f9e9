/*
 * ways.h -- ways to fail, and the run that stands for each.
 *
 * A way to fail is a scenario, a verdict, the oracle that reached it, and the line that is named.
 * In a sweep one run stands for all that failed so: the remembered run that failed again before
 * the sweep; else the first that was reported; else the first. Of a scenario it is that of the
 * newest sweep in which a run failed so. `rewake run` names this run, and so does everything that
 * is made of the database afterwards: pages, exports, explanations.
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
 *       Of each sweep its ways to fail: how many `runs` of it failed so, `first_number` of them,
 *       the remembered run that failed `again` (or NULL), the run that is `shown`, the `last`.
 *   ways(scenario, verdict, oracle, site, runs, shown, last)
 *       The same of each scenario, all sweeps taken together.
 *
 * Millions of failing runs are grouped for it once; all else asks what comes of that.
 */
RT_MUST_CHECK enum sim_store_err sim_store_ways_make(struct sim_store *store);

#ifdef __cplusplus
}
#endif
#endif
