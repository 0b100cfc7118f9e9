/*
 * failure.c -- the page of one failure: the answer first, then the evidence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/draw.h"
#include "reports/page/model.h"
#include "sim/base/command.h"
#include "sim/base/heap.h"

/* ---- The answer. ----------------------------------------------------------------------------- */

static void
put_headline(struct report_html *html, const struct report_model *model)
{
    const struct sim_outcome *outcome = &model->found.outcome;
    if (model->explanation.run != 0) {
        report_put_prose(html, model, "lead", &model->explanation.headline);
        return;
    }
    report_html_put(html, "<p class=\"lead\">%s%s%s</p>\n", sim_verdict_name(outcome->verdict),
            outcome->message[0] != '\0' ? ": " : "", outcome->message);
}

static void
put_answer(struct report_html *html, const struct report_model *model)
{
    const struct report_explained *explanation = &model->explanation;
    if (explanation->run == 0) {
        report_html_raw(html,
                "<p>This failure has no explanation yet; the page shows the run as it was found. "
                "<code>rewake explain</code> adds an explanation to the database, on a machine "
                "where the scenario can be run.</p>\n");
        return;
    }
    report_put_prose(html, model, NULL, &explanation->answer);
    report_put_prose(html, model, NULL, &explanation->decision);
    report_put_prose(html, model, NULL, &explanation->ordering);
}

/* ---- Where it failed, innermost frame first. ------------------------------------------------- */

/* The frames of a leak are those of the clone, which the answer names. */
static bool
has_stack(const struct report_model *model)
{
    return model->frames.count > 0 && model->found.outcome.verdict != SIM_VERDICT_LEAK;
}

static void
put_stack(struct report_html *html, const struct report_model *model)
{
    char text[512];
    const struct sim_frames *frames = &model->frames;
    if (!has_stack(model)) {
        return;
    }
    report_html_raw(html, "<h2 id=\"stack\">Where it failed</h2>\n<ol start=\"0\">\n");
    for (uint32_t i = 0; i < frames->count; i++) {
        sim_frame_text(&frames->all[i], text, sizeof(text));
        report_html_put(html, "<li><code>%s</code></li>\n", text);
    }
    report_html_raw(html, "</ol>\n");
}

/* ---- The pictures. --------------------------------------------------------------------------- */

static void
put_figure(struct report_html *html, const struct report_lanes *lanes, const char *id,
        const char *prefix, const char *caption, const char *title)
{
    report_html_put(html,
            "<figure style=\"flex-basis:%upx\"><figcaption>%s</figcaption>"
            "<div class=\"scroll\" tabindex=\"0\">\n",
            report_draw_width(lanes), caption);
    report_draw(html, lanes, id, prefix, title);
    report_html_raw(html, "</div>\n</figure>\n");
}

static void
put_pictures(struct report_html *html, const struct report_model *model)
{
    if (model->lanes.lanes_count == 0) {
        report_html_raw(html, "<p>The database has no events of this run: <code>rewake replay"
                              "</code> stores them.</p>\n");
        return;
    }
    report_html_raw(html, "<h2 id=\"run\">What happened</h2>\n");
    if (model->explanation.run != 0) {
        report_put_prose(html, model, "dim", &model->explanation.needed);
    }
    report_draw_legend(html);
    report_html_raw(html, "<div class=\"runs\">\n");
    put_figure(html, &model->lanes, "lanes", "step-",
            model->passing_lanes.lanes_count > 0 ? "This run fails" : "The run",
            "The failing run: one lane for each actor, time runs downwards. The table below lists "
            "every step.");
    if (model->passing_lanes.lanes_count > 0) {
        put_figure(html, &model->passing_lanes, "passing", "passing-", "The nearest passing run",
                "The nearest passing run, in the same lanes.");
    }
    report_html_raw(html, "</div>\n");
}

static void
put_why(struct report_html *html, const struct report_model *model)
{
    if (model->explanation.run != 0 && model->explanation.why.text[0] != '\0') {
        report_html_raw(html, "<h2 id=\"why\">Why</h2>\n");
        report_put_prose(html, model, NULL, &model->explanation.why);
    }
}

/* ---- Commands. ------------------------------------------------------------------------------- */

static void
put_command(struct report_html *html, const struct report_model *model, const char *what,
        const char *command, const char *subject)
{
    const char *library = model->found.library[0] != '\0' ? model->found.library : NULL;
    char *text = sim_command_of(command, library, subject, model->db);
    report_html_command(html, what, text != NULL ? text : "");
    free(text);
}

