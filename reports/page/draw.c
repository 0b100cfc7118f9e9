/*
 * draw.c -- lanes as a picture.
 *
 * From back to front: bands, the lines of the lanes, arrows, boxes with their text, and last the
 * text on the lost wake. Names of classes are those of the style below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/html.h"
#include "reports/page/measure.h"

#define HEAD 3u /* Half the height of an arrow's head. */

/* The picture has its own style, to work outside of the page. */
static const char style[] =
        ".lanes text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\","
        "sans-serif;fill:var(--text)}"
        ".lanes .dim,.lanes .dim text,.lanes .t{fill:var(--dim)}"
        ".lanes .h{font-weight:600}.lanes .n{font-weight:600}"
        ".lanes .b{fill:var(--raised);stroke:var(--edge);stroke-width:1}"
        ".lanes .bb{stroke:var(--lost);stroke-width:2}"
        ".lanes g:target .b{stroke:var(--link);stroke-width:3}"
        ".lanes .life{stroke:var(--edge);stroke-width:1.25;stroke-dasharray:2 4}"
        ".lanes .run{stroke:var(--wake);stroke-width:3}"
        ".lanes .w{stroke:var(--wake);stroke-width:1.5;fill:none}"
        ".lanes .wh{fill:var(--wake)}"
        ".lanes .wake{fill:var(--wake)}"
        ".lanes .w.c{stroke-dasharray:2 3}"
        ".lanes .lost{fill:var(--lost);font-weight:700}"
        ".lanes .l{stroke:var(--lost);stroke-width:2.5;stroke-dasharray:7 4;fill:none}"
        ".lanes .x{stroke:var(--lost);stroke-width:3;fill:none}"
        ".lanes .band{fill:var(--lost-ground)}"
        ".lanes .fold{fill:none;stroke:var(--edge);stroke-dasharray:4 3}"
        ".lanes .part{stroke:var(--part);stroke-width:2}"
        ".lanes .pt{fill:var(--part);font-weight:600}"
        ".lanes .pb{fill:var(--part-ground)}"
        ".lanes .end{stroke:var(--edge);stroke-width:1.5}"
        ".lanes .foot{fill:var(--ground);stroke:var(--edge);stroke-dasharray:3 3}"
        ".lanes .foot.fl{stroke:var(--lost);stroke-width:2;stroke-dasharray:none;"
        "fill:var(--lost-ground)}"
        ".lanes a text,.lanes a tspan{fill:var(--link);text-decoration:underline}";

/* ---- Parts of a picture. --------------------------------------------------------------------- */

static uint32_t
lane_left(const struct report_lanes *lanes, uint32_t lane)
{
    return REPORT_GUTTER + lane * lanes->lane_width;
}

static uint32_t
lane_middle(const struct report_lanes *lanes, uint32_t lane)
{
    return lane_left(lanes, lane) + lanes->lane_width / 2;
}

static void
put_line(struct report_html *html, const char *class, uint32_t x1, uint32_t y1, uint32_t x2,
        uint32_t y2)
{
    report_html_put(html, "<path class=\"%s\" d=\"M%u %uL%u %u\"/>\n", class, x1, y1, x2, y2);
}

/* A line that was cut has its whole text as a tooltip. */
static void
put_line_text(struct report_html *html, const char *class, uint32_t x, uint32_t y,
        const struct report_line *line)
{
    report_html_put(html, "<text class=\"%s\" x=\"%u\" y=\"%u\">", class, x, y);
    report_html_text(html, line->text);
    if (line->whole != NULL) {
        report_html_put(html, "<title>%s</title>", line->whole);
    }
    report_html_raw(html, "</text>\n");
}

/* The base line of line `line` of a box that begins at `y`. */
static uint32_t
base_of(uint32_t y, uint32_t line)
{
    return y + REPORT_PAD + line * REPORT_LINE + REPORT_LINE - 4;
}

static const char *
class_of(const struct report_line *line)
{
    static const char *const classes[] = {"p", "dim", "wake", "lost", "pt"};
    return classes[line->tone];
}

