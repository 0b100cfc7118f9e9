/*
 * sources.c -- a few lines of source around each location.
 *
 * They are in the database as they were when the failure was explained. Without an explanation,
 * files are read when the report is written, and only where they are source files (source.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/table.h"
#include "reports/page/model.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"
#include "sim/core/code/source.h"

#define AROUND 5u
#define EXCERPTS_MAX 8u
#define LINE_MAX_BYTES 400

struct excerpt {
    const char *file;
    const char *function;
    const char *what;
    uint32_t line;
    uint64_t step;
    bool lost;
};

struct excerpts {
    struct excerpt list[EXCERPTS_MAX];
    uint32_t count;
};

/* ---- Locations. ------------------------------------------------------------------------------ */

static void
add(struct excerpts *excerpts, const struct excerpt *excerpt)
{
    for (uint32_t i = 0; i < excerpts->count; i++) {
        const struct excerpt *other = &excerpts->list[i];
        if (other->line == excerpt->line && strcmp(other->file, excerpt->file) == 0) {
            return;
        }
    }
    if (excerpts->count < EXCERPTS_MAX && excerpt->line != 0) {
        excerpts->list[excerpts->count++] = *excerpt;
    }
}

static const char *
words_of(const struct report_location *location)
{
    return strcmp(location->role, "cause") == 0 ? location->nth == 0 ? "Root cause" : "Called from"
           : strcmp(location->role, "stored") == 0 ? "Where the waker was stored"
           : strcmp(location->role, "first") == 0  ? "The access that was first here"
           : strcmp(location->role, "second") == 0 ? "The access that was second here"
                                                   : "Where the deciding number is drawn";
}

/* The locations of the explanation, the line of the verdict, and where the waker was stored. */
static void
collect(const struct report_model *model, struct excerpts *excerpts)
{
    const struct report_run *run = report_model_shown(model);
    for (uint32_t i = 0; i < model->explanation.locations_count; i++) {
        const struct report_location *location = &model->explanation.locations[i];
        bool own = strncmp(location->file, "runtime/", 8) != 0 &&
                   strncmp(location->file, "sim/", 4) != 0;
        if (strcmp(location->role, "cause") != 0 || location->nth == 0 ||
                (own && location->nth < 3)) {
            add(excerpts, &(struct excerpt){location->file, location->function, words_of(location),
                                  location->line, location->step,
                                  strcmp(location->role, "cause") == 0 && location->nth == 0});
        }
    }
    const struct report_place *place = report_places_find(run->places, run->outcome.site);
    if (place != NULL && run->outcome.verdict != SIM_VERDICT_PASS &&
            !report_site_is_rewakes(place->site, place->file)) {
        add(excerpts, &(struct excerpt){place->file, place->function,
                              "The line that the verdict names", place->line, 0, false});
    }
    if (run->wake_outcome.wait != NULL) {
        place = report_run_wait_place(run, run->wake_outcome.wait);
        if (place != NULL) {
            add(excerpts,
                    &(struct excerpt){place->file, place->function, "Where the waker was stored",
                            place->line, run->wake_outcome.wait->store_step, false});
        }
    }
}

/* ---- Reading. -------------------------------------------------------------------------------- */

static void
put_source_line(struct report_html *html, uint32_t number, const char *text, bool marked)
{
    sim_page_printf(&html->page, "%s<span class=\"dim\">%5u</span>%s ", marked ? "<mark>" : "",
            number, marked ? " \xe2\x96\xb6" : "  ");
    report_html_put(html, "%s", text);
    report_html_raw(html, marked ? "</mark>\n" : "\n");
}

/* The lines as they were when the failure was explained. False: none are stored. */
static bool
put_stored(struct report_html *html, const struct report_explained *explained, const char *file,
        uint32_t line)
{
    if (report_explained_line(explained, file, line) == NULL) {
        return false;
    }
    uint32_t first = line > AROUND ? line - AROUND : 1;
    report_html_raw(html, "<pre class=\"source\" tabindex=\"0\"><code>");
    for (uint32_t i = first; i <= line + AROUND; i++) {
        const char *text = report_explained_line(explained, file, i);
        if (text != NULL) {
            put_source_line(html, i, text, i == line);
        }
    }
    report_html_raw(html, "</code></pre>\n");
    return true;
}

