/*
 * coverage.c -- pages about coverage of the schedule.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/table.h"
#include "reports/overview/parts.h"

/* Rows of one kind of coverage point; the browser's search finds a line. */
#define ELEMENTS_MAX 500u

/* ---- One sweep. ------------------------------------------------------------------------------ */

static enum sim_store_err
put_goals(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    static const struct report_table table = {
            .intro =
                    "<h2>Goals</h2>\n<p class=\"dim\">Conditions that the scenario expects of some "
                    "run, or of all runs; those that no run reached come first.</p>\n",
            .label = "Goals",
            .heads = "#Runs|Claim|Condition|Line",
            .kinds = "ztcp",
    };
    struct report_ask ask =
            report_ask(store, "SELECT runs, what, text, place FROM goals_reached WHERE sweep = ?"
                              " ORDER BY runs, place");
    report_put_int(&ask, sweep);
    return report_table_put(html, &table, &ask);
}

static enum sim_store_err
put_species(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    struct report_ask ask = report_ask(store,
            "SELECT runs, seen, once, at_least, strategy, printf('%d.%03d', millionths / 10000,"
            " millionths % 10000 / 10) FROM (SELECT *, CAST(next_is_new * 1000000 AS INTEGER) AS"
            " millionths FROM saturation) WHERE sweep = ? AND runs > 0");
    report_put_int(&ask, sweep);
    if (report_row(&ask)) {
        report_html_put(html,
                "<p>Different runs, not counting the order of independent steps: %s of %s by %s; "
                "%s "
                "were seen once. The next run is new with <strong>%s&nbsp;%%</strong> probability "
                "(Good-Turing); there are at least %s (Chao1).</p>\n",
                report_count(report_int(&ask, 1)).text, report_count(report_int(&ask, 0)).text,
                report_text(&ask, 4), report_count(report_int(&ask, 2)).text, report_text(&ask, 5),
                report_count(report_int(&ask, 3)).text);
    }
    return report_done(&ask);
}

static enum sim_store_err
put_bounds(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    static const struct report_table table = {
            .intro = "<h2>Strategies</h2>\n",
            .label = "Strategies",
            .heads = "Strategy|#Runs|#Failed|#Upper bound of the failure rate (95&nbsp;%: 3/n)",
            .kinds = "tnns",
    };
    struct report_ask ask = report_ask(store,
            "SELECT strategy, runs, failures,"
            " iif(failures = 0, CAST(min(1.0, 3.0 / runs) * 1000000 AS INTEGER), NULL)"
            " FROM sweep_strategies WHERE sweep = ? AND runs > 0 ORDER BY runs DESC, strategy");
    report_put_int(&ask, sweep);
    return report_table_put(html, &table, &ask);
}

static enum sim_store_err
put_waste(struct report_html *html, struct sim_store *store, int64_t sweep)
{
    static const struct report_table table = {
            .intro =
                    "<h2>Done for nothing</h2>\n<p class=\"dim\">Wakes of finished tasks, wakes by "
                    "wakers of earlier polls, wakers that pile up, turns of a loop in which "
                    "nothing happened, waits that only their own time-outs ended. No failure "
                    "without <code>--max-waste</code>.</p>\n",
            .label = "Done for nothing",
            .heads = "What|Line|#Times|#Runs|#In one run at most",
            .kinds = "tpnnn",
    };
    struct report_ask ask =
            report_ask(store, "SELECT kind, place, times, runs, most FROM wasted WHERE sweep = ?"
                              " ORDER BY times DESC, kind, place");
    report_put_int(&ask, sweep);
    return report_table_put(html, &table, &ask);
}

