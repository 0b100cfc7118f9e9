/*
 * chart.h -- curves, as SVG inside a page.
 *
 * Drawn in the colours of the page, so that they follow light, dark and paper. A curve is a
 * staircase where what it counts jumps, and does not slide. It has as many corners as there are
 * pixels to see, however many points it was made of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_OVERVIEW_CHART_H
#define REPORTS_OVERVIEW_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/base/html.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report_point {
    int64_t x;
    int64_t y;
};

/* Labels are the caller's own words, never a database's. */
struct report_chart {
    const char *title;   /* What is shown, for who cannot see it. */
    const char *x_label; /* With its unit. */
    const char *y_label;
    bool log_x;                        /* By powers of ten, from 1. */
    bool ms;                           /* x is milliseconds, told as seconds. */
    bool slopes;                       /* What it counts grows evenly from point to point. */
    const struct report_point *points; /* x never falls. */
    size_t count;
    const struct report_point *marks; /* Dots, in the colour of what went wrong. */
    size_t mark_count;
};

/* Draws it, with axes; nothing where there are no points. */
void report_chart_put(struct report_html *html, const struct report_chart *chart);

/* The same by powers of ten in one line of text, without axes. */
void report_spark_put(struct report_html *html, const char *title,
        const struct report_point *points, size_t count);

/* "12,345" */
void report_count_put(struct report_html *html, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
