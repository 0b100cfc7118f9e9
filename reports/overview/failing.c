/*
 * failing.c -- failures by cause, and canaries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "reports/base/sort.h"
#include "reports/model/places.h"
#include "reports/overview/parts.h"
#include "runtime/base/assert.h"

/* ---- By cause. ------------------------------------------------------------------------------- */

struct failing {
    const struct report_sweep *sweep;
    const struct report_way *way;
};

static int
by_cause(const void *left, const void *right)
{
    const struct failing *a = left;
    const struct failing *b = right;
    int order = strcmp(a->way->verdict, b->way->verdict);
    order = order != 0 ? order : strcmp(a->way->oracle, b->way->oracle);
    order = order != 0 ? order : strcmp(a->way->file, b->way->file);
    order = order != 0 ? order : (a->way->line > b->way->line) - (a->way->line < b->way->line);
    return order != 0 ? order : strcmp(a->sweep->scenario, b->sweep->scenario);
}

static bool
same_cause(const struct failing *a, const struct failing *b)
{
    return strcmp(a->way->verdict, b->way->verdict) == 0 &&
           strcmp(a->way->oracle, b->way->oracle) == 0 && strcmp(a->way->file, b->way->file) == 0 &&
           a->way->line == b->way->line;
}

static void
put_place(struct report_html *html, const struct report_way *way)
{
    if (way->file[0] == '\0') {
        report_html_raw(html, "<span class=\"dim\">no line</span>");
        return;
    }
    report_html_raw(html, "<code>");
    report_html_text(html, report_file_name(way->file));
    report_html_format(html, ":%lld</code> ", (long long)way->line);
    report_html_element(html, "span", "dim", way->function);
}

/* The missing wake; names are in backquotes in it. */
static void
put_answer(struct report_html *html, const struct report_way *way)
{
    bool code = false;
    if (way->answer[0] == '\0') {
        return;
    }
    report_html_raw(html, "<br><span class=\"dim\">");
    for (const char *at = way->answer; *at != '\0'; at += *at == '`') {
        size_t length = strcspn(at, "`");
        report_html_raw(html, code ? "<code>" : "");
        report_html_text_n(html, at, length);
        report_html_raw(html, code ? "</code>" : "");
        code = !code;
        at += length;
    }
    report_html_raw(html, "</span>");
}

/* The cause is written once, beside all its scenarios. */
static void
put_row(struct report_parts *parts, const struct failing *each, size_t same)
{
    struct report_html *html = parts->html;
    report_html_raw(html, "<tr>");
    if (same > 0) {
        report_html_format(html,
                "<td rowspan=\"%zu\"><strong class=\"lost\" "
                "style=\"white-space:nowrap\">",
                same);
        report_html_text(html, each->way->verdict);
        report_html_raw(html, "</strong><br><span class=\"dim\">found by oracle ");
        report_html_text(html, each->way->oracle);
        report_html_format(html, "</span></td><td rowspan=\"%zu\">", same);
        put_place(html, each->way);
        report_html_raw(html, "</td>");
    }
    report_html_raw(html, "<td>");
    report_way_link(parts, each->way, each->sweep->scenario);
    report_html_raw(html, "</td><td class=\"number\" style=\"white-space:nowrap\">");
    report_count_put(html, report_way_runs(each->way));
    report_html_raw(html, "<br><span class=\"dim\">of ");
    report_count_put(html, report_sweep_runs(each->sweep));
    report_html_raw(html, each->way->again ? "<br>remembered</span></td>" : "</span></td>");
    /* Wide enough for a sentence, on a telephone as well. */
    report_html_raw(html, "<td style=\"min-width:18rem\">");
    report_html_text(
            html, each->way->message[0] != '\0' ? each->way->message : "no run of it is stored");
    put_answer(html, each->way);
    report_html_raw(html, "</td>");
    report_html_raw(html, "</tr>\n");
}

/* The failures that count, by cause. */
struct causes {
    struct failing *failing;
    const void **order;
    size_t count;
};

static struct causes
collect(const struct report_sweeps *list)
{
    size_t capacity = 1;
    for (size_t i = 0; i < list->count; i++) {
        capacity += list->sweeps[i].way_count;
    }
    struct causes causes = {
            .failing = calloc(capacity, sizeof(*causes.failing)),
            .order = calloc(capacity, sizeof(*causes.order)),
    };
    rt_assert(causes.failing != NULL && causes.order != NULL);
    for (size_t i = 0; i < list->count; i++) {
        const struct report_sweep *sweep = &list->sweeps[i];
        for (size_t j = 0; j < sweep->way_count && !report_canary_ok(sweep); j++) {
            if (report_way_counts(sweep, &sweep->ways[j])) {
                causes.failing[causes.count] = (struct failing){sweep, &sweep->ways[j]};
                causes.order[causes.count] = &causes.failing[causes.count];
                causes.count++;
            }
        }
    }
    report_sort(causes.order, causes.count, by_cause);
    return causes;
}