/* The rare ones of each kind come first. */
static const char elements_sql[] =
        "SELECT * FROM (SELECT k.kind, k.name, k.meaning, count(*) OVER (PARTITION BY c.kind),"
        " c.runs, c.first_run + 1, coalesce(p.place, printf('%08x', c.site)),"
        " CASE c.other WHEN 0 THEN '' ELSE coalesce(q.place, printf('%08x', c.other)) END,"
        " row_number() OVER (PARTITION BY c.kind ORDER BY c.runs, p.place, q.place) AS nth"
        " FROM coverage AS c JOIN element_kinds AS k USING (kind)"
        " LEFT JOIN places AS p ON p.site = c.site LEFT JOIN places AS q ON q.site = c.other"
        " WHERE c.sweep = ? AND k.name NOT IN ('goal', 'always')) WHERE nth <= ?"
        " ORDER BY kind, nth";

static void
open_kind(struct report_html *html, struct report_ask *ask)
{
    report_html_put(html, "<h3>%s <span class=\"dim\">(%s)</span></h3>\n<p class=\"dim\">%s</p>",
            report_text(ask, 1), report_count(report_int(ask, 3)).text, report_text(ask, 2));
    if (report_int(ask, 3) > ELEMENTS_MAX) {
        report_html_put(html, "<p>The %u rarest.</p>\n", ELEMENTS_MAX);
    }
    report_table_begin(html, "Coverage points", "#Runs|#First run|Line|Other line");
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
            report_html_raw(html, kind == 0 ? "<h2>Coverage points</h2>\n" : "");
            if (kind != 0) {
                report_table_end(html);
            }
            kind = report_int(&ask, 0);
            open_kind(html, &ask);
        }
        report_html_raw(html, "<tr>");
        report_cells_put(html, &ask, 4, "nnpp");
        report_html_raw(html, "</tr>\n");
    }
    if (kind != 0) {
        report_table_end(html);
    }
    return report_done(&ask);
}

static enum sim_store_err
put_growth(struct report_html *html, struct sim_store *store, const struct report_sweep *sweep)
{
    struct report_growth growth;
    const struct report_sweeps one = {.sweeps = (struct report_sweep[]){*sweep}, .count = 1};
    enum sim_store_err err = report_growth_read(store, &one, &growth);
    if (growth.count == 0) {
        report_html_raw(html, "<p>No coverage was counted: <code>--record none</code> and "
                              "<code>rewake explore</code> count none.</p>\n");
    } else {
        report_html_put(html, "<p>%s coverage points; the last new one in run %s.</p>\n",
                report_count(growth.covered).text, report_count(growth.last_new).text);
        report_growth_chart(html, &growth, "runs (logarithmic)");
    }
    report_growth_free(&growth);
    return err;
}

enum sim_store_err
report_covered_put(
        struct report_html *html, struct sim_store *store, const struct report_sweep *sweep)
{
    if (sweep->about[0] != '\0') {
        report_html_put(html, "<p>%s</p>", sweep->about);
    }
    report_html_raw(html, "<p>");
    report_end_put(html, sweep);
    report_html_put(html,
            ": %s runs by %s from seed %lld, %s failed. This page shows coverage of the schedule; "
            "another one has <a href=\"coverage.html\">coverage of the code</a>.</p>\n"
            "<h2>Growth</h2>\n",
            report_count(sweep->runs).text, sweep->strategy, (long long)sweep->seed_first,
            report_count(sweep->failed).text);
    enum sim_store_err err = put_growth(html, store, sweep);
    err = err == SIM_STORE_OK ? put_species(html, store, sweep->sweep) : err;
    err = err == SIM_STORE_OK ? put_goals(html, store, sweep->sweep) : err;
    err = err == SIM_STORE_OK ? put_bounds(html, store, sweep->sweep) : err;
    err = err == SIM_STORE_OK ? put_waste(html, store, sweep->sweep) : err;
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
    report_html_put(html,
            "<p><a href=\"%s\">lcov's pages</a> have the lines and branches that ran. They do not "
            "tell which schedules were tried, so the two are counted apart.</p>\n",
            lcov);
}

