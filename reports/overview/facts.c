/*
 * facts.c -- drawn options, checks of determinism, builds, commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "reports/base/ask.h"
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
    report_html_raw(html, "<h2>Drawn options</h2>\n<p class=\"dim\">Swarm search draws the options "
                          "of a run from its seed. Of the ");
    report_count_put(html, failures);
    report_html_raw(html,
            " stored failures, the table counts those with each drawn value; all other options had "
            "their defaults.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
            "aria-label=\"Options\"><table>\n<thead><tr><th>Option</th><th>Drawn values, and their "
            "failures</th></tr></thead>\n<tbody>\n");
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
            report_html_raw(html, "<tr><td><code>");
            report_html_text(html, report_text(&ask, 0));
            report_html_raw(html, "</code></td><td>");
            (void)snprintf(option, sizeof(option), "%s", report_text(&ask, 0));
        } else {
            report_html_raw(html, ", ");
        }
        report_html_element(html, "strong", NULL, report_text(&ask, 1));
        report_html_raw(html, " in ");
        report_count_put(html, report_int(&ask, 2));
    }
    report_html_raw(html, option[0] != '\0' ? "</td></tr>\n</tbody></table></div>\n" : "");
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
    report_html_raw(html, "<p>");
    report_count_put(html, checked);
    report_html_raw(html, " runs were repeated in another process, at other addresses and with "
                          "memory filled with another byte: <strong class=\"");
    report_html_raw(html, unequal == 0 ? "good\">all were equal" : "lost\">");
    if (unequal > 0) {
        report_count_put(html, unequal);
        report_html_raw(html, " differed");
    }
    report_html_raw(html, "</strong>.</p>\n");
    for (size_t i = 0; unequal > 0 && i < parts->list.count; i++) {
        if (parts->list.sweeps[i].unequal > 0) {
            report_html_raw(html, "<p>");
            report_scenario_link(parts, &parts->list.sweeps[i]);
            report_html_raw(html, ": ");
            report_count_put(html, parts->list.sweeps[i].unequal);
            report_html_raw(html, " of ");
            report_count_put(html, parts->list.sweeps[i].checked);
            report_html_raw(html, "</p>\n");
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

/* Each value once, in the order of the sweeps; at most five. */
static void
put_values(struct report_parts *parts, const char *name,
        char *const *(*value)(const struct report_sweep *sweep))
{
    struct report_html *html = parts->html;
    size_t shown = 0;
    report_html_format(html, "<dt>%s</dt><dd>", name);
    for (size_t i = 0; i < parts->list.count && shown < 5; i++) {
        const char *text = *value(&parts->list.sweeps[i]);
        bool known = text[0] == '\0' || strcmp(text, "{}") == 0;
        for (size_t j = 0; j < i && !known; j++) {
            known = strcmp(text, *value(&parts->list.sweeps[j])) == 0;
        }
        if (!known) {
            report_html_raw(html, shown++ > 0 ? "<br>" : "");
            report_html_element(html, "code", NULL, text);
        }
    }
    report_html_raw(html, shown > 0 ? "</dd>\n" : "defaults</dd>\n");
}

static char *const *
build_of(const struct report_sweep *sweep)
{
    return &sweep->build;
}

static char *const *
strategy_of(const struct report_sweep *sweep)
{
    return &sweep->strategy;
}

static char *const *
options_of(const struct report_sweep *sweep)
{
    return &sweep->options;
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
    put_values(parts, "Build", build_of);
    put_values(parts, "Strategy", strategy_of);
    put_values(parts, "Options", options_of);
    report_html_raw(html, "<dt>Sweeps began</dt><dd>");
    put_date(html, first);
    report_html_raw(html, last > first ? " to " : "");
    if (last > first) {
        put_date(html, last);
    }
    report_html_raw(html, "</dd>\n<dt>Steps</dt><dd>");
    report_count_put(html, steps);
    report_html_raw(html,
            "</dd>\n</dl>\n<p class=\"dim\">A run depends only on its scenario, options and "
            "seed: it is the same on any machine and with any number of workers.</p>\n");
}

/* ---- Commands. ------------------------------------------------------------------------------- */

void
report_commands_put(struct report_html *html, const struct report_commands *commands)
{
    if (commands->count < 2) {
        return; /* This page is that of the only command. */
    }
    report_html_raw(html,
            "<h2>Commands</h2>\n<p class=\"dim\">This page has the newest sweep of each "
            "scenario. "
            "Pages of the single commands, the newest first:</p>\n<div class=\"scroll\" "
            "tabindex=\"0\" "
            "role=\"group\" aria-label=\"Commands\"><table>\n<thead><tr><th>Began</th>"
            "<th class=\"number\">Scenarios</th><th class=\"number\">Runs</th>"
            "<th class=\"number\">Failed</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < commands->count; i++) {
        report_html_format(html, "<tr><td><a href=\"command-%zu.html\">", i + 1);
        put_date(html, commands->commands[i].command_ms);
        report_html_raw(html, "</a></td>");
        report_number_cell(html, commands->commands[i].sweeps);
        report_number_cell(html, commands->commands[i].runs);
        report_number_cell(html, commands->commands[i].failed);
        report_html_raw(html, "</tr>\n");
    }
    report_html_raw(html, "</tbody></table></div>\n");
    if (commands->more > 0) {
        report_html_format(html,
                "<p class=\"dim\">%lld older commands: <code>rewake query sweeps</code> lists "
                "them all.</p>\n",
                (long long)commands->more);
    }
}