static void
put_rows(struct report_parts *parts, const struct causes *causes, size_t shown)
{
    for (size_t i = 0; i < shown;) {
        size_t same = 1;
        while (i + same < shown && same_cause(causes->order[i], causes->order[i + same])) {
            same++;
        }
        for (size_t k = 0; k < same; k++) {
            put_row(parts, causes->order[i + k], k == 0 ? same : 0);
        }
        i += same;
    }
}

/* Failures without a failing run: a replica run differs, a goal was not reached. */
static void
put_others(struct report_parts *parts)
{
    for (size_t i = 0; i < parts->list.count; i++) {
        const struct report_sweep *sweep = &parts->list.sweeps[i];
        bool shown = false;
        for (size_t j = 0; j < sweep->way_count; j++) {
            shown = shown || report_way_counts(sweep, &sweep->ways[j]);
        }
        if (shown || report_sweep_end(sweep) != REPORT_FAILED) {
            continue;
        }
        report_html_raw(parts->html, "<p>");
        report_scenario_link(parts, sweep);
        report_html_raw(parts->html, " did not end as expected, or did not reach one of its "
                                     "goals.</p>\n");
    }
}

void
report_failing_put(struct report_parts *parts)
{
    struct causes causes = collect(&parts->list);
    size_t count = causes.count;
    size_t shown = count < REPORT_ROWS_MAX ? count : REPORT_ROWS_MAX;
    report_html_raw(parts->html, "<h2 id=\"failures\">Failures, by cause</h2>\n");
    if (count == 0) {
        report_html_raw(parts->html, "<p>None.</p>\n");
    } else {
        report_html_raw(parts->html,
                "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Failures\">"
                "<table>\n<thead><tr><th>Verdict</th><th>Line</th><th>Scenario</th>"
                "<th class=\"number\">Runs</th><th>Example</th></tr></thead>\n<tbody>\n");
        put_rows(parts, &causes, shown);
        report_html_raw(parts->html, "</tbody></table></div>\n");
    }
    if (shown < count) {
        report_html_format(parts->html,
                "<p class=\"dim\">%zu more ways to fail: <code>rewake query failures</code> lists "
                "them all.</p>\n",
                count - shown);
    }
    put_others(parts);
    free(causes.failing);
    free(causes.order);
}

/* ---- Canaries. ------------------------------------------------------------------------------- */

static void
put_canary(struct report_parts *parts, const struct report_sweep *sweep)
{
    struct report_html *html = parts->html;
    bool ok = report_canary_ok(sweep);
    report_html_raw(html, "<tr><td>");
    report_scenario_link(parts, sweep);
    report_html_raw(html, "</td><td>");
    report_html_text(html, sweep->stated[0] != '\0' ? sweep->stated : "a failure");
    report_html_raw(html, "</td><td>");
    report_html_element(html, "span", ok ? "good" : "lost", ok ? "as expected" : "NOT FOUND");
    report_html_raw(html, "</td><td class=\"number\">");
    report_count_put(html, report_sweep_failed(sweep));
    report_html_raw(html, " of ");
    report_count_put(html, report_sweep_runs(sweep));
    report_html_raw(html, "</td><td>");
    if (sweep->way_count > 0) {
        report_way_link(parts, &sweep->ways[0], sweep->ways[0].message);
    }
    report_html_raw(html, "</td></tr>\n");
}

static void
put_canary_table(struct report_parts *parts)
{
    report_html_raw(parts->html,
            "<details><summary>All canaries</summary>\n<div class=\"scroll\" tabindex=\"0\" "
            "role=\"group\" aria-label=\"Canaries\"><table>\n<thead><tr><th>Scenario</th>"
            "<th>Expected</th><th>Result</th><th class=\"number\">Runs that failed</th>"
            "<th>Example</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < parts->list.count; i++) {
        if (report_is_canary(&parts->list.sweeps[i])) {
            put_canary(parts, &parts->list.sweeps[i]);
        }
    }
    report_html_raw(parts->html, "</tbody></table></div></details>\n");
}

void
report_canaries_put(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    size_t canaries = 0;
    size_t ok = 0;
    for (size_t i = 0; i < parts->list.count; i++) {
        canaries += report_is_canary(&parts->list.sweeps[i]);
        ok += report_canary_ok(&parts->list.sweeps[i]);
    }
    report_html_raw(html, "<h3>Canaries</h3>\n");
    if (canaries == 0) {
        report_html_raw(html, "<p>No canary was run. <code>rewake run 'canary/*' --expect</code> "
                              "runs scenarios with a known bug, one for each verdict, and some "
                              "correct ones that must pass.</p>\n");
        return;
    }
    report_html_format(html,
            "<p>Canaries have a known bug each, or are correct and must pass: "
            "<strong class=\"%s\">%zu of %zu ended as expected</strong>%s</p>\n",
            ok == canaries ? "good" : "lost", ok, canaries,
            ok == canaries ? ". rewake finds bugs of these kinds."
                           : ": rewake may miss failures of other scenarios as well.");
    put_canary_table(parts);
}
