/*
 * table.h -- tables of a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/base/ask.h"
#include "reports/base/html.h"

/* Begins a table. `label` is for screen readers. `heads` are the headings, markup, with '|' between
 * them; one that begins with '#' is of a column of numbers. */
void report_table_begin(struct report_html *html, const char *label, const char *heads);
void report_table_end(struct report_html *html);

/* ---- Cells. ---------------------------------------------------------------------------------- */

/* "12,345"; as an argument: report_count(n).text. */
struct report_count {
    char text[32];
};
struct report_count report_count(int64_t count);

/* <td class="number">12,345</td> */
void report_number_cell(struct report_html *html, int64_t number);

/* Thousandths, as per cent. */
void report_percent_put(struct report_html *html, int64_t thousandths);

/* A cell for each of `kinds`, from columns `first`, … of the row:
 *
 *      t  text                       n  a number
 *      d  text, grey                 z  a number; "never" for 0
 *      c  code                       s  a share in millionths; NULL: empty
 *      p  "slot.c:102 put"           %  a share in thousandths, as per cent
 */
void report_cells_put(
        struct report_html *html, struct report_ask *ask, int first, const char *kinds);

/* ---- A table of the rows of a query. --------------------------------------------------------- */

struct report_table {
    const char *intro; /* Markup before it. */
    const char *label;
    const char *heads;
    const char *kinds; /* As of report_cells_put. */
};

/* Adds it, but nothing where there are no rows; ends `ask`. */
RT_MUST_CHECK enum sim_store_err report_table_put(
        struct report_html *html, const struct report_table *table, struct report_ask *ask);
