/*
 * html.c -- writes a page of a report; text of scenarios cannot become markup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/base/path.h"
#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/link.h"
#include "sim/base/utf8.h"

/* ---- Escaping. ------------------------------------------------------------------------------- */

/* Controls, the two characters that are none, and marks that turn the direction of what follows,
 * with which a name could rearrange the page. */
static bool
is_refused(uint32_t c)
{
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool turns = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    return control || turns || (c & 0xfffe) == 0xfffe;
}

static const char *
escape_of(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
        return "\n";
    case '\t':
        return " ";
    default:
        return is_refused(c) || c == SIM_NO_CHARACTER ? SIM_NO_CHARACTER_UTF8 : NULL;
    }
}

void
report_html_text_n(struct report_html *html, const char *text, size_t length)
{
    size_t shown = length < REPORT_TEXT_MAX ? length : REPORT_TEXT_MAX;
    size_t size = 0;
    for (size_t i = 0; i < shown; i += size) {
        const char *escape = escape_of(sim_character(text + i, &size));
        if (escape != NULL) {
            sim_page_put(&html->page, escape);
        } else {
            sim_page_add(&html->page, text + i, size);
        }
    }
    if (shown < length) {
        sim_page_printf(&html->page, "\xe2\x80\xa6 (%zu bytes more)", length - shown);
    }
}

void
report_html_text(struct report_html *html, const char *text)
{
    if (text != NULL) {
        report_html_text_n(html, text, strlen(text));
    }
}

/* ---- Markup. --------------------------------------------------------------------------------- */

void
report_html_raw(struct report_html *html, const char *markup)
{
    sim_page_put(&html->page, markup);
}

/* The conversion at `format`, of which the last letter is at `length`. */
static void
put_argument(struct report_html *html, const char *format, size_t length, va_list *arguments)
{
    struct sim_page *page = &html->page;
    if (format[length] == 's') {
        report_html_text(html, va_arg(*arguments, const char *));
    } else if (format[length] == '%') {
        sim_page_put(page, "%");
    } else if (format[1] == 'z') {
        sim_page_printf(page, "%zu", va_arg(*arguments, size_t));
    } else if (format[1] == 'l' && format[length] == 'd') {
        sim_page_printf(page, "%lld", va_arg(*arguments, long long));
    } else if (format[1] == 'l') {
        sim_page_printf(page, "%llu", va_arg(*arguments, unsigned long long));
    } else {
        rt_assert(length == 1 && format[1] == 'u');
        sim_page_printf(page, "%u", va_arg(*arguments, unsigned int));
    }
}

void
report_html_put(struct report_html *html, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (size_t markup = 0; *format != '\0'; format += markup) {
        markup = strcspn(format, "%");
        sim_page_add(&html->page, format, markup);
        format += markup;
        if (*format == '%') {
            markup = 1 + strcspn(format + 1, "%sdu") + 1;
            put_argument(html, format, markup - 1, &arguments);
        } else {
            markup = 0;
        }
    }
    va_end(arguments);
}

/* A name of a file in this folder, and a place in it: nothing with a scheme, a host or a path. */
static bool
is_own_page(const char *to)
{
    const char *end = strchr(to, '#');
    size_t length = end != NULL ? (size_t)(end - to) : strlen(to);
    bool plain = to[0] != '\0' && to[0] != '.';
    for (size_t i = 0; i < length; i++) {
        plain = plain && (unsigned char)to[i] > 0x20 && strchr(":/\\?%&<>\"'", to[i]) == NULL;
    }
    return plain;
}

void
report_html_link(struct report_html *html, const char *to, const char *text)
{
    if (!is_own_page(to)) {
        report_html_text(html, text);
        return;
    }
    report_html_put(html, "<a href=\"%s\">%s</a>", to, text);
}

