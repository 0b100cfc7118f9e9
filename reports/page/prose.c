/*
 * prose.c -- what an explanation says, with links to the steps that it names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <string.h>

#include "reports/page/story.h"

void
report_put_step(struct report_html *html, const struct report_story *story, uint64_t step)
{
    if (report_has_step(story, step)) {
        report_html_format(html, "<a href=\"#step-%llu\">%llu</a>", (unsigned long long)step,
                (unsigned long long)step);
    } else if (step == 0) {
        report_html_raw(html, "the start");
    } else {
        report_html_format(html, "%llu", (unsigned long long)step);
    }
}

/* The number behind "step " or "woken at ", if `text` begins so; *ret_length is that of all. */
static uint64_t
step_named(const char *text, size_t *ret_length)
{
    static const char *const words[] = {"step ", "woken at "};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        uint64_t number = 0;
        if (strncmp(text, words[i], length) != 0) {
            continue;
        }
        for (; isdigit((unsigned char)text[length]) != 0 && number < UINT32_MAX; length++) {
            number = number * 10 + (uint64_t)(text[length] - '0');
        }
        *ret_length = length;
        return number;
    }
    return 0;
}

/* Texts of the terminal stand behind "Why: " and the like; here they begin a paragraph. */
static size_t
put_capital(struct report_html *html, const char *text, size_t length)
{
    size_t word = strcspn(text, " \n");
    /* The headline begins with the name of a verdict, "lost-wakeup:". */
    bool small = length > 0 && text[0] >= 'a' && text[0] <= 'z' && text[word - 1] != ':';
    if (small) {
        const char capital = (char)(text[0] - 'a' + 'A');
        report_html_text_n(html, &capital, 1);
    }
    return small;
}

static void
put_line(
        struct report_html *html, const struct report_story *story, const char *text, size_t length)
{
    size_t from = put_capital(html, text, length);
    bool code = false;
    for (size_t i = from; i < length; i++) {
        size_t named = 0;
        bool begins = i == 0 || isalnum((unsigned char)text[i - 1]) == 0;
        uint64_t step = begins && !code ? step_named(text + i, &named) : 0;
        if (step != 0 && i + named <= length && report_has_step(story, step)) {
            report_html_text_n(html, text + from, i - from);
            report_html_format(html, "<a href=\"#step-%llu\">", (unsigned long long)step);
            report_html_text_n(html, text + i, named);
            report_html_raw(html, "</a>");
            i += named - 1;
            from = i + 1;
        } else if (text[i] == '`') {
            report_html_text_n(html, text + from, i - from);
            report_html_raw(html, code ? "</code>" : "<code>");
            code = !code;
            from = i + 1;
        }
    }
    report_html_text_n(html, text + from, length - from);
    report_html_raw(html, code ? "</code>" : "");
}

void
report_put_prose(struct report_html *html, const struct report_story *story, const char *style,
        const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (length > 0) {
            report_html_raw(html, "<p");
            if (style != NULL) {
                report_html_format(html, " class=\"%s\"", style);
            }
            report_html_raw(html, ">");
            put_line(html, story, text, length);
            report_html_raw(html, "</p>\n");
        }
        text += length;
        text += *text == '\n';
    }
}
