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
#define NAMED "Named by the explanation"

struct excerpt {
    const char *file;
    const char *function; /* NULL: not known. */
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

/* The place where it went wrong; NULL: not known. They are sorted so. */
static const struct report_location *
cause_of(const struct report_explained *explained)
{
    const struct report_location *first = explained->locations;
    return explained->locations_count > 0 && strcmp(first->role, "cause") == 0 ? first : NULL;
}

static const char *
words_of(const struct report_location *location, const struct report_location *cause)
{
    return location == cause ? "Root cause"
           : strcmp(location->role, "cause") == 0
                   ? cause->step == location->step ? "Called from" : NAMED
           : strcmp(location->role, "stored") == 0 ? "Where the waker was stored"
           : strcmp(location->role, "first") == 0  ? "The access that was first here"
           : strcmp(location->role, "second") == 0 ? "The access that was second here"
                                                   : "Where the deciding number is drawn";
}

static void
add_named(const struct report_text *text, struct excerpts *excerpts)
{
    for (uint32_t i = 0; i < text->refs_count; i++) {
        const struct sim_ref *ref = &text->refs[i];
        if (ref->kind == SIM_REF_LINE) {
            add(excerpts,
                    &(struct excerpt){ref->file, NULL, NAMED, (uint32_t)ref->number, 0, false});
        }
    }
}

/* The locations of the explanation, the line of the verdict, where the waker was stored, and what
 * its sentences name. */
static void
collect(const struct report_model *model, struct excerpts *excerpts)
{
    const struct report_run *run = report_model_shown(model);
    const struct report_location *cause = cause_of(&model->explanation);
    for (uint32_t i = 0; i < model->explanation.locations_count; i++) {
        const struct report_location *location = &model->explanation.locations[i];
        bool own = strncmp(location->file, "runtime/", 8) != 0 &&
                   strncmp(location->file, "sim/", 4) != 0;
        if (strcmp(location->role, "cause") != 0 || location->nth == 0 ||
                (own && location->nth < 3)) {
            add(excerpts,
                    &(struct excerpt){location->file, location->function, words_of(location, cause),
                            location->line, location->step, location == cause});
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
    add_named(&model->explanation.answer, excerpts);
    add_named(&model->explanation.decision, excerpts);
    add_named(&model->explanation.ordering, excerpts);
    add_named(&model->explanation.why, excerpts);
}

uint32_t
report_source_of(const struct report_model *model, const char *file, uint32_t line)
{
    struct excerpts excerpts = {.count = 0};
    collect(model, &excerpts);
    for (uint32_t i = 0; i < excerpts.count; i++) {
        if (excerpts.list[i].line == line && strcmp(excerpts.list[i].file, file) == 0) {
            return i + 1;
        }
    }
    return 0;
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
put_excerpt(struct report_html *html, const struct report_model *model, const struct excerpt *what,
        uint32_t number)
{
    report_html_put(html, "<h3 id=\"source-%u\"", number);
    report_html_raw(html, what->lost ? " class=\"lost\">" : ">");
    report_html_put(html, "%s</h3>\n<p>", what->what);
    report_html_line(html, what->file, what->line, true);
    if (what->function != NULL) {
        report_html_put(html, " in <code>%s()</code>", what->function);
    }
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
        put_excerpt(html, model, &excerpts.list[i], i + 1);
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
