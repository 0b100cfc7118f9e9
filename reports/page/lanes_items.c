/*
 * lanes_items.c -- the items of a picture: boxes, what lies across all lanes, and the foot of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/measure.h"
#include "sim/base/heap.h"
#include "sim/explain/view/phrase.h"

#define LINES_MAX 16u /* Of a box. */
#define NAMED_MAX 3u  /* Actors that a fold names. */
#define STRIP 46u     /* Height of the text on a lost wake. */

/* ---- Text. ----------------------------------------------------------------------------------- */

/* Adds a line of `length` bytes of `text`, which are copied. */
static void
add_line(struct report_lanes *lanes, const char *text, size_t length, uint64_t event,
        enum report_tone tone)
{
    sim_heap_grow(&lanes->lines, lanes->lines_count, &lanes->lines_capacity, sizeof(*lanes->lines));
    lanes->lines[lanes->lines_count++] = (struct report_line){
            .text = sim_heap_must(strndup(text, length)), .event = event, .tone = (uint8_t)tone};
}

/* Adds `text` broken to `width` pixels, at most `most` lines; the last one says that there is more.
 */
static void
add_lines(struct report_lanes *lanes, const char *text, uint32_t width, uint32_t most,
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
            add_line(lanes, cut, strlen(cut), i == 0 ? event : SIM_EVENT_NONE, tone);
            lanes->lines[lanes->lines_count - 1].whole = sim_heap_text(whole);
            return;
        }
        add_line(lanes, text, line, i == 0 ? event : SIM_EVENT_NONE, tone);
        text += next;
        left -= next;
    }
}

/* A new item, whose text begins with the next line. Borrowed until the next one is added. */
static struct report_item *
add_item(struct report_lanes *lanes, enum report_item_kind kind)
{
    sim_heap_grow(&lanes->items, lanes->items_count, &lanes->items_capacity, sizeof(*lanes->items));
    struct report_item *item = &lanes->items[lanes->items_count++];
    item->kind = (uint8_t)kind;
    item->line = lanes->lines_count;
    return item;
}

/* The width of a line in pixels: in a box; across all lanes. */
static uint32_t
box_width(const struct report_lanes *lanes)
{
    return lanes->lane_width - 2 * REPORT_MARGIN - 2 * REPORT_PAD;
}

static uint32_t
whole_width(const struct report_lanes *lanes)
{
    return lanes->lanes_count * lanes->lane_width - 2 * REPORT_PAD;
}

/* ---- One step as boxes, event by event. ------------------------------------------------------ */

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

static void
add_event(struct report_lanes *lanes, uint64_t event, struct sim_page *words)
{
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
    if (what->kind == RT_PROBE_POLLED) {
        sim_page_clear(words); /* With an arrow as in print. */
        sim_page_printf(words, "\xe2\x86\x92 %s", sim_phrase_answer(what->argument));
    }
    add_lines(lanes, sim_page_text(words), box_width(lanes), 5, event, tone);
    if (what->kind == RT_PROBE_POLL && what->cause != 0 && lanes->lines_count > line) {
        lanes->lines[line].link = what->cause;
    }
}

