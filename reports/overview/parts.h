/*
 * parts.h -- what the files of reports/overview/ share: a page about some sweeps, in sections.
 *
 *   overview.c   the sweeps, and the order of the sections
 *   parts.c      what several sections need
 *   failing.c    failures by cause, canaries
 *   scenarios.c  the table of scenarios, strategies
 *   facts.c      options, checks, builds, commands
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/overview/chart.h"
#include "reports/overview/overview.h"

struct report_parts {
    struct report_html *html;
    struct sim_store *store;
    const struct report_site *site;
    struct report_sweeps list;
};

/* Rows of a table; the rest is counted. */
#define REPORT_ROWS_MAX 200u

/* ---- parts.c --------------------------------------------------------------------------------- */

/* "canary" is one of the words of its name. */
bool report_is_canary(const struct report_sweep *sweep);

/* A canary that ended as expected: with its failure, or without one where it must pass. */
bool report_canary_ok(const struct report_sweep *sweep);

/* <a href> to the failure's page, where there is one, else text. */
void report_way_link(
        const struct report_parts *parts, const struct report_way *way, const char *text);

/* The name of the scenario, linked to its coverage. */
void report_scenario_link(const struct report_parts *parts, const struct report_sweep *sweep);

/* "passed", "failed", "cut short". */
void report_end_put(struct report_html *html, const struct report_sweep *sweep);

/* How coverage grew. x: runs so far, y: coverage points; from run 1 to the last. */
struct report_growth {
    struct report_point *points;
    uint32_t count;
    uint32_t capacity;
    int64_t covered;  /* All points. */
    int64_t last_new; /* The last run, from 1, that covered a new point; 0: none. */
};

/* Reads that of the sweeps together: x is the runs of each. report_growth_free must follow in any
 * case. */
RT_MUST_CHECK enum sim_store_err report_growth_read(struct sim_store *store,
        const struct report_sweeps *list, struct report_growth *ret_growth);
void report_growth_free(struct report_growth *growth);

/* Cells of a table of scenarios: the points, the curve, the last new run. */
RT_MUST_CHECK enum sim_store_err report_growth_cells(
        struct report_html *html, struct sim_store *store, const struct report_sweep *sweep);

/* Draws it. */
void report_growth_chart(
        struct report_html *html, const struct report_growth *growth, const char *x_label);

/* ---- The sections. --------------------------------------------------------------------------- */

void report_failing_put(struct report_parts *parts);
void report_canaries_put(struct report_parts *parts);
RT_MUST_CHECK enum sim_store_err report_scenarios_put(struct report_parts *parts);
RT_MUST_CHECK enum sim_store_err report_strategies_put(struct report_parts *parts);
RT_MUST_CHECK enum sim_store_err report_drawn_put(struct report_parts *parts);
void report_checks_put(struct report_parts *parts);
void report_facts_put(struct report_parts *parts);
void report_commands_put(struct report_html *html, const struct report_commands *commands);