static void
put_debug(struct report_html *html, const struct report_model *model, const char *subject)
{
    const char *library = model->found.library[0] != '\0' ? model->found.library : NULL;
    char *replay = sim_command_of("replay", library, subject, model->db);
    char *debug = has_stack(model) ? sim_command_debug(replay, subject) : NULL;
    if (debug != NULL) {
        report_html_command(html, "Debug it in gdb, stopped where it fails", debug);
    }
    free(debug);
    free(replay);
}

static void
put_commands(struct report_html *html, const struct report_model *model)
{
    const char *smaller =
            model->shown_run.number != 0 ? model->shown_run.token : model->shrunk_token;
    const char *found = model->found.token;
    char name[48];
    report_html_raw(html, "<h2 id=\"commands\">Reproduce it</h2>\n");
    if (smaller[0] != '\0') {
        put_command(html, model, "Run it again", "replay", smaller);
        put_command(
                html, model, "Show it in the terminal, a column for each actor", "show", smaller);
    }
    if (found[0] != '\0') {
        put_debug(html, model, smaller[0] != '\0' ? smaller : found);
    }
    if (found[0] != '\0' && strcmp(found, smaller) != 0) {
        put_command(
                html, model, "Run it as it was found, before it was minimized", "replay", found);
    }
    (void)snprintf(name, sizeof(name), "run:%lld", (long long)model->found.number);
    put_command(html, model, "Explain it again", "explain", name);
    if (smaller[0] != '\0') {
        put_command(html, model, "Keep it as a regression test", "promote", smaller);
    }
}

/* ---- About the run. -------------------------------------------------------------------------- */

static void
put_fact(struct report_html *html, const char *term, const char *text)
{
    if (text[0] != '\0') {
        report_html_put(html, "<dt>%s</dt><dd>%s</dd>", term, text);
    }
}

static void
put_about(struct report_html *html, const struct report_model *model)
{
    const struct sim_outcome *outcome = &model->found.outcome;
    report_html_put(html,
            "<h2 id=\"about\">About this failure</h2>\n<dl>\n<dt>Run</dt><dd>run:%lld</dd>"
            "<dt>Seed</dt><dd>%llu</dd><dt>Verdict</dt><dd><code>%s</code>: %s</dd>\n"
            "<dt>Oracle</dt><dd><code>%s</code>: %s</dd>\n",
            (long long)model->found.number, (unsigned long long)outcome->seed,
            sim_verdict_name(outcome->verdict), sim_verdict_meaning(outcome->verdict),
            sim_oracle_name(outcome->oracle), sim_oracle_meaning(outcome->oracle));
    put_fact(html, "Found by", model->strategy);
    report_html_put(html, "<dt>Steps</dt><dd>%llu as found", (unsigned long long)outcome->steps);
    if (model->shown_run.number != 0) {
        report_html_put(html, ", %llu in the run shown here",
                (unsigned long long)model->shown_run.outcome.steps);
    }
    report_html_raw(html, "</dd>");
    put_fact(html, "Library", model->found.library);
    put_fact(html, "Build", model->build);
    report_html_raw(html, "</dl>\n");
}

/* ---- The page. ------------------------------------------------------------------------------- */

static void
put_neighbour(struct report_html *html, int64_t run, const char *rel, const char *text)
{
    if (run != 0) {
        report_html_put(html, "<a rel=\"%s\" href=\"failure-%lld.html\">%s</a> ", rel,
                (long long)run, text);
    }
}

static void
put_neighbours(struct report_html *html, const struct report_failure *failure)
{
    if (failure->before != 0 || failure->after != 0) {
        report_html_raw(html, "<nav aria-label=\"Failures\">");
        put_neighbour(html, failure->before, "prev", "Previous failure");
        put_neighbour(html, failure->after, "next", "Next failure");
        report_html_raw(html, "</nav>\n");
    }
}

static void
put_page(struct report_html *html, const struct report_model *model,
        const struct report_failure *failure)
{
    report_html_begin(html, model->found.scenario, REPORT_NAV_FAILURE);
    html->library = model->found.library;
    put_neighbours(html, failure);
    put_headline(html, model);
    put_answer(html, model);
    put_stack(html, model);
    put_pictures(html, model);
    report_put_waiting(html, model);
    report_put_sources(html, model);
    put_why(html, model);
    put_commands(html, model);
    report_put_ledger(html, model);
    report_put_steps(html, model);
    report_put_lines(html, model);
    put_about(html, model);
    report_html_end(html);
}

enum sim_store_err
report_failure_put(struct report_html *html, struct sim_store *store,
        const struct report_places *places, const struct report_failure *failure)
{
    struct report_model *model = sim_heap_new(1, sizeof(*model));
    sim_page_init(&html->page, false);
    enum sim_store_err err = report_model_load(store, places, failure->run, model);
    model->db = failure->db;
    if (err == SIM_STORE_OK) {
        put_page(html, model, failure);
    }
    report_model_free(model);
    free(model);
    return err;
}
