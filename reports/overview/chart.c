/*
 * chart.c -- curves, as SVG inside a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/base/table.h"

#define WIDTH 720.0
#define HEIGHT 260.0
#define LEFT 72.0
#define RIGHT 36.0 /* Half of "1,000,000". */
#define TOP 14.0
#define BOTTOM 48.0
#define SPARK_WIDTH 96.0
#define SPARK_HEIGHT 18.0

/* Where the curve is, and what its corners stand for. */
struct frame {
    double left, top, width, height;
    double x_first, x_last; /* Of the data, as `log_x` says. */
    double y_last;
    bool log_x;
    bool slopes;
};

static double
scale_x(const struct frame *frame, int64_t x)
{
    double value = frame->log_x ? log10((double)(x > 0 ? x : 1)) : (double)x;
    double range = frame->x_last - frame->x_first;
    return frame->left +
           (range > 0 ? (value - frame->x_first) / range * frame->width : frame->width);
}

static double
scale_y(const struct frame *frame, double y)
{
    return frame->top + frame->height - (frame->y_last > 0 ? y / frame->y_last * frame->height : 0);
}

/* ---- Numbers. -------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten: at most `ticks` of them make up `range`. */
static double
step_of(double range, int ticks)
{
    double step = pow(10.0, floor(log10(range / ticks)));
    static const double factors[] = {1.0, 2.0, 5.0, 10.0};
    for (size_t i = 0; i < 4; i++) {
        if (range / (step * factors[i]) <= ticks) {
            return step * factors[i];
        }
    }
    return step * 10.0;
}

/* ---- Axes. ----------------------------------------------------------------------------------- */

static const char text_style[] = "style=\"fill:var(--dim);font-size:13px\"";

static void
put_y_tick(struct report_html *html, const struct frame *frame, double value)
{
    double y = scale_y(frame, value);
    sim_page_printf(&html->page,
            "<path d=\"M%.1f %.1fH%.1f\" style=\"stroke:var(--line)\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" %s>%s</text>\n",
            frame->left, y, frame->left + frame->width, frame->left - 8, y + 4.5, text_style,
            report_count((int64_t)value).text);
}

/* At least one: what is counted is whole. */
static double
y_step(const struct frame *frame)
{
    double step = step_of(frame->y_last, 5);
    return step < 1 ? 1 : step;
}

static void
put_y_axis(struct report_html *html, const struct frame *frame)
{
    double step = y_step(frame);
    for (double value = 0; value <= frame->y_last; value += step) {
        put_y_tick(html, frame, value);
    }
}

static void
put_x_tick(struct report_html *html, const struct frame *frame, double x, const char *text)
{
    double bottom = frame->top + frame->height;
    sim_page_printf(&html->page,
            "<path d=\"M%.1f %.1fv5\" style=\"stroke:var(--dim)\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" %s>%s</text>\n",
            x, bottom, x, bottom + 19, text_style, text);
}

static void
put_log_ticks(struct report_html *html, const struct frame *frame)
{
    int64_t value = 1;
    for (int power = 0; power <= (int)frame->x_last && power < 18; power++) {
        put_x_tick(html, frame, scale_x(frame, value), report_count(value).text);
        value *= 10;
    }
}

static void
put_linear_ticks(struct report_html *html, const struct frame *frame, bool ms)
{
    double unit = ms ? 1000.0 : 1.0;
    double step = step_of(frame->x_last / unit, 6);
    for (double value = 0; value * unit <= frame->x_last; value += step) {
        char text[32];
        (void)snprintf(text, sizeof(text), step < 0.1 ? "%.2f" : step < 1 ? "%.1f" : "%.0f", value);
        put_x_tick(html, frame, scale_x(frame, (int64_t)(value * unit)), text);
    }
}

static void
put_labels(struct report_html *html, const struct frame *frame, const struct report_chart *chart)
{
    sim_page_printf(&html->page,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" %s>%s</text>\n",
            frame->left + frame->width / 2, HEIGHT - 8, text_style, chart->x_label);
    sim_page_printf(&html->page,
            "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\" %s>%s"
            "</text>\n",
            frame->top + frame->height / 2, text_style, chart->y_label);
}

