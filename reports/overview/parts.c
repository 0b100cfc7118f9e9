/*
 * parts.c -- what several sections need: canaries, links, cells.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/table.h"
#include "sim/base/heap.h"

/* ---- Canaries. ------------------------------------------------------------------------------- */

bool
report_is_canary(const struct report_sweep *sweep)
{
    const char *word = sweep->scenario;
    while (word != NULL) {
        word += *word == '/';
        if (strncmp(word, "canary", 6) == 0 && (word[6] == '/' || word[6] == '\0')) {
            return true;
        }
        word = strchr(word, '/');
    }
    return false;
}

/* A remembered failure that failed again counts as found. */
static bool
was_found(const struct report_sweep *sweep)
{
    bool found = sweep->stated_runs > 0;
    for (size_t i = 0; i < sweep->way_count && !found; i++) {
        found = sweep->ways[i].again && strcmp(sweep->ways[i].verdict, sweep->stated) == 0;
    }
    return found;
}

/* A sweep of an older rewake has no expected verdict: any failure counts. */
bool
report_canary_ok(const struct report_sweep *sweep)
{
    if (!report_is_canary(sweep)) {
        return false;
    }
    if (strcmp(sweep->stated, "pass") == 0) {
        return report_sweep_failed(sweep) == 0;
    }
    return sweep->stated[0] == '\0' ? report_sweep_failed(sweep) > 0 : was_found(sweep);
}

/* ---- Links. ---------------------------------------------------------------------------------- */

static bool
has_page(const struct report_site *site, int64_t run)
{
    bool named = site->run_count == 0 && run != 0;
    for (size_t i = 0; i < site->run_count && !named; i++) {
        named = site->runs[i] == run;
    }
    return named;
}

void
report_way_link(const struct report_parts *parts, const struct report_way *way, const char *text)
{
    char to[48];
    if (has_page(parts->site, way->page)) {
        (void)snprintf(to, sizeof(to), "failure-%lld.html", (long long)way->page);
        report_html_link(parts->html, to, text);
    } else {
        report_html_text(parts->html, text);
    }
}

void
report_scenario_link(const struct report_parts *parts, const struct report_sweep *sweep)
{
    char to[48];
    (void)snprintf(to, sizeof(to), "coverage-%lld.html", (long long)sweep->sweep);
    report_html_link(parts->html, to, sweep->scenario);
}

/* ---- Results. -------------------------------------------------------------------------------- */

void
report_end_put(struct report_html *html, const struct report_sweep *sweep)
{
    if (report_canary_ok(sweep)) {
        report_html_raw(html, "<span class=\"dim\">as&nbsp;expected</span>");
        return;
    }
    switch (report_sweep_end(sweep)) {
    case REPORT_PASSED:
        report_html_raw(html, "<span class=\"good\">passed</span>");
        break;
    case REPORT_FAILED:
        report_html_raw(html, "<span class=\"lost\">failed</span>");
        break;
    case REPORT_CUT:
        report_html_raw(html, "<span style=\"color:var(--part)\">cut&nbsp;short</span>");
        break;
    }
}

/* ---- Growth. --------------------------------------------------------------------------------- */

static void
add(struct report_growth *growth, int64_t runs)
{
    sim_heap_grow(&growth->points, growth->count, &growth->capacity, sizeof(*growth->points));
    growth->points[growth->count++] = (struct report_point){runs, growth->covered};
}

enum sim_store_err
report_growth_read(
        struct sim_store *store, const struct report_sweeps *list, struct report_growth *ret_growth)
{
    struct sim_page sweeps;
    int64_t runs = 0;
    *ret_growth = (struct report_growth){.count = 0};
    enum sim_store_err err = sim_store_growth_make(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    sim_page_init(&sweeps, false);
    report_sweeps_json(list, &sweeps);
    struct report_ask ask = report_ask(store,
            "SELECT runs, sum(points) FROM growth WHERE sweep IN (SELECT value FROM json_each(?))"
            " GROUP BY runs ORDER BY runs");
    report_put_text(&ask, sim_page_text(&sweeps));
    while (report_row(&ask)) {
        ret_growth->last_new = report_int(&ask, 0);
        ret_growth->covered += report_int(&ask, 1);
        add(ret_growth, ret_growth->last_new);
    }
    for (size_t i = 0; i < list->count; i++) {
        runs = list->sweeps[i].runs > runs ? list->sweeps[i].runs : runs;
    }
    if (ret_growth->count > 0 && ret_growth->last_new < runs) {
        add(ret_growth, runs); /* The curve is flat up to the last run. */
    }
    sim_page_fini(&sweeps);
    return report_done(&ask);
}

void
report_growth_free(struct report_growth *growth)
{
    free(growth->points);
    *growth = (struct report_growth){.count = 0};
}

enum sim_store_err
report_growth_cells(
        struct report_html *html, struct sim_store *store, const struct report_sweep *sweep)
{
    struct report_growth growth;
    const struct report_sweeps one = {.sweeps = (struct report_sweep[]){*sweep}, .count = 1};
    enum sim_store_err err = report_growth_read(store, &one, &growth);
    report_number_cell(html, growth.covered);
    report_html_raw(html, "<td>");
    report_spark_put(html, "Coverage growth", growth.points, growth.count);
    report_html_raw(html, "</td>");
    report_number_cell(html, growth.last_new);
    report_growth_free(&growth);
    return err;
}

void
report_growth_chart(
        struct report_html *html, const struct report_growth *growth, const char *x_label)
{
    const struct report_chart chart = {
            .title = "Coverage growth",
            .x_label = x_label,
            .y_label = "coverage points",
            .log_x = true,
            .points = growth->points,
            .count = growth->count,
    };
    report_chart_put(html, &chart);
}
