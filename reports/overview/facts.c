/*
 * facts.c -- drawn options, checks of determinism, builds, commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "reports/base/table.h"
#include "reports/overview/parts.h"

/* ---- Options. -------------------------------------------------------------------------------- */

/* Only a run with details has its options in the database; others have the seed only. */
static const char drawn_sql[] =
        "WITH s AS (SELECT sweep, options FROM sweeps WHERE sweep BETWEEN ? AND ?),"
        " d AS (SELECT r.run, d.options, s.options AS usual FROM details AS d CROSS JOIN runs AS r"
        "  USING (run) JOIN s USING (sweep) WHERE r.verdict <> 0 AND d.token IS NOT NULL),"
        " o AS (SELECT e.key, e.value, d.run FROM d, json_each(d.options) AS e"
        "  WHERE e.value IS NOT (SELECT p.value FROM json_each(d.usual) AS p WHERE p.key = e.key))"
        " SELECT key, value, count(*), (SELECT count(*) FROM d) FROM o GROUP BY key, value"
        " ORDER BY key, count(*) DESC, value LIMIT 400";

struct range {
    int64_t first;
    int64_t last;
};

static struct range
range_of(const struct report_sweeps *list)
{
    struct range range = {INT64_MAX, 0};
    for (size_t i = 0; i < list->count; i++) {
        int64_t sweep = list->sweeps[i].sweep;
        range.first = sweep < range.first ? sweep : range.first;
        range.last = sweep > range.last ? sweep : range.last;
    }
    return range;
}

static void
put_drawn_head(struct report_html *html, int64_t failures)
{
    report_html_put(html,
            "<h2>Drawn options</h2>\n<p class=\"dim\">Swarm search draws the options of a run from "
            "its seed. Of the %s stored failures, the table counts those with each drawn value; "
            "all "
            "other options had their defaults.</p>\n",
            report_count(failures).text);
    report_table_begin(html, "Options", "Option|Drawn values, and their failures");
}

enum sim_store_err
report_drawn_put(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    struct range range = range_of(&parts->list);
    struct report_ask ask = report_ask(parts->store, drawn_sql);
    char option[80] = "";
    report_put_int(&ask, range.first);
    report_put_int(&ask, range.last);
    while (report_row(&ask)) {
        if (option[0] == '\0') {
            put_drawn_head(html, report_int(&ask, 3));
        }
        if (strncmp(option, report_text(&ask, 0), sizeof(option) - 1) != 0) {
            report_html_raw(html, option[0] != '\0' ? "</td></tr>\n" : "");
            report_html_put(html, "<tr><td><code>%s</code></td><td>", report_text(&ask, 0));
            (void)snprintf(option, sizeof(option), "%s", report_text(&ask, 0));
        } else {
            report_html_raw(html, ", ");
        }
        report_html_put(html, "<strong>%s</strong> in %s", report_text(&ask, 1),
                report_count(report_int(&ask, 2)).text);
    }
    if (option[0] != '\0') {
        report_html_raw(html, "</td></tr>\n");
        report_table_end(html);
    }
    return report_done(&ask);
}

/* ---- Determinism. ---------------------------------------------------------------------------- */

void
report_checks_put(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    int64_t checked = 0;
    int64_t unequal = 0;
    for (size_t i = 0; i < parts->list.count; i++) {
        checked += parts->list.sweeps[i].checked;
        unequal += parts->list.sweeps[i].unequal;
    }
    report_html_raw(html, "<h3>Determinism</h3>\n");
    if (checked == 0) {
        report_html_raw(html,
                "<p>No run was repeated: <code>--check-determinism 5</code> repeats 5 "
                "% of the runs in another process, at other addresses. A failure "
                "that is reported is always replayed first.</p>\n");
        return;
    }
    report_html_put(html,
            "<p>%s runs were repeated in another process, at other addresses and with memory "
            "filled "
            "with another byte: <strong class=\"%s\">%s%s</strong>.</p>\n",
            report_count(checked).text, unequal == 0 ? "good" : "lost",
            unequal == 0 ? "all were equal" : report_count(unequal).text,
            unequal == 0 ? "" : " differed");
    for (size_t i = 0; unequal > 0 && i < parts->list.count; i++) {
        const struct report_sweep *sweep = &parts->list.sweeps[i];
        if (sweep->unequal > 0) {
            report_html_raw(html, "<p>");
            report_scenario_link(parts, sweep);
            report_html_put(html, ": %s of %s</p>\n", report_count(sweep->unequal).text,
                    report_count(sweep->checked).text);
        }
    }
}

