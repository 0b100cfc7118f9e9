/*
 * lanes_parts.h -- what the files that lay out a run share.
 *
 *   lanes.c         which rows are shown, in which order, and their heights
 *   lanes_who.c     which actors have a lane
 *   lanes_box.c     one step, as boxes
 *   lanes_across.c  items across all lanes, and the foot of each lane
 *   lanes_text.c    lines of text, and their items
 *
 * A function that gets no memory sets `failed`; what is added after that is ignored. `words` is a
 * buffer of the caller for sentences; its content is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_PAGE_LANES_PARTS_H
#define REPORTS_PAGE_LANES_PARTS_H

#include "reports/page/lanes.h"

/* ---- lanes_text.c ---------------------------------------------------------------------------- */

/* Adds a line of `length` bytes of `text`, which are copied. `event`: the event whose text
 * it begins. */
void report_lanes_add_line(struct report_lanes *lanes, const char *text, size_t length,
        uint64_t event, enum report_tone tone);

/* Adds `text` broken to `width` pixels, at most `most` lines; the last one says that there is more.
 */
void report_lanes_add_lines(struct report_lanes *lanes, const char *text, uint32_t width,
        uint32_t most, uint64_t event, enum report_tone tone);

/* A new item, whose text begins with the next line; without memory an unused one. Borrowed until
 * the next one is added. */
struct report_item *report_lanes_add_item(struct report_lanes *lanes, enum report_item_kind kind);

/* The width of a line in pixels: in a box; across all lanes. */
uint32_t report_lanes_box_width(const struct report_lanes *lanes);
uint32_t report_lanes_whole_width(const struct report_lanes *lanes);

/* ---- lanes_who.c ----------------------------------------------------------------------------- */

/* Both runs get the same lanes: first those of the failing run. The task whose wake is missing
 * always has one. */
void report_lanes_give(struct report_lanes *lanes, const struct report_lanes_plan *plan);

/* ---- lanes_box.c ----------------------------------------------------------------------------- */

/* One box for each group of events of one actor: a loop may poll several tasks in one step. */
void report_lanes_add_step(
        struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words);

/* ---- lanes_across.c -------------------------------------------------------------------------- */

/* `text` across all lanes. The item is borrowed until the next one is added. */
struct report_item *report_lanes_add_across(struct report_lanes *lanes, enum report_item_kind kind,
        const char *text, enum report_tone tone);

/* The clock moves while all actors wait. */
void report_lanes_add_jump(
        struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words);

/* Steps that are folded or left out; nothing where there are none. */
void report_lanes_add_fold(
        struct report_lanes *lanes, const struct sim_item *what, struct sim_page *words);

/* Marks `step` (0: the start) if it is the deciding one, or the first that differs. */
void report_lanes_add_divergence(struct report_lanes *lanes, uint64_t step, struct sim_page *words);

/* How the run ends. `ended`: the verdict of its last event. */
void report_lanes_add_end(struct report_lanes *lanes, uint32_t ended, struct sim_page *words);

/* The missing wake, in the lane of `owner`, whose step should have sent it. */
void report_lanes_add_lost(struct report_lanes *lanes, uint32_t owner, struct sim_page *words);

/* What the task of this lane waits for at the end of the run. */
void report_lanes_add_foot(
        struct report_lanes *lanes, struct report_lane *lane, struct sim_page *words);

#endif