static void
put_lines(struct report_html *html, const struct report_lanes *lanes, uint32_t first,
        uint32_t count, uint32_t x, uint32_t y, const char *prefix)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct report_line *line = &lanes->lines[first + i];
        if (line->link != 0) {
            report_html_put(html, "<a href=\"#%s%u\">", prefix, line->link);
        }
        put_line_text(html, class_of(line), x, base_of(y, i), line);
        if (line->link != 0) {
            report_html_raw(html, "</a>");
        }
    }
}

/* ---- Heads and feet of lanes. ---------------------------------------------------------------- */

static void
put_fitting(struct report_html *html, const char *class, uint32_t x, uint32_t y, uint32_t width,
        const char *text)
{
    size_t length = strlen(text);
    /* Bold letters are wider. */
    bool fits = report_measure_px(text, length, REPORT_FONT + 1) <= width;
    size_t shown =
            fits ? length : report_measure_fit(text, length, REPORT_FONT + 1, width - REPORT_FONT);
    report_html_put(html, "<text class=\"%s\" x=\"%u\" y=\"%u\">", class, x, y);
    report_html_text_n(html, text, shown);
    report_html_raw(html, fits ? "" : "\xe2\x80\xa6<title>");
    report_html_text(html, fits ? NULL : text);
    report_html_raw(html, fits ? "</text>\n" : "</title></text>\n");
}

static void
put_heads(struct report_html *html, const struct report_lanes *lanes)
{
    report_html_put(html, "<text class=\"t\" x=\"4\" y=\"%u\">step</text>\n", REPORT_LINE);
    report_html_put(html, "<text class=\"t\" x=\"4\" y=\"%u\">time</text>\n", 2 * REPORT_LINE);
    for (uint32_t i = 0; i < lanes->lanes_count; i++) {
        const struct report_lane *lane = &lanes->lanes[i];
        uint32_t x = lane_left(lanes, i) + REPORT_MARGIN;
        uint32_t width = lanes->lane_width - 2 * REPORT_MARGIN;
        put_fitting(html, lane->lost ? "lost" : "h", x, REPORT_LINE, width, lane->title);
        put_fitting(html, "t", x, 2 * REPORT_LINE, width, lane->kind);
    }
    put_line(html, "end", 0, lanes->head_height - 16, lanes->width, lanes->head_height - 16);
}

static void
put_feet(struct report_html *html, const struct report_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->lanes_count; i++) {
        const struct report_lane *lane = &lanes->lanes[i];
        if (lane->lines > 0) {
            uint32_t x = lane_left(lanes, i) + REPORT_MARGIN;
            report_html_put(html,
                    "<rect class=\"foot%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\""
                    "/>\n",
                    lane->lost ? " fl" : "", x, lanes->foot_y,
                    lanes->lane_width - 2 * REPORT_MARGIN,
                    lane->lines * REPORT_LINE + 2 * REPORT_PAD);
            put_lines(html, lanes, lane->line, lane->lines, x + REPORT_PAD, lanes->foot_y, "");
        }
    }
}

/* ---- The background. ------------------------------------------------------------------------- */

/* A red band in the lane of the blocked task, from the lost wake on. */
static void
put_bands(struct report_html *html, const struct report_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        const struct report_item *item = &lanes->items[i];
        uint32_t lane =
                item->kind == REPORT_ITEM_LOST ? lanes->lane_of[lanes->waiter] : REPORT_LANE_NONE;
        if (lane != REPORT_LANE_NONE) {
            uint32_t end = lanes->foot_y;
            for (uint32_t k = i + 1; k < lanes->items_count; k++) {
                bool again =
                        lanes->items[k].kind == REPORT_ITEM_BOX && lanes->items[k].lane == lane;
                end = again && lanes->items[k].y < end ? lanes->items[k].y : end;
            }
            report_html_put(html,
                    "<rect class=\"band\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/>\n",
                    lane_left(lanes, lane) + 2, item->y + 28, lanes->lane_width - 4,
                    end - item->y - 28);
        }
    }
}

/* Where the line of `lane` ends: at the foot, or where its actor has finished. */
static uint32_t
life_end(const struct report_lanes *lanes, uint32_t lane)
{
    uint32_t actor = lanes->lanes[lane].actor;
    uint32_t end = lanes->foot_y;
    if (actor == REPORT_LANE_NONE || !lanes->run->actors[actor].finished) {
        return end;
    }
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        const struct report_item *item = &lanes->items[i];
        if (item->kind == REPORT_ITEM_BOX && item->actor == actor) {
            end = item->y + item->height;
        }
    }
    return end;
}