/* ---- The curve. ------------------------------------------------------------------------------ */

/* A corner for each pixel of the axis at most; the last point in any case. */
static void
put_curve(struct report_html *html, const struct frame *frame, const struct report_point *points,
        size_t count)
{
    double last_x = -1;
    sim_page_printf(&html->page, "<path d=\"M%.1f %.1f", scale_x(frame, points[0].x),
            scale_y(frame, (double)points[0].y));
    for (size_t i = 1; i < count; i++) {
        double x = scale_x(frame, points[i].x);
        if (x - last_x >= 1.0 || i + 1 == count) {
            sim_page_printf(&html->page, frame->slopes ? "L%.1f %.1f" : "H%.1fV%.1f", x,
                    scale_y(frame, (double)points[i].y));
            last_x = x;
        }
    }
    report_html_raw(html, "\" style=\"fill:none;stroke:var(--wake);stroke-width:2;"
                          "stroke-linejoin:round\"/>\n");
}

static void
put_marks(struct report_html *html, const struct frame *frame, const struct report_chart *chart)
{
    for (size_t i = 0; i < chart->mark_count; i++) {
        sim_page_printf(&html->page,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" style=\"fill:var(--lost);"
                "stroke:var(--ground)\"/>\n",
                scale_x(frame, chart->marks[i].x), scale_y(frame, (double)chart->marks[i].y));
    }
}

static struct frame
make_frame(const struct report_point *points, size_t count, bool log_x)
{
    struct frame frame = {.log_x = log_x};
    int64_t last = points[count - 1].x;
    frame.x_last = log_x ? log10((double)(last > 0 ? last : 1)) : (double)last;
    for (size_t i = 0; i < count; i++) {
        frame.y_last = (double)points[i].y > frame.y_last ? (double)points[i].y : frame.y_last;
    }
    frame.y_last = frame.y_last < 1 ? 1 : frame.y_last;
    return frame;
}

void
report_chart_put(struct report_html *html, const struct report_chart *chart)
{
    if (chart->count == 0) {
        return;
    }
    struct frame frame = make_frame(chart->points, chart->count, chart->log_x);
    frame.slopes = chart->slopes;
    frame.left = LEFT;
    frame.top = TOP;
    frame.width = WIDTH - LEFT - RIGHT;
    frame.height = HEIGHT - TOP - BOTTOM;
    frame.x_last = frame.x_last > 0 ? frame.x_last : 1;
    frame.y_last = ceil(frame.y_last / y_step(&frame)) * y_step(&frame);
    sim_page_printf(&html->page,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\">"
            "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\" "
            "style=\"display:block;width:100%%;min-width:36rem;max-width:52rem\">\n",
            chart->title, WIDTH, HEIGHT, chart->title);
    put_y_axis(html, &frame);
    if (chart->log_x) {
        put_log_ticks(html, &frame);
    } else {
        put_linear_ticks(html, &frame, chart->ms);
    }
    put_labels(html, &frame, chart);
    put_curve(html, &frame, chart->points, chart->count);
    put_marks(html, &frame, chart);
    report_html_raw(html, "</svg></div>\n");
}

void
report_spark_put(struct report_html *html, const char *title, const struct report_point *points,
        size_t count)
{
    if (count == 0) {
        return;
    }
    struct frame frame = make_frame(points, count, true);
    frame.left = 1;
    frame.top = 1.5;
    frame.width = SPARK_WIDTH - 2;
    frame.height = SPARK_HEIGHT - 3;
    sim_page_printf(&html->page,
            "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" "
            "aria-label=\"%s\">",
            SPARK_WIDTH, SPARK_HEIGHT, SPARK_WIDTH, SPARK_HEIGHT, title);
    put_curve(html, &frame, points, count);
    report_html_raw(html, "</svg>");
}
