/*
 * scenarios.c -- the table of scenarios, and which strategy found what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/table.h"
#include "reports/overview/parts.h"

/* ---- The table. ------------------------------------------------------------------------------ */

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
        /* Rounded up: only zero is printed as 0. */
        report_percent_put(html, (sweep->failed * 1000 - 1) / sweep->runs + 1);
    }
    report_html_put(html, "</td><td class=\"number\">%s</td>",
            first != INT64_MAX ? report_count(first + 1).text : "");
}

/* A bar of the shares of the strategies in the runs; its tooltip is "surw 28 %, rf 23 %". */
static enum sim_store_err
put_shares(const struct report_parts *parts, const struct report_sweep *sweep)
{
    struct sim_page words;
    struct sim_page bars;
    int64_t before = 0;
    sim_page_init(&words, false);
    sim_page_init(&bars, false);
    struct report_ask ask = report_ask(parts->store,
            "SELECT strategy, runs, sum(runs) OVER (), count(*) OVER () FROM sweep_strategies"
            " WHERE sweep = ? AND runs > 0 ORDER BY runs DESC, strategy");
    report_put_int(&ask, sweep->sweep);
    for (int i = 0; report_row(&ask) && sweep->runs > 0; i++) {
        int64_t runs = report_int(&ask, 1);
        double width = 96.0 * (double)runs / (double)sweep->runs;
        sim_page_printf(&words, "%s%s %lld %%", i > 0 ? ", " : "", report_text(&ask, 0),
                (long long)(runs * 100 / report_int(&ask, 2)));
        sim_page_printf(&bars,
                "<rect x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"10\" "
                "style=\"fill:var(--wake);opacity:%.2f\"/>",
                96.0 * (double)before / (double)sweep->runs, width > 1 ? width - 0.7 : width,
                1.0 - 0.8 * (double)i / (double)report_int(&ask, 3));
        before += runs;
    }
    if (before == 0) {
        report_html_text(parts->html, sweep->strategy);
    } else {
        report_html_put(parts->html,
                "<svg width=\"96\" height=\"12\" role=\"img\" aria-label=\"%s\"><title>%s</title>",
                sim_page_text(&words), sim_page_text(&words));
        report_html_raw(parts->html, sim_page_text(&bars));
        report_html_raw(parts->html, "</svg>");
    }
    sim_page_fini(&bars);
    sim_page_fini(&words);
    return report_done(&ask);
}

static enum sim_store_err
put_scenario(const struct report_parts *parts, size_t index)
{
    struct report_html *html = parts->html;
    const struct report_sweep *sweep = &parts->list.sweeps[index];
    report_html_raw(html, "<tr><td style=\"white-space:nowrap\">");
    report_scenario_link(parts, sweep);
    report_html_raw(html, "</td><td>");
    report_end_put(html, sweep);
    report_html_raw(html, "</td>");
    report_number_cell(html, report_sweep_runs(sweep));
    put_failed(html, sweep);
    enum sim_store_err err = report_growth_cells(html, parts->store, sweep);
    report_html_raw(html, "<td>");
    err = err == SIM_STORE_OK ? put_shares(parts, sweep) : err;
    report_html_put(html, "</td><td class=\"number\">%lld.%lld</td></tr>\n",
            (long long)(sweep->elapsed_ms / 1000), (long long)(sweep->elapsed_ms % 1000 / 100));
    return err;
}

/* Failed ones first, canaries last. */
static size_t
rank_of(const struct report_sweep *sweep)
{
    static const size_t ranks[] = {[REPORT_FAILED] = 0, [REPORT_CUT] = 1, [REPORT_PASSED] = 2};
    return report_canary_ok(sweep) ? 3 : ranks[report_sweep_end(sweep)];
}

enum sim_store_err
report_scenarios_put(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    enum sim_store_err err = SIM_STORE_OK;
    size_t shown = 0;
    report_html_raw(html, "<h2 id=\"scenarios\">Scenarios</h2>\n");
    report_table_begin(html, "Scenarios",
            "Scenario||#Runs|#Failed||#First failing run|#Coverage points|Growth|#Last new run|"
            "Strategies|#Seconds");
    for (size_t rank = 0; rank < 4; rank++) {
        for (size_t i = 0; i < parts->list.count && shown < REPORT_ROWS_MAX; i++) {
            if (rank_of(&parts->list.sweeps[i]) == rank && err == SIM_STORE_OK) {
                err = put_scenario(parts, i);
                shown++;
            }
        }
    }
    report_table_end(html);
    if (shown < parts->list.count) {
        report_html_put(html,
                "<p class=\"dim\">%zu more scenarios: <code>rewake query sweeps</code> lists "
                "them all.</p>\n",
                parts->list.count - shown);
    }
    return err;
}

/* ---- Strategies. ----------------------------------------------------------------------------- */

enum sim_store_err
report_strategies_put(struct report_parts *parts)
{
    static const struct report_table table = {
            .intro = "<h2>Which strategy found what</h2>\n",
            .label = "Strategies",
            .heads = "Strategy|#Runs|#Share|#Failed|#Scenarios in which it found a failure|"
                     "#… and was the only one",
            .kinds = "tn%nnn",
    };
    struct sim_page sweeps;
    sim_page_init(&sweeps, false);
    report_sweeps_json(&parts->list, &sweeps);
    struct report_ask ask = report_ask(parts->store,
            "WITH t AS (SELECT * FROM sweep_strategies WHERE runs > 0"
            "  AND sweep IN (SELECT value FROM json_each(?)))"
            " SELECT strategy, sum(runs), (sum(runs) * 1000 - 1) / (SELECT sum(runs) FROM t) + 1,"
            "  sum(failures), sum(failures > 0),"
            "  sum(failures > 0 AND NOT EXISTS (SELECT 1 FROM t AS o WHERE o.sweep = t.sweep"
            "   AND o.strategy <> t.strategy AND o.failures > 0))"
            " FROM t GROUP BY strategy ORDER BY 5 DESC, 2 DESC, 1");
    report_put_text(&ask, sim_page_text(&sweeps));
    enum sim_store_err err = report_table_put(parts->html, &table, &ask);
    sim_page_fini(&sweeps);
    return err;
}