static void
put_lives(struct report_html *html, const struct report_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->lanes_count; i++) {
        uint32_t x = lane_middle(lanes, i);
        put_line(html, "life", x, lanes->head_height - 12, x, life_end(lanes, i));
    }
}

/* ---- Wakes. ---------------------------------------------------------------------------------- */

static int
against_event(const void *event, const void *wake)
{
    uint64_t wanted = *(const uint64_t *)event;
    uint64_t has = ((const struct report_wake *)wake)->event;
    return (wanted > has) - (wanted < has);
}

static const struct report_wake *
wake_of(const struct report_run *run, uint64_t event)
{
    return run->wakes_count == 0 ? NULL
                                 : bsearch(&event, run->wakes, run->wakes_count,
                                           sizeof(run->wakes[0]), against_event);
}

/* A woken task is in the run queue from the arrow to its next box. */
static void
put_runnable(struct report_html *html, const struct report_lanes *lanes, uint32_t item,
        uint32_t lane, uint32_t y)
{
    uint32_t end = lanes->foot_y;
    for (uint32_t i = lanes->items_count; i-- > item + 1;) {
        const struct report_item *later = &lanes->items[i];
        bool folded = later->kind == REPORT_ITEM_FOLD || later->kind == REPORT_ITEM_GAP;
        if (folded || (later->kind == REPORT_ITEM_BOX && later->lane == lane)) {
            end = later->y;
        }
    }
    put_line(html, "run", lane_middle(lanes, lane), y, lane_middle(lanes, lane), end);
}

static void
put_arrow(struct report_html *html, const struct report_lanes *lanes, uint32_t from, uint32_t to,
        uint32_t y, bool queued)
{
    bool right = to > from;
    uint32_t half = lanes->lane_width / 2 - REPORT_MARGIN;
    uint32_t start = right ? lane_middle(lanes, from) + half : lane_middle(lanes, from) - half;
    uint32_t tip = right ? lane_middle(lanes, to) - 2 : lane_middle(lanes, to) + 2;
    uint32_t neck = right ? tip - 2 * HEAD : tip + 2 * HEAD;
    put_line(html, queued ? "w" : "w c", start, y, neck, y);
    report_html_put(html, "<path class=\"wh\" d=\"M%u %uL%u %uL%u %uz\"/>\n", tip, y, neck,
            y - HEAD - 1, neck, y + HEAD + 1);
}

static void
put_wakes(struct report_html *html, const struct report_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        const struct report_item *item = &lanes->items[i];
        for (uint32_t k = 0; item->kind == REPORT_ITEM_BOX && k < item->lines; k++) {
            const struct report_line *line = &lanes->lines[item->line + k];
            const struct report_wake *wake =
                    line->event != SIM_EVENT_NONE ? wake_of(lanes->run, line->event) : NULL;
            uint32_t lane = wake != NULL ? lanes->lane_of[wake->woken] : REPORT_LANE_NONE;
            if (lane == REPORT_LANE_NONE || lane == item->lane || wake->how == SIM_WAKE_DEAD) {
                continue;
            }
            uint32_t y = base_of(item->y, k) - 4;
            bool queued = wake->how == SIM_WAKE_QUEUED;
            if (queued) {
                put_runnable(html, lanes, i, lane, y);
            }
            put_arrow(html, lanes, item->lane, lane, y, queued);
        }
    }
}

/* ---- Rows. ----------------------------------------------------------------------------------- */

static void
put_time(struct report_html *html, const char *class, uint32_t y, uint64_t ns)
{
    report_html_put(html, "<text class=\"%s\" x=\"4\" y=\"%u\">", class, y);
    sim_page_time(&html->page, ns);
    report_html_raw(html, "</text>\n");
}

/* The line of the step, for who points at its box. */
static void
put_hover(
        struct report_html *html, const struct report_lanes *lanes, const struct report_item *item)
{
    const struct report_step *step = report_run_step(lanes->run, item->step);
    const struct report_place *place =
            step != NULL ? report_run_step_place(lanes->run, step) : NULL;
    if (place != NULL) {
        report_html_put(html, "<title>%s:%u %s</title>\n", report_file_name(place->file),
                place->line, place->function);
    }
}