/* Coverage points by kind; the same point in two scenarios counts twice. */
static enum sim_store_err
put_kinds(struct report_html *html, struct sim_store *store, const struct report_sweeps *list)
{
    struct sim_page sweeps;
    sim_page_init(&sweeps, false);
    report_sweeps_json(list, &sweeps);
    static const struct report_table table = {
            .intro = "",
            .label = "Kinds of coverage points",
            .heads = "Kind|Meaning|#Covered|#In one run only|#Scenarios",
            .kinds = "tdnnn",
    };
    struct report_ask ask = report_ask(store,
            "SELECT k.name, k.meaning, count(*), sum(c.runs = 1), count(DISTINCT c.sweep)"
            " FROM coverage AS c JOIN element_kinds AS k USING (kind)"
            " WHERE c.sweep IN (SELECT value FROM json_each(?)) GROUP BY c.kind ORDER BY c.kind");
    report_put_text(&ask, sim_page_text(&sweeps));
    enum sim_store_err err = report_table_put(html, &table, &ask);
    sim_page_fini(&sweeps);
    return err;
}

/* What a reader does next; the rule of `rewake run` for a search that found nothing. */
static enum sim_store_err
put_advice(struct report_html *html, struct sim_store *store, const struct report_sweep *sweep)
{
    struct report_ask ask = report_ask(store,
            "SELECT CAST(next_is_new * 100 + 0.5 AS INTEGER), next_is_new < 0.01, strategy"
            " FROM saturation WHERE sweep = ? AND runs > 0");
    report_put_int(&ask, sweep->sweep);
    bool known = report_row(&ask);
    report_html_raw(html, "<td>");
    if (report_canary_ok(sweep)) {
        report_html_raw(html, "nothing: it ended as expected");
    } else if (report_sweep_end(sweep) == REPORT_FAILED) {
        report_html_raw(html, "repair <a href=\"index.html#failures\">its failure</a> first: a run "
                              "ends with it");
    } else if (sweep->goals_missed > 0) {
        report_html_raw(html, "search on (<code>--time 60s</code>), or with other options, until "
                              "its goals are reached");
    } else if (known && report_int(&ask, 1) != 0) {
        report_html_put(html,
                "prove it within a bound (<code>rewake explore</code>): fewer than 1 %% of %s runs "
                "show a new schedule",
                report_text(&ask, 2));
    } else if (known) {
        report_html_put(html,
                "search on (<code>--time 60s</code>): about %lld %% of %s runs still show a new "
                "schedule",
                (long long)report_int(&ask, 0), report_text(&ask, 2));
    } else {
        report_html_raw(html, "search on (<code>--time 60s</code>): too few runs to say more");
    }
    report_html_raw(html, "</td></tr>\n");
    return report_done(&ask);
}

static enum sim_store_err
put_scenario_row(
        struct report_html *html, struct sim_store *store, const struct report_sweep *sweep)
{
    struct report_parts parts = {.html = html};
    report_html_raw(html, "<tr><td>");
    report_scenario_link(&parts, sweep);
    report_html_raw(html, "</td>");
    report_number_cell(html, sweep->runs);
    enum sim_store_err err = report_growth_cells(html, store, sweep);
    report_html_put(html, "<td class=\"number%s\">%s</td>", sweep->goals_missed > 0 ? " lost" : "",
            report_count(sweep->goals_missed).text);
    return err == SIM_STORE_OK ? put_advice(html, store, sweep) : err;
}

enum sim_store_err
report_coverage_put(struct report_html *html, struct sim_store *store,
        const struct report_sweeps *list, const char *lcov)
{
    enum sim_store_err err = SIM_STORE_OK;
    report_html_raw(html, "<p>The newest sweep of each scenario, and what to do next.</p>\n"
                          "<h2>Coverage of the schedule</h2>\n");
    report_table_begin(html, "Scenarios",
            "Scenario|#Runs|#Coverage points|Growth|#Last new run|#Goals not reached|What to do");
    for (size_t i = 0; i < list->count && err == SIM_STORE_OK; i++) {
        err = put_scenario_row(html, store, &list->sweeps[i]);
    }
    report_table_end(html);
    report_html_raw(html, "<details><summary>Interactions between tasks that some run has "
                          "had</summary>\n");
    err = err == SIM_STORE_OK ? put_kinds(html, store, list) : err;
    report_html_raw(html, "</details>\n");
    put_code(html, lcov);
    return err;
}