/* False: the file has no such line. */
static bool
put_lines(struct report_html *html, FILE *file, uint32_t line)
{
    char text[LINE_MAX_BYTES];
    uint32_t number = 1;
    bool found = false;
    bool begins = true;
    while (number <= line + AROUND && fgets(text, sizeof(text), file) != NULL) {
        bool ends = strchr(text, '\n') != NULL;
        text[strcspn(text, "\r\n")] = '\0';
        if (begins && number + AROUND >= line) {
            put_source_line(html, number, text, number == line);
            found = found || number == line;
        }
        begins = ends; /* Only the beginning of a long line is shown. */
        number += ends;
    }
    return found;
}

/* From the file as it is now. */
static void
put_current(struct report_html *html, const struct report_model *model, const struct excerpt *what)
{
    int64_t modified_s = 0;
    FILE *file = sim_source_open(what->file, &modified_s);
    bool newer = model->explanation.keeps_lines ||
                 (model->started_ms > 0 && modified_s > model->started_ms / 1000 + 1);
    if (file == NULL) {
        report_html_raw(html, "<p class=\"dim\">This file is not on this machine: run <code>rewake "
                              "report</code> where it was compiled to see its lines.</p>\n");
        return;
    }
    report_html_raw(html, "<pre class=\"source\" tabindex=\"0\"><code>");
    bool found = put_lines(html, file, what->line);
    report_html_raw(html, "</code></pre>\n");
    (void)fclose(file);
    if (!found || newer) {
        report_html_raw(html,
                "<p class=\"dim\">This file has changed since the program was built: the "
                "lines may have moved.</p>\n");
    }
}

static void
put_excerpt(struct report_html *html, const struct report_model *model, const struct excerpt *what)
{
    report_html_raw(html, what->lost ? "<h3 class=\"lost\">" : "<h3>");
    report_html_put(html, "%s</h3>\n<p>", what->what);
    report_html_line(html, what->file, what->line, true);
    report_html_put(html, " in <code>%s()</code>", what->function);
    if (what->step != 0) {
        report_html_raw(html, ", step ");
        report_put_step(html, model, what->step);
    }
    report_html_raw(html, "</p>\n");
    if (!put_stored(html, &model->explanation, what->file, what->line)) {
        put_current(html, model, what);
    }
}

void
report_put_sources(struct report_html *html, const struct report_model *model)
{
    struct excerpts excerpts = {.count = 0};
    collect(model, &excerpts);
    if (excerpts.count > 0) {
        report_html_raw(html, "<h2 id=\"source\">In the source</h2>\n");
    }
    for (uint32_t i = 0; i < excerpts.count; i++) {
        put_excerpt(html, model, &excerpts.list[i]);
    }
}

/* ---- The line of each step. ------------------------------------------------------------------ */

static int
by_line(const void *left, const void *right)
{
    const struct report_place *a = *(const struct report_place *const *)left;
    const struct report_place *b = *(const struct report_place *const *)right;
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* The places of all steps, each once; *ret_places is from malloc. */
static uint32_t
collect_lines(const struct report_run *run, const struct report_place ***ret_places)
{
    const struct report_place **places = sim_heap_new(run->steps_count, sizeof(const void *));
    uint32_t count = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->steps_count; i++) {
        const struct report_place *place = report_run_step_place(run, &run->steps[i]);
        if (place != NULL) {
            places[count++] = place;
        }
    }
    sim_sort(places, count, sizeof(const void *), by_line);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || by_line(&places[i - 1], &places[i]) != 0) {
            places[kept++] = places[i];
        }
    }
    *ret_places = places;
    return kept;
}

void
report_put_lines(struct report_html *html, const struct report_model *model)
{
    char current[LINE_MAX_BYTES];
    const struct report_place **places = NULL;
    uint32_t count = collect_lines(report_model_shown(model), &places);
    if (count > 0) {
        report_html_raw(html, "<details><summary>Lines of these steps</summary>\n");
        report_table_begin(html, "Lines of source", "At|Source");
        for (uint32_t i = 0; i < count; i++) {
            const struct report_place *place = places[i];
            const char *text = report_explained_line(&model->explanation, place->file, place->line);
            if (text == NULL && !model->explanation.keeps_lines &&
                    sim_source_line(place->file, place->line, current, sizeof(current))) {
                text = current;
            }
            report_html_raw(html, "<tr>");
            report_put_place(html, place);
            report_html_put(html, "<td><code>%s</code></td></tr>\n",
                    text != NULL ? text + strspn(text, " \t") : "");
        }
        report_table_end(html);
        report_html_raw(html, "</details>\n");
    }
    free(places);
}
