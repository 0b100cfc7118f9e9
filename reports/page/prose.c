/*
 * prose.c -- the sentences of an explanation, with links to the steps and lines they name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "reports/page/model.h"

/* ---- Which steps a page has, in the picture and in the table of steps. ---------------------- */

/* The table of a long run has its first and its last steps. */
bool
report_has_row(const struct report_run *run, uint32_t index)
{
    return run->steps_count <= REPORT_STEPS_MAX || index < REPORT_STEPS_MAX / 2 ||
           index >= run->steps_count - REPORT_STEPS_MAX / 2;
}

bool
report_has_step(const struct report_model *model, uint64_t step)
{
    const struct report_run *run = report_model_shown(model);
    const struct report_step *found = step != 0 ? report_run_step(run, step) : NULL;
    return found != NULL && (report_lanes_anchor(&model->lanes, step) == step ||
                                    report_has_row(run, (uint32_t)(found - run->steps)));
}

void
report_put_step(struct report_html *html, const struct report_model *model, uint64_t step)
{
    if (report_has_step(model, step)) {
        report_html_put(html, "<a href=\"#step-%llu\">%llu</a>", (unsigned long long)step,
                (unsigned long long)step);
    } else if (step == 0) {
        report_html_raw(html, "the start");
    } else {
        report_html_put(html, "%llu", (unsigned long long)step);
    }
}

/* ---- Sentences. ------------------------------------------------------------------------------ */

/* A text that begins with a small letter gets a capital, but not the name of a verdict
 * ("lost-wakeup:"), with which the headline begins. */
static size_t
put_capital(struct report_html *html, const char *text, size_t length)
{
    size_t word = strcspn(text, " \n");
    bool small = length > 0 && text[0] >= 'a' && text[0] <= 'z' && text[word - 1] != ':';
    if (small) {
        const char capital = (char)(text[0] - 'a' + 'A');
        report_html_text_n(html, &capital, 1);
    }
    return small;
}

/* A line of source leads to its excerpt, which leads to the file. */
static void
put_source(struct report_html *html, const struct report_model *model, const struct sim_ref *ref)
{
    uint32_t source = report_source_of(model, ref->file, (uint32_t)ref->number);
    if (source != 0) {
        const char *slash = strrchr(ref->file, '/');
        report_html_put(html, "<a href=\"#source-%u\"><code>%s:%llu</code></a>", source,
                slash != NULL ? slash + 1 : ref->file, (unsigned long long)ref->number);
    } else {
        report_html_line(html, ref->file, (uint32_t)ref->number, false);
    }
}

/* A name, which is in backquotes in the text, becomes <code>. */
static void
put_ref(struct report_html *html, const struct report_model *model, const char *text,
        const struct sim_ref *ref)
{
    size_t length = ref->to - ref->from;
    bool link = ref->kind == SIM_REF_STEP && report_has_step(model, ref->number);
    if (ref->kind == SIM_REF_NAME && length > 2) {
        report_html_raw(html, "<code>");
        report_html_text_n(html, text + ref->from + 1, length - 2);
        report_html_raw(html, "</code>");
        return;
    }
    if (ref->kind == SIM_REF_LINE) {
        put_source(html, model, ref);
        return;
    }
    if (link) {
        report_html_put(html, "<a href=\"#step-%llu\">", (unsigned long long)ref->number);
    }
    report_html_text_n(html, text + ref->from, length);
    report_html_raw(html, link ? "</a>" : "");
}

/* Bytes from .. end-1 of the text, a line; the references that lie there begin at *next. */
static void
put_line(struct report_html *html, const struct report_model *model, const struct report_text *text,
        size_t from, size_t end, uint32_t *next)
{
    bool named = *next < text->refs_count && text->refs[*next].from == from;
    size_t at = from + (named ? 0 : put_capital(html, text->text + from, end - from));
    while (*next < text->refs_count && text->refs[*next].to <= end) {
        const struct sim_ref *ref = &text->refs[(*next)++];
        report_html_text_n(html, text->text + at, ref->from - at);
        put_ref(html, model, text->text, ref);
        at = ref->to;
    }
    report_html_text_n(html, text->text + at, end - at);
}

void
report_put_prose(struct report_html *html, const struct report_model *model, const char *style,
        const struct report_text *text)
{
    uint32_t next = 0;
    for (size_t from = 0; text->text[from] != '\0';) {
        size_t end = from + strcspn(text->text + from, "\n");
        if (end > from) {
            if (style != NULL) {
                report_html_put(html, "<p class=\"%s\">", style);
            } else {
                report_html_raw(html, "<p>");
            }
            put_line(html, model, text, from, end, &next);
            report_html_raw(html, "</p>\n");
        }
        from = end + (text->text[end] == '\n');
    }
}
