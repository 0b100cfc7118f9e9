/*
 * lanes_items.h -- what lanes.c puts into the picture of a run, from top to bottom.
 *
 * `words` is a buffer of the caller for sentences; its content is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/page/lanes.h"

/* One box for each group of events of one actor: a loop may poll several tasks in one step. */
void report_lanes_add_step(
        struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words);

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
