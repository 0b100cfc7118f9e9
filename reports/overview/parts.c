/*
 * parts.c -- what several sections need: canaries, links, cells.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/parts.h"

#include <stdio.h>
#include <string.h>

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
        report_html_element(html, "span", "good", "passed");
        break;
    case REPORT_FAILED:
        report_html_element(html, "span", "lost", "failed");
        break;
    case REPORT_CUT:
        report_html_raw(html, "<span style=\"color:var(--part)\">cut&nbsp;short</span>");
        break;
    }
}