static void
put_box(struct report_html *html, const struct report_lanes *lanes, const struct report_item *item,
        const char *prefix)
{
    uint32_t x = lane_left(lanes, item->lane) + REPORT_MARGIN;
    if (item->first) {
        report_html_put(html, "<g id=\"%s%u\">\n", prefix, item->step);
        report_html_put(html, "<text class=\"n\" x=\"4\" y=\"%u\">%u</text>\n", base_of(item->y, 0),
                item->step);
        put_time(html, "t", base_of(item->y, 1), item->time_ns);
        put_hover(html, lanes, item);
    } else {
        report_html_raw(html, "<g>\n");
    }
    report_html_put(html,
            "<rect class=\"b%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\"/>\n",
            item->cause ? " bb" : "", x, item->y, lanes->lane_width - 2 * REPORT_MARGIN,
            item->height);
    put_lines(html, lanes, item->line, item->lines, x + REPORT_PAD, item->y, prefix);
    report_html_raw(html, "</g>\n");
}

static void
put_across(struct report_html *html, const struct report_lanes *lanes,
        const struct report_item *item, const char *prefix)
{
    uint32_t x = REPORT_GUTTER + REPORT_MARGIN;
    uint32_t width = lanes->lanes_count * lanes->lane_width - 2 * REPORT_MARGIN;
    bool folded = item->kind == REPORT_ITEM_FOLD || item->kind == REPORT_ITEM_GAP;
    if (folded) {
        report_html_put(html, "<g id=\"%s%u\">\n", prefix, item->step);
        report_html_put(html,
                "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\" "
                "fill=\"var(--ground)\"/>"
                "<rect class=\"fold\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\"/>\n",
                x, item->y, width, item->height, x, item->y, width, item->height);
        report_html_put(html, "<text class=\"t\" x=\"4\" y=\"%u\">\xe2\x8b\xae</text>\n",
                base_of(item->y, 0));
    } else {
        report_html_put(html,
                "<g><rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"var(--ground)\"/>\n",
                x, item->y, width, item->height);
    }
    if (item->kind == REPORT_ITEM_JUMP) {
        /* The axis of time is broken here. */
        report_html_put(html,
                "<path class=\"w\" style=\"stroke:var(--dim)\" d=\"M10 %ul6 4l-12 6l6 4\"/>\n",
                item->y + 6);
    }
    if (item->kind == REPORT_ITEM_END) {
        put_line(html, "end", 0, item->y, lanes->width, item->y);
    }
    put_lines(html, lanes, item->line, item->lines, x + REPORT_PAD, item->y, prefix);
    report_html_raw(html, "</g>\n");
}

static void
put_divergence(
        struct report_html *html, const struct report_lanes *lanes, const struct report_item *item)
{
    report_html_put(html, "<rect class=\"pb\" x=\"0\" y=\"%u\" width=\"%u\" height=\"%u\"/>\n",
            item->y, lanes->width, item->height);
    put_line(html, "part", 0, item->y, lanes->width, item->y);
    for (uint32_t i = 0; i < item->lines; i++) {
        const struct report_line *line = &lanes->lines[item->line + i];
        put_line_text(html, class_of(line), REPORT_GUTTER + REPORT_MARGIN + REPORT_PAD,
                base_of(item->y, i), line);
    }
}

