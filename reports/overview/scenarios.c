/*
 * scenarios.c -- the table of scenarios, and which strategy found what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "reports/base/ask.h"
#include "reports/overview/parts.h"

/* ---- The table. ------------------------------------------------------------------------------ */

/* A percentage with one decimal, rounded up, so that only zero is printed as 0. */
static void
put_percent(struct report_html *html, int64_t part, int64_t whole)
{
    int64_t tenths = whole > 0 ? (part * 1000 + whole - 1) / whole : 0;
    report_html_format(
            html, "%lld.%lld&nbsp;%%", (long long)(tenths / 10), (long long)(tenths % 10));
}

/* Run 0 is the default schedule, with the number -1; the run of the first seed is run 1. */
static int64_t
first_failing(const struct report_sweep *sweep)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < sweep->way_count; i++) {
        const struct report_way *way = &sweep->ways[i];
        first = way->runs > 0 && way->first_number < first ? way->first_number : first;
    }
    return first;
}

static void
put_failed(struct report_html *html, const struct report_sweep *sweep)
{
    int64_t first = first_failing(sweep);
    report_number_cell(html, report_sweep_failed(sweep));
    report_html_raw(html, "<td class=\"number\">");
    if (sweep->failed > 0) {
        put_percent(html, sweep->failed, sweep->runs);
    }
    report_html_raw(html, "</td><td class=\"number\">");
    if (first != INT64_MAX) {
        report_count_put(html, first + 1);
    }
    report_html_raw(html, "</td>");
}

/* A bar of the shares of the strategies in the runs; its tooltip names them. */
static void
put_shares(const struct report_parts *parts, const struct report_sweep *sweep)
{
    struct report_html *html = parts->html;
    int64_t before = 0;
    const struct report_shares *shares = report_shares_find(parts->shares, sweep->sweep);
    if (shares == NULL || sweep->runs == 0) {
        report_html_text(html, sweep->strategy);
        return;
    }
    report_html_raw(html, "<svg width=\"96\" height=\"12\" role=\"img\" aria-label=\"");
    report_html_text(html, shares->words);
    report_html_raw(html, "\"><title>");
    report_html_text(html, shares->words);
    report_html_raw(html, "</title>");
    for (size_t i = 0; i < shares->count; i++) {
        double x = 96.0 * (double)before / (double)sweep->runs;
        double width = 96.0 * (double)shares->runs[i] / (double)sweep->runs;
        report_html_format(html,
                "<rect x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"10\" "
                "style=\"fill:var(--wake);opacity:%.2f\"/>",
                x, width > 1 ? width - 0.7 : width, 1.0 - 0.8 * (double)i / (double)shares->count);
        before += shares->runs[i];
    }
    report_html_raw(html, "</svg>");
}

static void
put_scenario(const struct report_parts *parts, size_t index)
{
    struct report_html *html = parts->html;
    const struct report_sweep *sweep = &parts->list.sweeps[index];
    const struct report_growth *growth = &parts->growths.sweeps[index];
    report_html_raw(html, "<tr><td style=\"white-space:nowrap\">");
    report_scenario_link(parts, sweep);
    report_html_raw(html, "</td><td>");
    report_end_put(html, sweep);
    report_html_raw(html, "</td>");
    report_number_cell(html, report_sweep_runs(sweep));
    put_failed(html, sweep);
    report_number_cell(html, growth->count > 0 ? growth->points[growth->count - 1].y : 0);
    report_html_raw(html, "<td>");
    report_spark_put(html, "Coverage growth", growth->points, growth->count);
    report_html_raw(html, "</td>");
    report_number_cell(html, growth->last_new);
    report_html_raw(html, "<td>");
    put_shares(parts, sweep);
    report_html_raw(html, "</td>");
    report_html_format(html, "<td class=\"number\">%lld.%lld</td></tr>\n",
            (long long)(sweep->elapsed_ms / 1000), (long long)(sweep->elapsed_ms % 1000 / 100));
}

