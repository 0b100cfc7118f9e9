/*
 * failing.c -- failures by cause, and canaries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "reports/base/table.h"
#include "reports/model/places.h"
#include "reports/overview/parts.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"

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

static void
put_place(struct report_html *html, const struct report_way *way)
{
    if (way->file[0] == '\0') {
        report_html_raw(html, "<span class=\"dim\">no line</span>");
        return;
    }
    report_html_line(html, way->file, (uint32_t)way->line, false);
    report_html_put(html, " <span class=\"dim\">%s</span>", way->function);
}

/* The missing wake. */
static void
put_answer(struct report_html *html, const struct report_text *answer)
{
    size_t at = 0;
    if (answer->text[0] == '\0') {
        return;
    }
    report_html_raw(html, "<br><span class=\"dim\">");
    for (uint32_t i = 0; i < answer->refs_count; i++) {
        const struct sim_ref *ref = &answer->refs[i];
        if (ref->kind == SIM_REF_NAME) {
            report_html_text_n(html, answer->text + at, ref->from - at);
            report_html_raw(html, "<code>");
            report_html_text_n(html, answer->text + ref->from + 1, ref->to - ref->from - 2);
            report_html_raw(html, "</code>");
            at = ref->to;
        }
    }
    report_html_put(html, "%s</span>", answer->text + at);
}

static void
put_row(struct report_parts *parts, const struct failing *each)
{
    struct report_html *html = parts->html;
    const struct report_way *way = each->way;
    report_html_put(html,
            "<tr><td><strong class=\"lost\" style=\"white-space:nowrap\">%s</strong>"
            "<br><span class=\"dim\">found by oracle %s</span></td><td>",
            way->verdict, way->oracle);
    html->library = each->sweep->library;
    put_place(html, way);
    html->library = NULL;
    report_html_raw(html, "</td><td>");
    report_way_link(parts, way, each->sweep->scenario);
    report_html_put(html,
            "</td><td class=\"number\" style=\"white-space:nowrap\">%s<br><span class=\"dim\">of "
            "%s",
            report_count(report_way_runs(way)).text,
            report_count(report_sweep_runs(each->sweep)).text);
    report_html_raw(html, way->again ? "<br>remembered" : "");
    report_html_put(html, "</span></td><td>%s",
            way->message[0] != '\0' ? way->message : "no run of it is stored");
    put_answer(html, &way->answer);
    report_html_raw(html, "</td></tr>\n");
}

/* The failures that count, by cause. */
struct causes {
    struct failing *failing;
    size_t count;
};

static struct causes
collect(const struct report_sweeps *list)
{
    size_t capacity = 1;
    for (size_t i = 0; i < list->count; i++) {
        capacity += list->sweeps[i].way_count;
    }
    struct causes causes = {.failing = sim_heap_new(capacity, sizeof(*causes.failing))};
    for (size_t i = 0; i < list->count; i++) {
        const struct report_sweep *sweep = &list->sweeps[i];
        for (size_t j = 0; j < sweep->way_count && !report_canary_ok(sweep); j++) {
            if (report_way_counts(sweep, &sweep->ways[j])) {
                causes.failing[causes.count++] = (struct failing){sweep, &sweep->ways[j]};
            }
        }
    }
    sim_sort(causes.failing, causes.count, sizeof(*causes.failing), by_cause);
    return causes;
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
        report_table_begin(parts->html, "Failures", "Verdict|Line|Scenario|#Runs|Example");
        for (size_t i = 0; i < shown; i++) {
            put_row(parts, &causes.failing[i]);
        }
        report_table_end(parts->html);
    }
    if (shown < count) {
        report_html_put(parts->html,
                "<p class=\"dim\">%zu more ways to fail: <code>rewake query failures</code> lists "
                "them all.</p>\n",
                count - shown);
    }
    put_others(parts);
    free(causes.failing);
}

/* ---- Canaries. ------------------------------------------------------------------------------- */

static void
put_canary(struct report_parts *parts, const struct report_sweep *sweep)
{
    struct report_html *html = parts->html;
    bool ok = report_canary_ok(sweep);
    report_html_raw(html, "<tr><td>");
    report_scenario_link(parts, sweep);
    report_html_put(html,
            "</td><td>%s</td><td><span class=\"%s\">%s</span></td><td class=\"number\">%s of "
            "%s</td>"
            "<td>",
            sweep->stated[0] != '\0' ? sweep->stated : "a failure", ok ? "good" : "lost",
            ok ? "as expected" : "NOT FOUND", report_count(report_sweep_failed(sweep)).text,
            report_count(report_sweep_runs(sweep)).text);
    if (sweep->way_count > 0) {
        report_way_link(parts, &sweep->ways[0], sweep->ways[0].message);
    }
    report_html_raw(html, "</td></tr>\n");
}

static void
put_canary_table(struct report_parts *parts)
{
    report_html_raw(parts->html, "<details><summary>All canaries</summary>\n");
    report_table_begin(
            parts->html, "Canaries", "Scenario|Expected|Result|#Runs that failed|Example");
    for (size_t i = 0; i < parts->list.count; i++) {
        if (report_is_canary(&parts->list.sweeps[i])) {
            put_canary(parts, &parts->list.sweeps[i]);
        }
    }
    report_table_end(parts->html);
    report_html_raw(parts->html, "</details>\n");
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
    report_html_put(html,
            "<p>Canaries have a known bug each, or are correct and must pass: "
            "<strong class=\"%s\">%zu of %zu ended as expected</strong>%s</p>\n",
            ok == canaries ? "good" : "lost", ok, canaries,
            ok == canaries ? ". rewake finds bugs of these kinds."
                           : ": rewake may miss failures of other scenarios as well.");
    put_canary_table(parts);
}
