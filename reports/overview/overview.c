/*
 * overview.c -- the first page of a report: its sweeps and sections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/overview.h"

#include <stdlib.h>
#include <string.h>

#include "reports/base/table.h"
#include "reports/overview/parts.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"

/* ---- The summary. ---------------------------------------------------------------------------- */

struct sums {
    int64_t runs;
    int64_t ends[3]; /* By enum report_end. */
    int64_t ways;
};

static struct sums
sum_up(const struct report_sweeps *list)
{
    struct sums sums = {.runs = 0};
    for (size_t i = 0; i < list->count; i++) {
        const struct report_sweep *sweep = &list->sweeps[i];
        bool ok = report_canary_ok(sweep);
        sums.runs += report_sweep_runs(sweep);
        sums.ends[ok ? REPORT_PASSED : report_sweep_end(sweep)]++;
        for (size_t j = 0; j < sweep->way_count && !ok; j++) {
            sums.ways += report_way_counts(sweep, &sweep->ways[j]);
        }
    }
    return sums;
}

static void
put_lead(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    struct sums sums = sum_up(&parts->list);
    int64_t failed = sums.ends[REPORT_FAILED];
    int64_t cut = sums.ends[REPORT_CUT];
    int64_t count = (int64_t)parts->list.count;
    if (failed > 0) {
        report_html_put(html,
                "<p class=\"lead\"><strong class=\"lost\">%s %s</strong>, in %s way%s",
                report_count(failed).text, failed == 1 ? "scenario fails" : "scenarios fail",
                report_count(sums.ways).text, sums.ways == 1 ? "" : "s");
    } else {
        report_html_raw(html, "<p class=\"lead\" style=\"border-color:var(--good)\">"
                              "<strong class=\"good\">Nothing failed</strong>");
    }
    report_html_put(html, ". %s %s run over %s seed%s; %s passed", report_count(count).text,
            count == 1 ? "scenario was" : "scenarios were", report_count(sums.runs).text,
            sums.runs == 1 ? "" : "s", report_count(sums.ends[REPORT_PASSED]).text);
    if (cut > 0) {
        report_html_put(
                html, "; %s %s cut short", report_count(cut).text, cut == 1 ? "was" : "were");
    }
    report_html_raw(html, ".</p>\n");
}

/* ---- Curves. --------------------------------------------------------------------------------- */

/* In the order in which they ran. */
static int
by_number(const void *left, const void *right)
{
    const struct report_sweep *const *a = left;
    const struct report_sweep *const *b = right;
    return (*a)->sweep < (*b)->sweep ? -1 : (*a)->sweep > (*b)->sweep;
}

/* Time without the gaps between commands, which may be weeks. */
static void
put_runs_over_time(struct report_parts *parts)
{
    size_t count = parts->list.count;
    const struct report_sweep **order = sim_heap_new(count, sizeof(*order));
    struct report_point *points = sim_heap_new(count + 1, sizeof(*points));
    struct report_point *marks = sim_heap_new(count, sizeof(*marks));
    for (size_t i = 0; i < count; i++) {
        order[i] = &parts->list.sweeps[i];
    }
    sim_sort(order, count, sizeof(*order), by_number);
    size_t used = 1;
    size_t marked = 0;
    for (size_t i = 0; i < count; i++) {
        const struct report_sweep *sweep = order[i];
        struct report_point last = points[used - 1];
        points[used++] = (struct report_point){last.x + sweep->elapsed_ms, last.y + sweep->runs};
        if (report_sweep_end(sweep) == REPORT_FAILED && !report_canary_ok(sweep)) {
            marks[marked++] = points[used - 1];
        }
    }
    report_html_raw(parts->html,
            "<h3>Runs over time</h3>\n<p class=\"dim\">All sweeps in sequence, without the time "
            "between them. A dot is a scenario that failed.</p>\n");
    const struct report_chart chart = {
            .title = "Runs over time",
            .x_label = "time spent in sweeps (s)",
            .y_label = "runs",
            .ms = true,
            .points = points,
            .count = used,
            .marks = marks,
            .mark_count = marked,
            .slopes = true,
    };
    if (points[used - 1].y > 0) {
        report_chart_put(parts->html, &chart);
    } else {
        report_html_raw(parts->html, "<p>No seed was run.</p>\n");
    }
    free(order);
    free(points);
    free(marks);
}

static enum sim_store_err
put_growth(struct report_parts *parts)
{
    struct report_growth all;
    enum sim_store_err err = report_growth_read(parts->store, &parts->list, &all);
    if (all.count > 0) {
        report_html_raw(parts->html,
                "<h3>Coverage growth</h3>\n<p class=\"dim\">Coverage points of the schedule (which "
                "wake led to which poll, which waker was replaced, which access was first) by the "
                "number of runs of each scenario. Where the curve is flat, more runs find little "
                "new. <a href=\"coverage.html\">All coverage points</a></p>\n");
        report_growth_chart(parts->html, &all, "runs of each scenario (logarithmic)");
    }
    report_growth_free(&all);
    return err;
}