/* Failed ones first, canaries last. */
static size_t
rank_of(const struct report_sweep *sweep)
{
    static const size_t ranks[] = {[REPORT_FAILED] = 0, [REPORT_CUT] = 1, [REPORT_PASSED] = 2};
    return report_canary_ok(sweep) ? 3 : ranks[report_sweep_end(sweep)];
}

static size_t
put_scenarios(const struct report_parts *parts)
{
    size_t shown = 0;
    for (size_t pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < parts->list.count && shown < REPORT_ROWS_MAX; i++) {
            if (rank_of(&parts->list.sweeps[i]) == pass) {
                put_scenario(parts, i);
                shown++;
            }
        }
    }
    return shown;
}

void
report_scenarios_put(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    report_html_raw(html,
            "<h2 id=\"scenarios\">Scenarios</h2>\n<div class=\"scroll\" tabindex=\"0\" "
            "role=\"group\" aria-label=\"Scenarios\"><table>\n<thead><tr><th>Scenario</th><th></th>"
            "<th class=\"number\">Runs</th><th class=\"number\">Failed</th><th></th>"
            "<th class=\"number\">First failing run</th><th class=\"number\">Coverage points</th>"
            "<th>Growth</th><th class=\"number\">Last new run</th><th>Strategies</th>"
            "<th class=\"number\">Seconds</th>"
            "</tr></thead>\n<tbody>\n");
    size_t shown = put_scenarios(parts);
    report_html_raw(html, "</tbody></table></div>\n");
    if (shown < parts->list.count) {
        report_html_format(html,
                "<p class=\"dim\">%zu more scenarios: <code>rewake query sweeps</code> lists "
                "them all.</p>\n",
                parts->list.count - shown);
    }
}

/* ---- Strategies. ----------------------------------------------------------------------------- */

static void
put_strategy(struct report_html *html, struct report_ask *ask)
{
    report_html_raw(html, "<tr>");
    report_html_element(html, "td", NULL, report_text(ask, 0));
    report_number_cell(html, report_int(ask, 1));
    report_html_raw(html, "<td class=\"number\">");
    put_percent(html, report_int(ask, 1), report_int(ask, 5));
    report_html_raw(html, "</td>");
    report_number_cell(html, report_int(ask, 2));
    report_number_cell(html, report_int(ask, 3));
    report_number_cell(html, report_int(ask, 4));
    report_html_raw(html, "</tr>\n");
}

enum sim_store_err
report_strategies_put(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    struct sim_page sweeps;
    sim_page_init(&sweeps, false);
    report_sweeps_json(&parts->list, &sweeps);
    struct report_ask ask = report_ask(parts->store,
            "WITH t AS (SELECT * FROM sweep_strategies WHERE runs > 0"
            "  AND sweep IN (SELECT value FROM json_each(?)))"
            " SELECT strategy, sum(runs), sum(failures), sum(failures > 0),"
            "  sum(failures > 0 AND NOT EXISTS (SELECT 1 FROM t AS o WHERE o.sweep = t.sweep"
            "   AND o.strategy <> t.strategy AND o.failures > 0)), (SELECT sum(runs) FROM t)"
            " FROM t GROUP BY strategy ORDER BY 4 DESC, 2 DESC, 1");
    report_put_text(&ask, sim_page_text(&sweeps));
    size_t rows = 0;
    while (report_row(&ask)) {
        if (rows++ == 0) {
            report_html_raw(html,
                    "<h2>Which strategy found what</h2>\n<div class=\"scroll\" tabindex=\"0\" "
                    "role=\"group\" aria-label=\"Strategies\"><table>\n<thead><tr>"
                    "<th>Strategy</th><th class=\"number\">Runs</th><th class=\"number\">Share</th>"
                    "<th class=\"number\">Failed</th><th class=\"number\">Scenarios in which it "
                    "found a failure</th><th class=\"number\">… and was the only one</th></tr>"
                    "</thead>\n<tbody>\n");
        }
        put_strategy(html, &ask);
    }
    report_html_raw(html, rows > 0 ? "</tbody></table></div>\n" : "");
    enum sim_store_err err = report_done(&ask);
    sim_page_fini(&sweeps);
    return err;
}
