/*
 * coverage.c -- pages about coverage of the schedule.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/coverage.h"

#include <stdio.h>
#include <string.h>

#include "reports/base/ask.h"
#include "reports/overview/parts.h"

/* Rows of one kind of coverage point; the browser's search finds a line. */
#define ELEMENTS_MAX 500

static void
open_table(struct report_html *html, const char *label, const char *head)
{
    report_html_format(html,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>\n<thead>"
            "<tr>%s</tr></thead>\n<tbody>\n",
            label, head);
}

static void
close_table(struct report_html *html)
{
    report_html_raw(html, "</tbody></table></div>\n");
}

/* Thousandths of a percent. */
static void
put_share(struct report_html *html, int64_t millionths)
{
    report_html_format(html, "%lld.%03lld&nbsp;%%", (long long)(millionths / 10000),
            (long long)(millionths % 10000 / 10));
}

/* "slot.c:102 put": the line as code. */
static void
put_place(struct report_html *html, const char *place)
{
    size_t length = strcspn(place, " ");
    report_html_raw(html, "<td>");
    if (length > 0) {
        report_html_raw(html, "<code>");
        report_html_text_n(html, place, length);
        report_html_raw(html, "</code>");
        report_html_element(html, "span", "dim", place + length);
    }
    report_html_raw(html, "</td>");
}

/* ---- One sweep. ------------------------------------------------------------------------------ */

static enum sim_store_err
put_goals(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    size_t rows = 0;
    struct report_ask ask =
            report_ask(store, "SELECT what, text, place, runs FROM goals_reached WHERE sweep = ?"
                              " ORDER BY runs, place");
    report_put_int(&ask, sweep);
    while (report_row(&ask)) {
        if (rows++ == 0) {
            report_html_raw(html, "<h2>Goals</h2>\n<p class=\"dim\">Conditions that the scenario "
                                  "expects of some run, or of all runs; those that no run "
                                  "reached come first.</p>\n");
            open_table(html, "Goals",
                    "<th class=\"number\">Runs</th><th>Claim</th>"
                    "<th>Condition</th><th>Line</th>");
        }
        bool missed = report_int(&ask, 3) == 0;
        report_html_raw(html, missed ? "<tr><td class=\"number lost\">never</td>" : "<tr>");
        if (!missed) {
            report_number_cell(html, report_int(&ask, 3));
        }
        report_html_element(html, "td", NULL, report_text(&ask, 0));
        report_html_raw(html, "<td>");
        report_html_element(html, "code", NULL, report_text(&ask, 1));
        report_html_raw(html, "</td>");
        put_place(html, report_text(&ask, 2));
        report_html_raw(html, "</tr>\n");
    }
    if (rows > 0) {
        close_table(html);
    }
    return report_done(&ask);
}

static enum sim_store_err
put_species(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    struct report_ask ask = report_ask(store,
            "SELECT strategy, runs, seen, once, CAST(next_is_new * 1000000 AS INTEGER),"
            " CAST(at_least AS INTEGER) FROM saturation WHERE sweep = ? AND runs > 0");
    report_put_int(&ask, sweep);
    if (report_row(&ask)) {
        report_html_raw(html, "<p>Different runs, not counting the order of independent steps: ");
        report_count_put(html, report_int(&ask, 2));
        report_html_raw(html, " of ");
        report_count_put(html, report_int(&ask, 1));
        report_html_raw(html, " by ");
        report_html_text(html, report_text(&ask, 0));
        report_html_raw(html, "; ");
        report_count_put(html, report_int(&ask, 3));
        report_html_raw(html, " were seen once. The next run is new with <strong>");
        put_share(html, report_int(&ask, 4));
        report_html_raw(html, "</strong> probability (Good-Turing); there are at least ");
        report_count_put(html, report_int(&ask, 5));
        report_html_raw(html, " (Chao1).</p>\n");
    }
    return report_done(&ask);
}

static enum sim_store_err
put_bounds(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    size_t rows = 0;
    struct report_ask ask = report_ask(store,
            "SELECT strategy, runs, failures, CAST(min(1.0, 3.0 / runs) * 1000000 AS "
            "INTEGER)"
            " FROM sweep_strategies WHERE sweep = ? AND runs > 0 ORDER BY runs DESC, strategy");
    report_put_int(&ask, sweep);
    while (report_row(&ask)) {
        if (rows++ == 0) {
            report_html_raw(html, "<h2>Strategies</h2>\n");
            open_table(html, "Strategies",
                    "<th>Strategy</th><th class=\"number\">Runs</th><th class=\"number\">Failed"
                    "</th><th class=\"number\">Upper bound of the failure rate (95&nbsp;%: "
                    "3/n)</th>");
        }
        report_html_raw(html, "<tr>");
        report_html_element(html, "td", NULL, report_text(&ask, 0));
        report_number_cell(html, report_int(&ask, 1));
        report_number_cell(html, report_int(&ask, 2));
        report_html_raw(html, "<td class=\"number\">");
        if (report_int(&ask, 2) == 0) {
            put_share(html, report_int(&ask, 3));
        }
        report_html_raw(html, "</td></tr>\n");
    }
    if (rows > 0) {
        close_table(html);
    }
    return report_done(&ask);
}