/* For a step without an event that has words. */
static void
add_nothing(struct report_lanes *lanes, uint32_t actor)
{
    bool loop = lanes->run->actor_table.parts[actor].kind == SIM_ACTOR_LOOP;
    add_lines(lanes, loop ? "checks for work" : "runs", box_width(lanes), 2, SIM_EVENT_NONE,
            REPORT_DIM);
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
        add_line(lanes, text, strlen(text), SIM_EVENT_NONE, REPORT_DIM);
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
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
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
            struct report_item *box = add_item(lanes, REPORT_ITEM_BOX);
            box->actor = actor;
            box->step = row->step;
        }
        add_event(lanes, i, words);
    }
    if (item == UINT32_MAX) {
        item = lanes->items_count;
        struct report_item *box = add_item(lanes, REPORT_ITEM_BOX);
        box->actor = row_actor(lanes, row);
        box->step = row->step;
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

/* ---- Across all lanes. ----------------------------------------------------------------------- */

/* `text` across all lanes. The item is borrowed until the next one is added. */
static struct report_item *
add_across(struct report_lanes *lanes, enum report_item_kind kind, const char *text,
        enum report_tone tone)
{
    struct report_item *item = add_item(lanes, kind);
    add_lines(lanes, text, whole_width(lanes), 3, SIM_EVENT_NONE, tone);
    item->lines = lanes->lines_count - item->line;
    item->height = item->lines * REPORT_LINE + 2 * REPORT_PAD;
    return item;
}

void
report_lanes_add_jump(struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words)
{
    sim_page_clear(words);
    sim_page_put(words, "all actors wait; ");
    sim_page_time(words, row->gap_ns);
    sim_page_put(words, row->gap_ns == 1 ? " passes" : " pass");
    add_across(lanes, REPORT_ITEM_JUMP, sim_page_text(words), REPORT_DIM)->time_ns = row->time_ns;
}

static void
put_actors(struct report_lanes *lanes, const struct sim_item *item, uint32_t rows,
        struct sim_page *words)
{
    uint32_t seen[NAMED_MAX];
    uint32_t count = 0;
    bool more = false;
    for (uint32_t i = item->row; i < item->row + rows && i < lanes->rows.count; i++) {
        uint32_t part = lanes->rows.rows[i].part;
        bool known = lanes->rows.rows[i].kind != SIM_ROW_STEP || part >= lanes->run->actors_count;
        for (uint32_t k = 0; k < count; k++) {
            known = known || seen[k] == part;
        }
        if (!known && count < NAMED_MAX) {
            seen[count++] = part;
        } else {
            more = more || !known;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        sim_page_put(words, k == 0 ? "" : k + 1 == count && !more ? " and " : ", ");
        sim_page_clean(words, lanes->run->actors[seen[k]].name);
    }
    sim_page_put(words, more ? " and others" : "");
}

/* The first and the last step of the rows that are left out, and their number. */
static uint32_t
range_of(const struct report_lanes *lanes, const struct sim_item *item, uint32_t *ret_first,
        uint32_t *ret_last)
{
    uint32_t steps = 0;
    *ret_first = 0;
    *ret_last = 0;
    for (uint32_t i = item->row; i < item->row + item->rows && i < lanes->rows.count; i++) {
        const struct sim_row *row = &lanes->rows.rows[i];
        if (row->kind == SIM_ROW_STEP && row->step != 0) {
            *ret_first = *ret_first == 0 ? row->step : *ret_first;
            *ret_last = row->step;
            steps++;
        }
    }
    return steps;
}

void
report_lanes_add_fold(
        struct report_lanes *lanes, const struct sim_item *what, struct sim_page *words)
{
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t steps = range_of(lanes, what, &first, &last);
    bool fold = what->kind == SIM_ITEM_FOLD;
    const struct sim_row *end = &lanes->rows.rows[what->row + what->rows - 1];
    if (steps == 0) {
        return;
    }
    sim_page_clear(words);
    if (fold) {
        sim_page_printf(words, "%u steps like the ", steps);
        if (what->period == 1) {
            sim_page_put(words, "one above: ");
        } else {
            sim_page_printf(words, "%u above: ", what->period);
        }
        put_actors(lanes, what, what->period, words);
        sim_page_put(words, what->period == 1 ? " runs" : " take turns");
    } else {
        sim_page_printf(words, "%u step%s left out: ", steps, steps == 1 ? "" : "s");
        put_actors(lanes, what, what->rows, words);
    }
    sim_page_printf(words, ", until step %u (", last);
    sim_page_time(words, end->time_ns);
    sim_page_put(words, ")");
    struct report_item *item = add_across(
            lanes, fold ? REPORT_ITEM_FOLD : REPORT_ITEM_GAP, sim_page_text(words), REPORT_DIM);
    item->step = first;
    item->until = last;
    item->time_ns = end->time_ns;
}

void
report_lanes_add_end(struct report_lanes *lanes, uint32_t ended, struct sim_page *words)
{
    uint32_t verdict = lanes->run->outcome.verdict;
    sim_page_clear(words);
    if (ended == SIM_VERDICT_DEADLOCK) {
        sim_page_put(words, "the run stalls: no actor can take a step");
    } else if (ended != verdict &&
               sim_actor_table_limit(&lanes->run->actor_table) != SIM_VERDICT_PASS) {
        sim_page_printf(words, "the run is cut off: %s", sim_verdict_name(ended));
    } else if (verdict == SIM_VERDICT_PASS) {
        sim_page_put(words, "everything is done: the run passes");
    } else {
        sim_page_printf(words, "the run ends: %s", sim_verdict_name(verdict));
    }
    (void)add_across(lanes, REPORT_ITEM_END, sim_page_text(words),
            verdict == SIM_VERDICT_PASS ? REPORT_PLAIN : REPORT_LOST);
}

/* ---- The deciding step, and the one where both runs diverge. --------------------------------- */

/* Without the backquotes around names. */
static void
put_decision(const struct report_lanes *lanes, struct sim_page *words)
{
    sim_page_put(words, lanes->decided == 0 ? "decided before the first step: " : "decided here: ");
    for (const char *c = lanes->decision; *c != '\0'; c++) {
        if (*c != '`') {
            sim_page_printf(words, "%c", *c);
        }
    }
}

void
report_lanes_add_divergence(struct report_lanes *lanes, uint64_t step, struct sim_page *words)
{
    bool decided = lanes->decision[0] != '\0' && step == lanes->decided;
    bool diverge = step != 0 && step == lanes->diverge;
    sim_page_clear(words);
    if (decided) {
        put_decision(lanes, words);
    }
    if (diverge) {
        sim_page_put(words, decided ? "; the two runs diverge" : "the two runs diverge here");
    }
    if (decided || diverge) {
        (void)add_across(lanes, REPORT_ITEM_DIVERGE, sim_page_text(words), REPORT_DECIDED);
    }
}

/* ---- The missing wake. ----------------------------------------------------------------------- */

void
report_lanes_add_lost(struct report_lanes *lanes, uint32_t owner, struct sim_page *words)
{
    sim_page_clear(words);
    sim_page_put(words, lanes->missing.kind == SIM_MISSING_ITSELF ? "" : "the lost wake: ");
    sim_missing_put(&lanes->run->actor_table, words, &lanes->missing);
    struct report_item *item = add_item(lanes, REPORT_ITEM_LOST);
    add_lines(lanes, sim_page_text(words), whole_width(lanes), 1, SIM_EVENT_NONE, REPORT_LOST);
    item->lines = lanes->lines_count - item->line;
    item->height = STRIP;
    item->actor = owner;
    item->lane = lanes->lane_of[owner];
}

/* ---- The foot of a lane: what its task waits for at the end. --------------------------------- */

static bool
put_waiting(const struct report_lanes *lanes, uint32_t actor, struct sim_page *words)
{
    const struct sim_wait *wait = NULL;
    do {
        wait = sim_ledger_open_of(&lanes->run->ledger, actor, wait);
    } while (wait != NULL && wait->kind == SIM_WAIT_HOST);
    if (wait == NULL) {
        return false;
    }
    sim_page_put(words, " for ");
    if (wait->kind == SIM_WAIT_CLONE) {
        sim_page_put(words, "the holder of a clone of its waker");
    } else {
        sim_actor_table_put_wanted(
                &lanes->run->actor_table, words, wait->object, wait->reason, actor);
    }
    if (wait->unknown == 0) {
        sim_page_printf(words, " since step %u", wait->store_step);
    }
    return true;
}

/* Of a task without a stored waker: its last wake without a poll. False: nothing to report. */
static bool
put_left(const struct report_lanes *lanes, const struct report_lane *lane, struct sim_page *words)
{
    const struct report_wake *last = report_run_unanswered(lanes->run, lane->actor);
    if (last != NULL) {
        sim_page_printf(words, "%swoken at step %u, and not polled since",
                lane->lost ? "blocked forever: " : "", last->step);
    } else if (lane->lost) {
        sim_page_put(words, "blocked forever: no slot holds its waker");
    }
    return last != NULL || lane->lost;
}

void
report_lanes_add_foot(struct report_lanes *lanes, struct report_lane *lane, struct sim_page *words)
{
    const struct report_actor *actor =
            lane->actor != REPORT_LANE_NONE ? &lanes->run->actors[lane->actor] : NULL;
    lane->line = lanes->lines_count;
    if (actor == NULL || actor->finished || strcmp(actor->kind, "task") != 0) {
        return;
    }
    bool failed = lanes->run->outcome.verdict != SIM_VERDICT_PASS;
    sim_page_clear(words);
    size_t begun = words->length;
    sim_page_put(words, lane->lost ? "blocked forever, waits" : failed ? "waits" : "still waits");
    bool printed = put_waiting(lanes, lane->actor, words);
    if (!printed) {
        words->length = begun;
        printed = put_left(lanes, lane, words);
    }
    if (printed) {
        add_lines(lanes, sim_page_text(words), box_width(lanes), 6, SIM_EVENT_NONE,
                lane->lost ? REPORT_LOST : REPORT_DIM);
    }
    lane->lines = lanes->lines_count - lane->line;
}
