/*
 * lanes_box.c -- one step as boxes, event by event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explain/view/phrase.h"

#define LINES_MAX 16u /* Of a box. */

static bool
is_cause(const struct report_lanes *lanes, uint64_t step)
{
    for (uint32_t i = 0; i < lanes->causes_count; i++) {
        if (lanes->causes[i] == step && step != 0) {
            return true;
        }
    }
    return false;
}

/* "-> pending" with an arrow as in print. */
static const char *
with_arrow(const char *words, char *buffer, size_t size)
{
    if (strncmp(words, "-> ", 3) != 0) {
        return words;
    }
    (void)snprintf(buffer, size, "\xe2\x86\x92 %s", words + 3);
    return buffer;
}

static void
add_event(struct report_lanes *lanes, uint64_t event, struct sim_page *words)
{
    char buffer[64];
    const struct report_run *run = lanes->run;
    const struct sim_event *what = sim_actor_table_event(&run->actor_table, event);
    sim_page_clear(words);
    if (!report_run_words(run, event, words)) {
        return;
    }
    enum report_tone tone =
            event == run->wake_outcome.root_cause && lanes->waiter != REPORT_LANE_NONE ? REPORT_LOST
            : sim_phrase_woken(&run->actor_table, event) != SIM_PART_NONE              ? REPORT_WAKE
            : what->kind == RT_PROBE_POLLED                                            ? REPORT_DIM
                                            : REPORT_PLAIN;
    uint32_t line = lanes->lines_count;
    report_lanes_add_lines(lanes, with_arrow(sim_page_text(words), buffer, sizeof(buffer)),
            report_lanes_box_width(lanes), 5, event, tone);
    if (what->kind == RT_PROBE_POLL && what->cause != 0 && lanes->lines_count > line) {
        lanes->lines[line].link = what->cause;
    }
}

/* For a step without an event that has words. */
static void
add_nothing(struct report_lanes *lanes, uint32_t actor)
{
    bool loop = lanes->run->actor_table.parts[actor].kind == SIM_ACTOR_LOOP;
    report_lanes_add_lines(lanes, loop ? "checks for work" : "runs", report_lanes_box_width(lanes),
            2, SIM_EVENT_NONE, REPORT_DIM);
}

static void
end_box(struct report_lanes *lanes, struct report_item *item)
{
    item->lines = lanes->lines_count - item->line;
    if (item->lines == 0) {
        add_nothing(lanes, item->actor);
        item->lines = lanes->lines_count - item->line;
    }
    if (item->lines > LINES_MAX) {
        uint32_t more = item->lines - LINES_MAX + 1;
        char text[48];
        (void)snprintf(text, sizeof(text), "\xe2\x80\xa6 and %u lines more", more);
        for (uint32_t i = item->line + LINES_MAX - 1; i < lanes->lines_count; i++) {
            free(lanes->lines[i].text);
            free(lanes->lines[i].whole);
        }
        lanes->lines_count = item->line + LINES_MAX - 1;
        report_lanes_add_line(lanes, text, strlen(text), SIM_EVENT_NONE, REPORT_DIM);
        lanes->lines[lanes->lines_count - 1].link = item->step;
        item->lines = LINES_MAX;
    }
    item->height = item->lines * REPORT_LINE + 2 * REPORT_PAD;
    item->height = item->height > 2 * REPORT_LINE + 4 ? item->height : 2 * REPORT_LINE + 4;
}

static uint32_t
row_actor(const struct report_lanes *lanes, const struct sim_row *row)
{
    return row->part < lanes->run->actors_count ? row->part : 0;
}

void
report_lanes_add_step(struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words)
{
    const struct report_run *run = lanes->run;
    uint32_t item = UINT32_MAX;
    uint32_t begun = lanes->items_count;
    for (uint64_t i = row->first; i < row->first + row->count && !lanes->failed; i++) {
        uint32_t actor = report_run_actor(run, i);
        sim_page_clear(words);
        if (!report_run_words(run, i, words)) {
            continue;
        }
        /* Events of the world go to the actor that takes the step. */
        bool no_lane = lanes->lane_of[actor] == REPORT_LANE_NONE;
        actor = !no_lane             ? actor
                : item != UINT32_MAX ? lanes->items[item].actor
                                     : row_actor(lanes, row);
        if (item == UINT32_MAX || lanes->items[item].actor != actor) {
            if (item != UINT32_MAX) {
                end_box(lanes, &lanes->items[item]);
            }
            item = lanes->items_count;
            struct report_item *box = report_lanes_add_item(lanes, REPORT_ITEM_BOX);
            box->actor = actor;
            box->step = row->step;
        }
        add_event(lanes, i, words);
    }
    if (item == UINT32_MAX && !lanes->failed) {
        item = lanes->items_count;
        struct report_item *box = report_lanes_add_item(lanes, REPORT_ITEM_BOX);
        box->actor = row_actor(lanes, row);
        box->step = row->step;
    }
    if (lanes->failed) {
        return;
    }
    end_box(lanes, &lanes->items[item]);
    for (uint32_t i = begun; i < lanes->items_count; i++) {
        struct report_item *box = &lanes->items[i];
        box->first = i == begun;
        box->time_ns = row->time_ns;
        box->cause = is_cause(lanes, row->step);
        box->lane = lanes->lane_of[box->actor];
        box->lane = box->lane != REPORT_LANE_NONE ? box->lane : lanes->lanes_count - 1;
    }
}
