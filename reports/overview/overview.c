/*
 * overview.c -- the first page of a report: the failures, by cause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/overview.h"

#include <stdio.h>

static void
put_failure(struct report_html *html, const struct report_failure *failure)
{
    char to[48];
    (void)snprintf(to, sizeof(to), "failure-%lld.html", (long long)failure->run);
    report_html_raw(html, "<tr><td>");
    if (failure->page) {
        report_html_link(html, to, failure->scenario);
    } else {
        report_html_text(html, failure->scenario);
    }
    report_html_raw(html, "</td>");
    report_html_element(html, "td", NULL, sim_verdict_name(failure->verdict));
    report_html_element(html, "td", NULL, failure->place);
    report_html_format(html, "<td class=\"number\">%lld</td>", (long long)failure->count);
    report_html_element(html, "td", NULL, failure->message);
    report_html_raw(html, "</tr>\n");
}

enum sim_store_err
report_overview_put(
        struct report_html *html, struct sim_store *store, const struct report_failures *failures)
{
    (void)store;
    report_html_raw(html, "<h2>Failures</h2>\n");
    if (failures->count == 0) {
        report_html_raw(html, "<p>No run has failed.</p>\n");
        return SIM_STORE_OK;
    }
    report_html_raw(html, "<div class=\"scroll\"><table>\n<thead><tr><th>Scenario</th>"
                          "<th>Verdict</th><th>Place</th><th>Runs</th><th>What</th></tr></thead>"
                          "\n<tbody>\n");
    for (uint32_t i = 0; i < failures->count; i++) {
        put_failure(html, &failures->failures[i]);
    }
    report_html_raw(html, "</tbody></table></div>\n");
    return SIM_STORE_OK;
}
