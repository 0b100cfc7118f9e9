/*
 * chart.h -- curves, as SVG inside a page.
 *
 * Drawn in the colours of the page, so that they follow light, dark and paper. A curve of a count
 * is a staircase. It has at most one corner for each pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/base/html.h"

struct report_point {
    int64_t x;
    int64_t y;
};

/* Labels are constants, never text of a database. */
struct report_chart {
    const char *title;   /* For screen readers. */
    const char *x_label; /* With its unit. */
    const char *y_label;
    bool log_x;                        /* By powers of ten, from 1. */
    bool ms;                           /* x is milliseconds, printed as seconds. */
    bool slopes;                       /* It grows evenly from point to point. */
    const struct report_point *points; /* x never falls. */
    size_t count;
    const struct report_point *marks; /* Dots, in the colour of failures. */
    size_t mark_count;
};

/* Draws it, with axes; nothing where there are no points. */
void report_chart_put(struct report_html *html, const struct report_chart *chart);

/* The same by powers of ten in one line of text, without axes. */
void report_spark_put(struct report_html *html, const char *title,
        const struct report_point *points, size_t count);
