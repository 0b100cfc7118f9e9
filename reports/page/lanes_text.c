/*
 * lanes_text.c -- lines of text, broken to the width of a lane, and their items.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes_parts.h"

#include <stdio.h>
#include <string.h>

#include "reports/page/measure.h"
#include "sim/base/heap.h"

void
report_lanes_add_line(struct report_lanes *lanes, const char *text, size_t length, uint64_t event,
        enum report_tone tone)
{
    sim_heap_grow(&lanes->lines, lanes->lines_count, &lanes->lines_capacity, sizeof(*lanes->lines));
    char *copy = strndup(text, length);
    lanes->failed = lanes->failed || copy == NULL;
    lanes->lines[lanes->lines_count++] =
            (struct report_line){.text = copy, .event = event, .tone = (uint8_t)tone};
}

void
report_lanes_add_lines(struct report_lanes *lanes, const char *text, uint32_t width, uint32_t most,
        uint64_t event, enum report_tone tone)
{
    const char *whole = text;
    size_t left = strlen(text);
    width = tone >= REPORT_LOST ? width * 7 / 8 : width; /* Bold letters are wider. */
    for (uint32_t i = 0; left > 0 && i < most; i++) {
        size_t next = left;
        size_t line = report_measure_break(text, left, REPORT_FONT, width, &next);
        if (i + 1 == most && next < left) {
            char cut[512];
            line = report_measure_fit(text, line, REPORT_FONT, width - REPORT_FONT);
            line = line < sizeof(cut) - 4 ? line : 0;
            (void)snprintf(cut, sizeof(cut), "%.*s\xe2\x80\xa6", (int)line, text);
            report_lanes_add_line(lanes, cut, strlen(cut), i == 0 ? event : SIM_EVENT_NONE, tone);
            if (!lanes->failed) {
                lanes->lines[lanes->lines_count - 1].whole = strdup(whole);
            }
            return;
        }
        report_lanes_add_line(lanes, text, line, i == 0 ? event : SIM_EVENT_NONE, tone);
        text += next;
        left -= next;
    }
}

struct report_item *
report_lanes_add_item(struct report_lanes *lanes, enum report_item_kind kind)
{
    sim_heap_grow(&lanes->items, lanes->items_count, &lanes->items_capacity, sizeof(*lanes->items));
    struct report_item *item = &lanes->items[lanes->items_count++];
    item->kind = (uint8_t)kind;
    item->line = lanes->lines_count;
    return item;
}

uint32_t
report_lanes_box_width(const struct report_lanes *lanes)
{
    return lanes->lane_width - 2 * REPORT_MARGIN - 2 * REPORT_PAD;
}

uint32_t
report_lanes_whole_width(const struct report_lanes *lanes)
{
    return lanes->lanes_count * lanes->lane_width - 2 * REPORT_PAD;
}