/* ---- The page. ------------------------------------------------------------------------------- */

static enum sim_store_err
put_parts(struct report_parts *parts)
{
    put_lead(parts);
    report_failing_put(parts);
    enum sim_store_err err = report_scenarios_put(parts);
    report_html_raw(parts->html, "<details><summary>Statistics of the search</summary>\n");
    put_runs_over_time(parts);
    err = err == SIM_STORE_OK ? put_growth(parts) : err;
    err = err == SIM_STORE_OK ? report_strategies_put(parts) : err;
    err = err == SIM_STORE_OK ? report_drawn_put(parts) : err;
    report_html_raw(parts->html, "</details>\n");
    report_html_raw(parts->html, "<h2>Can this report be trusted?</h2>\n");
    report_canaries_put(parts);
    report_checks_put(parts);
    report_facts_put(parts);
    return err;
}

static enum sim_store_err
put_sweeps(struct report_html *html, const struct report_site *site, const int64_t *sweeps,
        size_t count)
{
    struct sim_store *store = site->store;
    struct report_parts parts = {.html = html, .store = store, .site = site};
    enum sim_store_err err = report_sweeps_read(store, sweeps, count, &parts.list);
    if (err == SIM_STORE_OK && parts.list.count == 0) {
        report_html_raw(
                html, "<p>The database has no sweep yet: <code>rewake run</code> makes one.</p>\n");
    } else if (err == SIM_STORE_OK) {
        err = put_parts(&parts);
    }
    report_sweeps_done(&parts.list);
    return err;
}

enum sim_store_err
report_overview_put(struct report_html *html, const struct report_site *site,
        const struct report_commands *commands)
{
    int64_t *sweeps = NULL;
    size_t count = 0;
    enum sim_store_err err = report_sweeps_newest(site->store, NULL, 0, &sweeps, &count);
    if (err == SIM_STORE_OK) {
        err = put_sweeps(html, site, sweeps, count);
    }
    if (err == SIM_STORE_OK) {
        report_commands_put(html, commands);
    }
    free(sweeps);
    return err;
}

/* ---- Commands. ------------------------------------------------------------------------------- */

/* Each sweep of an older rewake counts as a command. */
#define COMMANDS_SQL(began, joined, again) \
    "SELECT " began " AS began, count(*), sum(s.runs + " again "), sum((SELECT " again \
    " + coalesce(sum(v.runs), 0) FROM sweep_verdicts AS v WHERE v.sweep = s.sweep" \
    " AND v.verdict <> 0)), count(*) OVER () FROM sweeps AS s " joined \
    " GROUP BY began ORDER BY began DESC LIMIT 50"

_Static_assert(REPORT_COMMANDS_MAX == 50, "as in COMMANDS_SQL");

#define NOTED_BEGAN "coalesce(n.command_ms, s.started_ms)"
#define NOTED_JOIN "LEFT JOIN sweep_notes AS n USING (sweep)"
#define AGAIN "(SELECT count(*) FROM failed_again AS a WHERE a.sweep = s.sweep)"

static const char *
commands_sql(struct sim_store *store)
{
    return report_has_table(store, "sweep_notes") ? COMMANDS_SQL(NOTED_BEGAN, NOTED_JOIN, AGAIN)
                                                  : COMMANDS_SQL("s.started_ms", "", "0");
}

enum sim_store_err
report_commands_read(struct sim_store *store, struct report_commands *ret_commands)
{
    *ret_commands = (struct report_commands){.count = 0};
    struct report_ask ask = report_ask(store, commands_sql(store));
    while (report_row(&ask)) {
        ret_commands->commands[ret_commands->count++] = (struct report_command){
                .command_ms = report_int(&ask, 0),
                .sweeps = report_int(&ask, 1),
                .runs = report_int(&ask, 2),
                .failed = report_int(&ask, 3),
        };
        ret_commands->more = report_int(&ask, 4) - (int64_t)ret_commands->count;
    }
    return report_done(&ask);
}

enum sim_store_err
report_command_put(struct report_html *html, const struct report_site *site,
        const struct report_command *command)
{
    struct sim_store *store = site->store;
    int64_t *sweeps = sim_heap_new((size_t)command->sweeps, sizeof(*sweeps));
    size_t count = 0;
    struct report_ask ask = report_ask(store,
            report_has_table(store, "sweep_notes")
                    ? "SELECT sweep FROM sweeps AS s " NOTED_JOIN " WHERE " NOTED_BEGAN
                      " = ? ORDER BY scenario, sweep"
                    : "SELECT sweep FROM sweeps WHERE started_ms = ? ORDER BY scenario, sweep");
    report_put_int(&ask, command->command_ms);
    while (count < (size_t)command->sweeps && report_row(&ask)) {
        sweeps[count++] = report_int(&ask, 0);
    }
    enum sim_store_err err = report_done(&ask);
    if (err == SIM_STORE_OK) {
        err = put_sweeps(html, site, sweeps, count);
    }
    free(sweeps);
    return err;
}
