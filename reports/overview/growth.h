/*
 * growth.h -- how coverage grew, run by run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_OVERVIEW_GROWTH_H
#define REPORTS_OVERVIEW_GROWTH_H

#include "reports/model/sweeps.h"
#include "reports/overview/chart.h"

/* Of one sweep: x runs so far, y coverage points; from run 1 to the last. */
struct report_growth {
    struct report_point *points;
    uint32_t count;
    uint32_t capacity;
    int64_t last_new; /* The last run, from 1, that covered a new point; 0: none. */
};

struct report_growths {
    struct report_growth *sweeps; /* One for each of the list, in its order. */
    size_t count;
    struct report_growth all; /* x runs of each scenario, y coverage points of all. */
};

/* Reads them. report_growths_done must follow in any case. */
RT_MUST_CHECK enum sim_store_err report_growths_read(struct sim_store *store,
        const struct report_sweeps *list, struct report_growths *ret_growths);
void report_growths_done(struct report_growths *growths);

#endif
