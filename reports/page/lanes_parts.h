/*
 * lanes_parts.h -- what the files that lay out a run share.
 *
 *   lanes.c         which rows are shown, in which order, and how high all of it is
 *   lanes_who.c     who has a lane
 *   lanes_box.c     one turn, as boxes
 *   lanes_across.c  what stands across all lanes, and at the foot of each
 *   lanes_text.c    lines of text, and what they stand in
 *
 * Whatever finds no memory sets `failed`, and what is added after that counts for nothing. `words`
 * is lent to make sentences in: what was in it is gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_PAGE_LANES_PARTS_H
#define REPORTS_PAGE_LANES_PARTS_H

#include "reports/page/lanes.h"

/* ---- lanes_text.c ---------------------------------------------------------------------------- */

/* Adds a line of `length` bytes of `text`, which are copied. `event`: whose words it begins. */
void report_lanes_add_line(struct report_lanes *lanes, const char *text, size_t length,
        uint64_t event, enum report_tone tone);

/* Adds `text` broken to `width` pixels, at most `most` lines; the last one says that there is more.
 */
void report_lanes_add_lines(struct report_lanes *lanes, const char *text, uint32_t width,
        uint32_t most, uint64_t event, enum report_tone tone);

/* A new item, whose text begins with the next line; without memory one that nobody reads. Borrowed
 * until the next one is added. */
struct report_item *report_lanes_add_item(struct report_lanes *lanes, enum report_item_kind kind);

/* Pixels that a line may be wide: in a box; across all lanes. */
uint32_t report_lanes_box_room(const struct report_lanes *lanes);
uint32_t report_lanes_whole_room(const struct report_lanes *lanes);

/* ---- lanes_who.c ----------------------------------------------------------------------------- */

/* Both runs get the same lanes: first those of the one that fails. Where there are too many, whose
 * wake is missing has one in any case. */
void report_lanes_give(struct report_lanes *lanes, const struct report_lanes_plan *plan);

/* ---- lanes_box.c ----------------------------------------------------------------------------- */

/* One box for each group of events of one actor: a loop may poll several tasks in one step. */
void report_lanes_add_step(
        struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words);

/* ---- lanes_across.c -------------------------------------------------------------------------- */

/* `text` across all lanes. The item is borrowed until the next one is added. */
struct report_item *report_lanes_add_across(struct report_lanes *lanes, enum report_item_kind kind,
        const char *text, enum report_tone tone);

/* The clock moves while everybody waits. */
void report_lanes_add_jump(
        struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words);

/* Steps like those above, or left out; nothing where it has no steps. */
void report_lanes_add_fold(
        struct report_lanes *lanes, const struct sim_item *what, struct sim_page *words);

/* Before `step`, 0 that of the first: that it is decided there, that the two runs part there. */
void report_lanes_add_parting(struct report_lanes *lanes, uint64_t step, struct sim_page *words);

/* How the run ends. `said`: the verdict as its last event has it. */
void report_lanes_add_end(struct report_lanes *lanes, uint32_t said, struct sim_page *words);

/* The wake that did not come, in the lane of `owner`, whose step owed it. */
void report_lanes_add_lost(struct report_lanes *lanes, uint32_t owner, struct sim_page *words);

/* What whoever has this lane waits for when the run is over. */
void report_lanes_add_foot(
        struct report_lanes *lanes, struct report_lane *lane, struct sim_page *words);

#endif