/* The rare ones of each kind come first. */
static const char elements_sql[] =
        "SELECT * FROM (SELECT k.kind, k.name, k.meaning, coalesce(p.place, printf('%08x', "
        "c.site)),"
        " CASE c.other WHEN 0 THEN '' ELSE coalesce(q.place, printf('%08x', c.other)) END, c.runs,"
        " c.first_run + 1, row_number() OVER (PARTITION BY c.kind ORDER BY c.runs, p.place, "
        "q.place)"
        "  AS nth, count(*) OVER (PARTITION BY c.kind)"
        " FROM coverage AS c JOIN element_kinds AS k USING (kind)"
        " LEFT JOIN places AS p ON p.site = c.site LEFT JOIN places AS q ON q.site = c.other"
        " WHERE c.sweep = ? AND k.name NOT IN ('goal', 'always')) WHERE nth <= ? ORDER BY kind, "
        "nth";

static void
open_kind(struct report_html *html, struct report_ask *ask)
{
    report_html_raw(html, "<h3>");
    report_html_text(html, report_text(ask, 1));
    report_html_raw(html, " <span class=\"dim\">(");
    report_count_put(html, report_int(ask, 8));
    report_html_raw(html, ")</span></h3>\n");
    report_html_element(html, "p", "dim", report_text(ask, 2));
    if (report_int(ask, 8) > ELEMENTS_MAX) {
        report_html_format(html, "<p>The %d rarest.</p>\n", ELEMENTS_MAX);
    }
    open_table(html, "Coverage points",
            "<th class=\"number\">Runs</th><th class=\"number\">First run</th>"
            "<th>Line</th><th>Other line</th>");
}

static enum sim_store_err
put_elements(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    int64_t kind = 0;
    struct report_ask ask = report_ask(store, elements_sql);
    report_put_int(&ask, sweep);
    report_put_int(&ask, ELEMENTS_MAX);
    while (report_row(&ask)) {
        if (report_int(&ask, 0) != kind) {
            if (kind != 0) {
                close_table(html);
            } else {
                report_html_raw(html, "<h2>Coverage points</h2>\n");
            }
            kind = report_int(&ask, 0);
            open_kind(html, &ask);
        }
        report_html_raw(html, "<tr>");
        report_number_cell(html, report_int(&ask, 5));
        report_number_cell(html, report_int(&ask, 6));
        put_place(html, report_text(&ask, 3));
        put_place(html, report_text(&ask, 4));
        report_html_raw(html, "</tr>\n");
    }
    if (kind != 0) {
        close_table(html);
    }
    return report_done(&ask);
}

static void
put_sweep_growth(struct report_html *html, const struct report_growth *growth)
{
    if (growth->count == 0) {
        report_html_raw(html, "<p>No coverage was counted: <code>--record none</code> and "
                              "<code>rewake explore</code> count none.</p>\n");
        return;
    }
    const struct report_chart chart = {
            .title = "Coverage growth",
            .x_label = "runs (logarithmic)",
            .y_label = "coverage points",
            .log_x = true,
            .points = growth->points,
            .count = growth->count,
    };
    report_html_raw(html, "<p>");
    report_count_put(html, growth->points[growth->count - 1].y);
    report_html_raw(html, " coverage points; the last new one in run ");
    report_count_put(html, growth->last_new);
    report_html_raw(html, ".</p>\n");
    report_chart_put(html, &chart);
}

enum sim_store_err
report_covered_put(struct report_html *html, struct sim_store *store,
        const struct report_sweep *sweep, const struct report_growth *growth)
{
    if (sweep->about[0] != '\0') {
        report_html_element(html, "p", NULL, sweep->about);
    }
    report_html_raw(html, "<p>");
    report_end_put(html, sweep);
    report_html_raw(html, ": ");
    report_count_put(html, sweep->runs);
    report_html_raw(html, " runs by ");
    report_html_text(html, sweep->strategy);
    report_html_format(html, " from seed %lld, ", (long long)sweep->seed_first);
    report_count_put(html, sweep->failed);
    report_html_raw(html,
            " failed. This page shows coverage of the schedule; another one has "
            "<a href=\"coverage.html\">coverage of the code</a>.</p>\n<h2>Growth</h2>\n");
    put_sweep_growth(html, growth);
    enum sim_store_err err = put_species(html, store, sweep->sweep);
    err = err == SIM_STORE_OK ? put_goals(html, store, sweep->sweep) : err;
    err = err == SIM_STORE_OK ? put_bounds(html, store, sweep->sweep) : err;
    return err == SIM_STORE_OK ? put_elements(html, store, sweep->sweep) : err;
}

