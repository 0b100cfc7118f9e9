/*
 * failure.h -- the page of one failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/base/html.h"
#include "reports/model/places.h"

struct report_failure {
    int64_t run;
    int64_t before; /* The failures with the pages before and after this one; 0: none. */
    int64_t after;
    const char *db; /* Named in the commands; NULL: the usual one. */
};

/* Writes the whole page. report_html_fini must follow in any case. Errors: UNKNOWN, … */
RT_MUST_CHECK enum sim_store_err report_failure_put(struct report_html *html,
        struct sim_store *store, const struct report_places *places,
        const struct report_failure *failure);