/* The missing wake: from the actor that should have sent it to the blocked task. */
static void
put_lost(struct report_html *html, const struct report_lanes *lanes, const struct report_item *item)
{
    uint32_t to = lanes->lane_of[lanes->waiter];
    const char *text = lanes->lines[item->line].text;
    uint32_t wide = report_measure_px(text, strlen(text), REPORT_FONT + 2); /* It is bold. */
    uint32_t target = lane_middle(lanes, to);
    uint32_t source = lane_middle(lanes, item->lane);
    uint32_t y = item->y + 30;
    /* Beside the vertical line, on the side of its target if the text fits there. */
    uint32_t x = target > source     ? source + 8
                 : source > wide + 8 ? source - wide - 8
                                     : REPORT_GUTTER;
    if (x + wide + 8 > lanes->width) {
        x = lanes->width > wide + 8 ? lanes->width - wide - 8 : 0;
    }
    report_html_raw(html, "<g id=\"lost\">\n");
    if (item->lane != to) {
        /* From the box of that step. */
        put_line(html, "l", source, item->y - 12, source, y);
        put_line(html, "l", source, y, to > item->lane ? target - 9 : target + 9, y);
    }
    report_html_put(html,
            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"18\" fill=\"var(--ground)\"/>\n",
            x > 4 ? x - 4 : 0, item->y, wide + 8);
    put_line_text(html, "lost", x, item->y + 13, &lanes->lines[item->line]);
    report_html_put(
            html, "<path class=\"x\" d=\"M%u %ul12 12m0 -12l-12 12\"/>\n</g>\n", target - 6, y - 6);
}

static void
put_items(struct report_html *html, const struct report_lanes *lanes, const char *prefix)
{
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        const struct report_item *item = &lanes->items[i];
        if (item->kind == REPORT_ITEM_BOX) {
            put_box(html, lanes, item, prefix);
        } else if (item->kind == REPORT_ITEM_LOST) {
            put_lost(html, lanes, item);
        } else if (item->kind == REPORT_ITEM_DIVERGE) {
            put_divergence(html, lanes, item);
        } else {
            put_across(html, lanes, item, prefix);
        }
    }
}

uint32_t
report_draw_width(const struct report_lanes *lanes)
{
    return lanes->width * 85 / 100;
}

/* ---- The picture. ---------------------------------------------------------------------------- */

void
report_draw(struct report_html *html, const struct report_lanes *lanes, const char *id,
        const char *prefix, const char *title)
{
    report_html_put(html,
            "<svg class=\"lanes\" id=\"%s\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
            "height=\"%u\" viewBox=\"0 0 %u %u\" style=\"min-width:%upx\" "
            "role=\"group\" "
            "aria-labelledby=\"%s-title\">\n",
            id, lanes->width, lanes->height, lanes->width, lanes->height, report_draw_width(lanes),
            id);
    report_html_put(html, "<title id=\"%s-title\">%s</title>\n<style>", id, title);
    report_html_raw(html, report_colours);
    report_html_raw(html, style);
    report_html_raw(html, "</style>\n");
    report_html_put(html, "<rect width=\"%u\" height=\"%u\" fill=\"var(--ground)\"/>\n",
            lanes->width, lanes->height);
    put_bands(html, lanes);
    put_lives(html, lanes);
    put_wakes(html, lanes);
    put_items(html, lanes, prefix);
    put_feet(html, lanes);
    put_heads(html, lanes);
    report_html_raw(html, "</svg>\n");
}

void
report_draw_legend(struct report_html *html)
{
    report_html_raw(html,
            "<ul class=\"legend\">"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<rect class=\"b\" x=\"1\" y=\"1\" width=\"32\" height=\"12\" rx=\"3\"/></svg> one "
            "step of an actor: its events in order</li>"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<path class=\"w\" d=\"M1 7H27\"/><path class=\"wh\" d=\"M33 7L27 3L27 11z\"/></svg> a "
            "wake</li>"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<path class=\"run\" d=\"M17 0V14\"/></svg> woken, not yet polled</li>"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<path class=\"life\" d=\"M17 0V14\"/></svg> waiting</li>"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<path class=\"l\" d=\"M0 7H22\"/><path class=\"x\" d=\"M23 3l8 8m0 -8l-8 8\"/></svg> "
            "the missing wake</li>"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<rect class=\"b bb\" x=\"2\" y=\"2\" width=\"30\" height=\"10\" rx=\"3\"/></svg> "
            "the step that goes wrong</li>"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<rect class=\"band\" width=\"34\" height=\"14\"/></svg> blocked: its wake "
            "is missing</li>"
            "<li><svg class=\"lanes\" width=\"34\" height=\"14\" aria-hidden=\"true\">"
            "<rect class=\"pb\" width=\"34\" height=\"14\"/><path class=\"part\" d=\"M0 "
            "1H34\"/></svg> the decision that makes it fail, or the step where "
            "the two runs diverge</li></ul>\n");
}