void
report_html_line(struct report_html *html, const char *file, uint32_t line, bool whole)
{
    const char *form = sim_link_form();
    const char *slash = strrchr(file, '/');
    struct sim_page to;
    sim_page_init(&to, false);
    if (form != NULL) {
        char *name = report_path(file, html->library);
        sim_link_put(&to, form, file, name, line);
        free(name);
    }
    if (to.length > 0) {
        report_html_put(html, "<a href=\"%s\">", sim_page_text(&to));
    }
    report_html_put(html, "<code>%s:%u</code>", whole || slash == NULL ? file : slash + 1, line);
    report_html_raw(html, to.length > 0 ? "</a>" : "");
    sim_page_fini(&to);
}

void
report_html_command(struct report_html *html, const char *what, const char *command)
{
    report_html_raw(html, "<div class=\"command\">");
    report_html_text(html, what);
    report_html_raw(html, "<pre tabindex=\"0\"><code>");
    /* A token may be longer than any text: it must be whole, or it is no command. */
    for (size_t at = 0, left = strlen(command); left > 0;) {
        size_t some = left < REPORT_TEXT_MAX ? left : REPORT_TEXT_MAX;
        while (some < left && some > 1 && ((unsigned char)command[at + some] & 0xc0u) == 0x80u) {
            some--;
        }
        report_html_text_n(html, command + at, some);
        at += some;
        left -= some;
    }
    report_html_raw(html, "</code></pre></div>\n");
}

/* ---- The page. ------------------------------------------------------------------------------- */

/* style-src with 'unsafe-inline' allows the sheet in the head, script-src the one script; nothing
 * else is allowed at all. */
static const char head[] =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src '" REPORT_SCRIPT_HASH
        "'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n";

static void
put_nav(struct report_html *html, const char *page, const char *name, bool here)
{
    report_html_put(html,
            here ? "<a href=\"%s\" aria-current=\"page\">%s</a>" : "<a href=\"%s\">%s</a>", page,
            name);
}

void
report_html_begin(struct report_html *html, const char *title, enum report_nav nav)
{
    *html = (struct report_html){.library = NULL};
    report_html_raw(html, head);
    report_html_put(html, "<title>%s</title>\n<style>\n", title);
    for (const char *const *rule = report_style; *rule != NULL; rule++) {
        report_html_raw(html, *rule);
        report_html_raw(html, "\n");
    }
    report_html_raw(html,
            "</style>\n</head>\n<body>\n<header><a class=\"skip\" href=\"#main\">Skip to "
            "the content</a>\n<nav aria-label=\"Report\">");
    put_nav(html, "index.html", "Overview", nav == REPORT_NAV_INDEX);
    put_nav(html, "coverage.html", "Coverage", nav == REPORT_NAV_COVERAGE);
    report_html_put(
            html, "</nav>\n<h1>%s</h1></header>\n<main id=\"main\" tabindex=\"-1\">\n", title);
}

#define FOOT "<footer>Made by rewake report."

void
report_html_end(struct report_html *html)
{
    report_html_raw(html, "</main>\n<script>");
    report_html_raw(html, report_script);
    report_html_raw(html, "</script>\n" FOOT " Times are those of the "
                          "simulated clock.</footer>\n</body>\n</html>\n");
}

void
report_html_fini(struct report_html *html)
{
    sim_page_fini(&html->page);
}

static bool
write_all(const char *path, const struct sim_page *page)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return false;
    }
    bool written = fwrite(page->bytes, 1, page->length, file) == page->length;
    int error = errno;
    if (fclose(file) != 0 && written) {
        return false;
    }
    errno = error;
    return written;
}

bool
report_html_save(const struct report_html *html, const char *path)
{
    char *beside = sim_heap_printf("%s.new", path);
    bool saved = write_all(beside, &html->page) && rename(beside, path) == 0;
    if (!saved) {
        int error = errno;
        (void)unlink(beside);
        errno = error;
    }
    free(beside);
    return saved;
}

bool
report_html_is_ours(const char *path)
{
    char end[256] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    if (fseek(file, -(long)(sizeof(end) - 1), SEEK_END) != 0) {
        rewind(file); /* It is shorter. */
    }
    end[fread(end, 1, sizeof(end) - 1, file)] = '\0';
    (void)fclose(file);
    return strstr(end, FOOT) != NULL;
}
