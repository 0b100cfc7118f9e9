/*
 * failure.c -- the page of one failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/failure.h"

#include "reports/model/run.h"

static void
put_step(struct report_html *html, const struct report_run *run, const struct report_step *step)
{
    struct sim_page words;
    sim_page_init(&words, false);
    (void)report_run_step_words(run, step, &words);
    report_html_format(
            html, "<tr id=\"step-%u\"><td class=\"number\">%u</td><td>", step->step, step->step);
    report_html_time(html, step->time_ns);
    report_html_raw(html, "</td>");
    report_html_element(html, "td", NULL, run->actors[step->actor].name);
    report_html_element(html, "td", NULL, sim_page_text(&words));
    report_html_raw(html, "</tr>\n");
    sim_page_fini(&words);
}

static void
put_run(struct report_html *html, const struct report_run *run)
{
    report_html_begin(html, run->scenario, REPORT_NAV_FAILURE);
    report_html_element(html, "p", "lead", run->outcome.message);
    report_html_raw(html, "<h2>Steps</h2>\n<div class=\"scroll\"><table>\n");
    for (uint32_t i = 0; i < run->steps_count; i++) {
        put_step(html, run, &run->steps[i]);
    }
    report_html_raw(html, "</table></div>\n");
    report_html_end(html);
}

enum sim_store_err
report_failure_put(struct report_html *html, struct sim_store *store,
        const struct report_places *places, int64_t run, const char *db)
{
    struct report_run found;
    (void)db;
    sim_page_init(&html->page, false);
    enum sim_store_err err = report_run_load(store, run, places, &found);
    if (err == SIM_STORE_OK) {
        put_run(html, &found);
    }
    report_run_free(&found);
    return err;
}
