/*
 * lanes_across.c -- items across all lanes, and the foot of each lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes_parts.h"

#include <string.h>

#define NAMED_MAX 3u /* Actors that a fold names. */
#define STRIP 46u    /* Height of the text on a lost wake. */

/* ---- Across all lanes. ----------------------------------------------------------------------- */

struct report_item *
report_lanes_add_across(struct report_lanes *lanes, enum report_item_kind kind, const char *text,
        enum report_tone tone)
{
    uint32_t item = lanes->items_count;
    (void)report_lanes_add_item(lanes, kind);
    report_lanes_add_lines(lanes, text, report_lanes_whole_width(lanes), 3, SIM_EVENT_NONE, tone);
    if (lanes->failed) {
        return &lanes->nowhere;
    }
    lanes->items[item].lines = lanes->lines_count - lanes->items[item].line;
    lanes->items[item].height = lanes->items[item].lines * REPORT_LINE + 2 * REPORT_PAD;
    return &lanes->items[item];
}

void
report_lanes_add_jump(struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words)
{
    sim_page_clear(words);
    sim_page_put(words, "all actors wait; ");
    sim_page_time(words, row->gap_ns);
    sim_page_put(words, row->gap_ns == 1 ? " passes" : " pass");
    report_lanes_add_across(lanes, REPORT_ITEM_JUMP, sim_page_text(words), REPORT_DIM)->time_ns =
            row->time_ns;
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
    struct report_item *item = report_lanes_add_across(
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
    (void)report_lanes_add_across(lanes, REPORT_ITEM_END, sim_page_text(words),
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
        (void)report_lanes_add_across(
                lanes, REPORT_ITEM_DIVERGE, sim_page_text(words), REPORT_DECIDED);
    }
}

/* ---- The missing wake. ----------------------------------------------------------------------- */

void
report_lanes_add_lost(struct report_lanes *lanes, uint32_t owner, struct sim_page *words)
{
    sim_page_clear(words);
    sim_page_put(words, lanes->missing.kind == SIM_MISSING_ITSELF ? "" : "the lost wake: ");
    sim_missing_put(&lanes->run->actor_table, words, &lanes->missing);
    uint32_t item = lanes->items_count;
    (void)report_lanes_add_item(lanes, REPORT_ITEM_LOST);
    report_lanes_add_lines(lanes, sim_page_text(words), report_lanes_whole_width(lanes), 1,
            SIM_EVENT_NONE, REPORT_LOST);
    if (!lanes->failed) {
        lanes->items[item].lines = lanes->lines_count - lanes->items[item].line;
        lanes->items[item].height = STRIP;
        lanes->items[item].actor = owner;
        lanes->items[item].lane = lanes->lane_of[owner];
    }
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
        report_lanes_add_lines(lanes, sim_page_text(words), report_lanes_box_width(lanes), 6,
                SIM_EVENT_NONE, lane->lost ? REPORT_LOST : REPORT_DIM);
    }
    lane->lines = lanes->lines_count - lane->line;
}
