/*
 * table.c -- tables of a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/table.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"

void
report_table_begin(struct report_html *html, const char *label, const char *heads)
{
    report_html_put(html,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>\n<thead>"
            "<tr>",
            label);
    for (;;) {
        size_t length = strcspn(heads, "|");
        bool number = heads[0] == '#';
        report_html_raw(html, number ? "<th class=\"number\">" : "<th>");
        sim_page_add(&html->page, heads + number, length - number);
        report_html_raw(html, "</th>");
        if (heads[length] == '\0') {
            break;
        }
        heads += length + 1;
    }
    report_html_raw(html, "</tr></thead>\n<tbody>\n");
}

void
report_table_end(struct report_html *html)
{
    report_html_raw(html, "</tbody></table></div>\n");
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

struct report_count
report_count(int64_t count)
{
    char digits[24];
    size_t used = 0;
    struct report_count result;
    int length = snprintf(digits, sizeof(digits), "%lld", (long long)count);
    for (int i = 0; i < length; i++) {
        int left = length - i - 1;
        result.text[used++] = digits[i];
        if (left > 0 && left % 3 == 0 && digits[i] != '-') {
            result.text[used++] = ',';
        }
    }
    result.text[used] = '\0';
    return result;
}

void
report_number_cell(struct report_html *html, int64_t number)
{
    report_html_put(html, "<td class=\"number\">%s</td>", report_count(number).text);
}

void
report_percent_put(struct report_html *html, int64_t thousandths)
{
    report_html_put(html, "%lld.%lld&nbsp;%%", (long long)(thousandths / 10),
            (long long)(thousandths % 10));
}

/* Millionths, as thousandths of a percent. */
static void
put_share(struct report_html *html, int64_t millionths)
{
    sim_page_printf(&html->page, "%lld.%03lld&nbsp;%%", (long long)(millionths / 10000),
            (long long)(millionths % 10000 / 10));
}

/* The line as code. */
static void
put_place(struct report_html *html, const char *place)
{
    size_t length = strcspn(place, " ");
    if (length > 0) {
        report_html_raw(html, "<code>");
        report_html_text_n(html, place, length);
        report_html_put(html, "</code><span class=\"dim\">%s</span>", place + length);
    }
}

static void
put_cell(struct report_html *html, struct report_ask *ask, int column, char kind)
{
    bool dim = kind == 'd';
    bool number = strchr("nzs%", kind) != NULL;
    bool never = kind == 'z' && report_int(ask, column) == 0;
    report_html_raw(html, never    ? "<td class=\"number lost\">"
                          : number ? "<td class=\"number\">"
                          : dim    ? "<td class=\"dim\">"
                                   : "<td>");
    if (never) {
        report_html_raw(html, "never");
    } else if (kind == 's') {
        if (!report_null(ask, column)) {
            put_share(html, report_int(ask, column));
        }
    } else if (kind == '%') {
        report_percent_put(html, report_int(ask, column));
    } else if (number) {
        report_html_raw(html, report_count(report_int(ask, column)).text);
    } else if (kind == 'p') {
        put_place(html, report_text(ask, column));
    } else {
        rt_assert(kind == 't' || kind == 'd' || kind == 'c');
        report_html_raw(html, kind == 'c' ? "<code>" : "");
        report_html_text(html, report_text(ask, column));
        report_html_raw(html, kind == 'c' ? "</code>" : "");
    }
    report_html_raw(html, "</td>");
}

void
report_cells_put(struct report_html *html, struct report_ask *ask, int first, const char *kinds)
{
    for (int i = 0; kinds[i] != '\0'; i++) {
        put_cell(html, ask, first + i, kinds[i]);
    }
}

/* ---- A table of the rows of a query. --------------------------------------------------------- */

enum sim_store_err
report_table_put(struct report_html *html, const struct report_table *table, struct report_ask *ask)
{
    size_t rows = 0;
    for (; report_row(ask); rows++) {
        if (rows == 0) {
            report_html_raw(html, table->intro);
            report_table_begin(html, table->label, table->heads);
        }
        report_html_raw(html, "<tr>");
        report_cells_put(html, ask, 0, table->kinds);
        report_html_raw(html, "</tr>\n");
    }
    if (rows > 0) {
        report_table_end(html);
    }
    return report_done(ask);
}
