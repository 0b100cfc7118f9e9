/*
 * failure.h -- the page of one failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/base/html.h"
#include "reports/model/places.h"

/*
 * Writes the whole page of run:`run`. `db` is named in the commands; NULL: the usual one.
 * report_html_fini must follow in any case. Errors: UNKNOWN, …
 */
RT_MUST_CHECK enum sim_store_err report_failure_put(struct report_html *html,
        struct sim_store *store, const struct report_places *places, int64_t run, const char *db);