/* ---- All sweeps. ----------------------------------------------------------------------------- */

static void
put_code(struct report_html *html, const char *lcov)
{
    report_html_raw(html, "<h2>Coverage of the code</h2>\n");
    if (lcov == NULL) {
        report_html_raw(html,
                "<p>Another tool counts the lines that ran: build with "
                "<code>--coverage</code>, and name the folder of lcov's pages with "
                "<code>rewake report --lcov DIR</code> (default: <code>build/coverage/html</code>)"
                ".</p>\n");
        return;
    }
    report_html_raw(html, "<p><a href=\"");
    report_html_text(html, lcov);
    report_html_raw(html,
            "\">lcov's pages</a> have the lines and branches that ran. They do not tell which "
            "schedules were tried, so the two are counted apart.</p>\n");
}

/* Coverage points by kind; the same point in two scenarios counts twice. */
static enum sim_store_err
put_kinds(struct report_html *html, struct sim_store *store, const struct report_sweeps *list)
{
    struct sim_page sweeps;
    sim_page_init(&sweeps, false);
    report_sweeps_json(list, &sweeps);
    struct report_ask ask = report_ask(store,
            "SELECT k.name, k.meaning, count(*), count(DISTINCT c.sweep), sum(c.runs = 1)"
            " FROM coverage AS c JOIN element_kinds AS k USING (kind)"
            " WHERE c.sweep IN (SELECT value FROM json_each(?)) GROUP BY c.kind ORDER BY c.kind");
    report_put_text(&ask, sim_page_text(&sweeps));
    open_table(html, "Kinds of coverage points",
            "<th>Kind</th><th>Meaning</th><th class=\"number\">Covered</th>"
            "<th class=\"number\">In one run only</th><th class=\"number\">Scenarios</th>");
    while (report_row(&ask)) {
        report_html_raw(html, "<tr>");
        report_html_element(html, "td", NULL, report_text(&ask, 0));
        report_html_element(html, "td", "dim", report_text(&ask, 1));
        report_number_cell(html, report_int(&ask, 2));
        report_number_cell(html, report_int(&ask, 4));
        report_number_cell(html, report_int(&ask, 3));
        report_html_raw(html, "</tr>\n");
    }
    close_table(html);
    enum sim_store_err err = report_done(&ask);
    sim_page_fini(&sweeps);
    return err;
}

static void
put_scenario_row(struct report_html *html, const struct report_sweep *sweep,
        const struct report_growth *growth)
{
    struct report_parts parts = {.html = html};
    report_html_raw(html, "<tr><td>");
    report_scenario_link(&parts, sweep);
    report_html_raw(html, "</td>");
    report_number_cell(html, sweep->runs);
    report_number_cell(html, growth->count > 0 ? growth->points[growth->count - 1].y : 0);
    report_number_cell(html, growth->last_new);
    report_html_raw(html, "<td>");
    report_spark_put(html, "Coverage growth", growth->points, growth->count);
    report_html_raw(html, "</td><td class=\"number");
    report_html_raw(html, sweep->goals_missed > 0 ? " lost\">" : "\">");
    report_count_put(html, sweep->goals_missed);
    report_html_raw(html, "</td></tr>\n");
}

enum sim_store_err
report_coverage_put(struct report_html *html, struct sim_store *store,
        const struct report_sweeps *list, const struct report_growths *growths, const char *lcov)
{
    report_html_raw(html,
            "<p>The newest sweep of each scenario.</p>\n<h2>Coverage of the schedule</h2>\n"
            "<p class=\"dim\">Interactions between tasks that some run has had.</p>\n");
    enum sim_store_err err = put_kinds(html, store, list);
    report_html_raw(html, "<h2>By scenario</h2>\n");
    open_table(html, "Scenarios",
            "<th>Scenario</th><th class=\"number\">Runs</th><th class=\"number\">Coverage "
            "points</th>"
            "<th class=\"number\">Last new run</th><th>Growth</th>"
            "<th class=\"number\">Goals not reached</th>");
    for (size_t i = 0; i < list->count; i++) {
        put_scenario_row(html, &list->sweeps[i], &growths->sweeps[i]);
    }
    close_table(html);
    put_code(html, lcov);
    return err;
}
