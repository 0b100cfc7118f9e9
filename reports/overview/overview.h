/*
 * overview.h -- the first page of a report: what was run, what failed, and what was covered.
 *
 * It has the newest sweep of each scenario; a page like it, command-N.html, has the sweeps of one
 * command, for the newest REPORT_COMMANDS_MAX commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/base/html.h"
#include "reports/site.h"

#define REPORT_COMMANDS_MAX 50u

/* A command that has run sweeps. */
struct report_command {
    int64_t command_ms; /* When it began, since 1970. */
    int64_t sweeps;
    int64_t runs;
    int64_t failed;
};

struct report_commands {
    struct report_command commands[REPORT_COMMANDS_MAX]; /* Newest first. */
    size_t count;
    int64_t more; /* Older ones, without a page. */
};

RT_MUST_CHECK enum sim_store_err report_commands_read(
        struct sim_store *store, struct report_commands *ret_commands);

/* Adds the content of <main> of index.html; `commands` have a page each. */
RT_MUST_CHECK enum sim_store_err report_overview_put(struct report_html *html,
        const struct report_site *site, const struct report_commands *commands);

/* The same of one command's sweeps. */
RT_MUST_CHECK enum sim_store_err report_command_put(struct report_html *html,
        const struct report_site *site, const struct report_command *command);

/*
 * Add the content of <main> of coverage.html and of coverage-<sweep>.html.
 *
 * This is coverage of the schedule: which wakes led to which polls, which wakers were replaced,
 * which access was first. Coverage of the code is lcov's; the pages link it and do not mix it in,
 * as a line that ran is no order that was tried. `lcov`: its index.html as a URL relative to the
 * page; NULL: not known.
 */
RT_MUST_CHECK enum sim_store_err report_coverage_put(struct report_html *html,
        struct sim_store *store, const struct report_sweeps *list, const char *lcov);
RT_MUST_CHECK enum sim_store_err report_covered_put(
        struct report_html *html, struct sim_store *store, const struct report_sweep *sweep);
