/*
 * html.h -- writes a page of a report; text of scenarios cannot become markup.
 *
 * A page is one file that needs no other: no script, no font, no picture from elsewhere. It follows
 * the reader's light or dark scheme, prints on paper without what is only for a screen, and is
 * reached by the keyboard: links, <details>, a link past the head, a focus that is seen. A policy
 * in its head forbids the browser to load anything.
 *
 *      struct report_html html;
 *      report_html_begin(&html, "zoo/tokio-4497/broken", REPORT_NAV_FAILURE);
 *      report_html_put(&html, "<h2>Where</h2><p>%s</p>", name); // any bytes
 *      report_html_end(&html);
 *      if (!report_html_save(&html, path)) …     // errno says why
 *      report_html_fini(&html);
 *
 * Markup is in the source here only; text from the database is an argument, which is escaped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "sim/base/page.h"

/* Bytes of one text; a longer one is cut, with a mark. */
#define REPORT_TEXT_MAX 4000u

/* Which page it is, for the links in its head. */
enum report_nav {
    REPORT_NAV_INDEX,
    REPORT_NAV_COMMAND, /* An older index. */
    REPORT_NAV_FAILURE,
    REPORT_NAV_COVERAGE,
    REPORT_NAV_COVERED /* The coverage of one sweep. */
};

struct report_html {
    struct sim_page page; /* `failed`: no memory, the page is not whole. */
    const char *library;  /* Whose lines it has, for report_html_line; NULL: rewake's. */
};

/* Begins a page: head, style, a link past the head, links to the other pages, <h1> and <main>.
 * `title` is escaped. */
void report_html_begin(struct report_html *html, const char *title, enum report_nav nav);

/* Ends it: </main>, foot. */
void report_html_end(struct report_html *html);
void report_html_fini(struct report_html *html);

/* Writes it to `path`, replacing what is there only when all of it is on the disk. False: errno. */
RT_MUST_CHECK bool report_html_save(const struct report_html *html, const char *path);

/* Whether the file at `path` is a page that report_html_end() has ended; false where it cannot be
 * read. */
bool report_html_is_ours(const char *path);

/* ---- What is written. ------------------------------------------------------------------------ */

/* Markup as it is. */
void report_html_raw(struct report_html *html, const char *markup);

/* Markup with arguments: text (%s) goes through report_html_text; numbers are %u, %zu, %lld and
 * %llu, and %% is a percent sign. */
__attribute__((format(printf, 2, 3))) void report_html_put(
        struct report_html *html, const char *format, ...);

/* Text (NULL: nothing), escaped also for an attribute in double quotes. Bytes that are no UTF-8,
 * and control characters but the end of a line, become a sign that says so; at most
 * REPORT_TEXT_MAX bytes. */
void report_html_text(struct report_html *html, const char *text);
void report_html_text_n(struct report_html *html, const char *text, size_t length);

/* <a href="to">text</a>. `to` is a page of this report, or a place in it: anything else, also
 * "javascript:", becomes plain text. */
void report_html_link(struct report_html *html, const char *to, const char *text);

/* "lost.c:22" as code, with all of the path if `whole`; a link where REWAKE_LINK is set (link.h).
 */
void report_html_line(struct report_html *html, const char *file, uint32_t line, bool whole);

/* A command to paste, in a box, below a title (may be NULL). */
void report_html_command(struct report_html *html, const char *what, const char *command);

/* ---- style.c -------------------------------------------------------------------------------- */

/* The script that each page ends with, and its hash, which the policy of the page has. */
extern const char report_script[];
#define REPORT_SCRIPT_HASH "sha256-XzYIi54tOzZQj6WybredUPaJK1ojXpyGDTBI4pc0qeM="

/* The style sheet; static. */
extern const char *const report_style[];

/* Its colours by themselves, for a picture that is taken out of its page; static. */
extern const char report_colours[];