/* ---- Builds and times. ----------------------------------------------------------------------- */

static void
put_date(struct report_html *html, int64_t ms)
{
    char text[40] = "?";
    struct tm date;
    time_t seconds = (time_t)(ms / 1000);
    if (gmtime_r(&seconds, &date) != NULL) {
        (void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &date);
    }
    report_html_text(html, text);
}

static const char *
text_at(const struct report_sweep *sweep, size_t offset)
{
    return *(char *const *)(const void *)((const char *)sweep + offset);
}

/* Each value of the member at `offset` once, in the order of the sweeps; at most five. */
static void
put_values(struct report_parts *parts, const char *name, size_t offset)
{
    struct report_html *html = parts->html;
    size_t shown = 0;
    report_html_put(html, "<dt>%s</dt><dd>", name);
    for (size_t i = 0; i < parts->list.count && shown < 5; i++) {
        const char *text = text_at(&parts->list.sweeps[i], offset);
        bool known = text[0] == '\0' || strcmp(text, "{}") == 0;
        for (size_t j = 0; j < i && !known; j++) {
            known = strcmp(text, text_at(&parts->list.sweeps[j], offset)) == 0;
        }
        if (!known) {
            report_html_raw(html, shown++ > 0 ? "<br>" : "");
            report_html_put(html, "<code>%s</code>", text);
        }
    }
    report_html_raw(html, shown > 0 ? "</dd>\n" : "defaults</dd>\n");
}

void
report_facts_put(struct report_parts *parts)
{
    struct report_html *html = parts->html;
    int64_t first = INT64_MAX;
    int64_t last = 0;
    int64_t steps = 0;
    for (size_t i = 0; i < parts->list.count; i++) {
        const struct report_sweep *sweep = &parts->list.sweeps[i];
        first = sweep->started_ms < first ? sweep->started_ms : first;
        last = sweep->started_ms > last ? sweep->started_ms : last;
        steps += sweep->steps;
    }
    report_html_raw(html, "<h3>What was run</h3>\n<dl>\n");
    put_values(parts, "Build", offsetof(struct report_sweep, build));
    put_values(parts, "Strategy", offsetof(struct report_sweep, strategy));
    put_values(parts, "Options", offsetof(struct report_sweep, options));
    report_html_raw(html, "<dt>Sweeps began</dt><dd>");
    put_date(html, first);
    report_html_raw(html, last > first ? " to " : "");
    if (last > first) {
        put_date(html, last);
    }
    report_html_put(html,
            "</dd>\n<dt>Steps</dt><dd>%s</dd>\n</dl>\n<p class=\"dim\">A run depends only on its "
            "scenario, options and seed: it is the same on any machine and with any number of "
            "workers.</p>\n",
            report_count(steps).text);
}

/* ---- Commands. ------------------------------------------------------------------------------- */

void
report_commands_put(struct report_html *html, const struct report_commands *commands)
{
    if (commands->count < 2) {
        return; /* This page is that of the only command. */
    }
    report_html_raw(html,
            "<h2>Commands</h2>\n<p class=\"dim\">This page has the newest sweep of each scenario. "
            "Pages of the single commands, the newest first:</p>\n");
    report_table_begin(html, "Commands", "Began|#Scenarios|#Runs|#Failed");
    for (size_t i = 0; i < commands->count; i++) {
        report_html_put(html, "<tr><td><a href=\"command-%zu.html\">", i + 1);
        put_date(html, commands->commands[i].command_ms);
        report_html_raw(html, "</a></td>");
        report_number_cell(html, commands->commands[i].sweeps);
        report_number_cell(html, commands->commands[i].runs);
        report_number_cell(html, commands->commands[i].failed);
        report_html_raw(html, "</tr>\n");
    }
    report_table_end(html);
    if (commands->more > 0) {
        report_html_put(html,
                "<p class=\"dim\">%lld older commands: <code>rewake query sweeps</code> lists "
                "them all.</p>\n",
                (long long)commands->more);
    }
}
