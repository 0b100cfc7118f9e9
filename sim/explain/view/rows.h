/*
 * rows.h -- which steps of a run are shown, and which are folded into one line.
 *
 * A row is one step, or one move of the clock while all waited, or the end.
 * A *plan* is what is shown of them:
 *
 *      row                     one row
 *      fold   period, rows     the `period` rows above, again and again
 *      gap    rows             left out, because there are too many
 *
 * Two rows are alike when the same parts did the same things at the same places,
 * whatever the numbers were. A part in which `period` rows (at most 16) come at
 * least three times is folded. Marked rows and the last two are never folded away
 * and never left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/view/actor_table.h"

enum sim_row_kind { SIM_ROW_STEP, SIM_ROW_JUMP, SIM_ROW_END };

struct sim_row {
    uint64_t first; /* Its events. */
    uint32_t count;
    uint32_t step;
    uint64_t time_ns;
    uint64_t gap_ns; /* Of a jump. */
    uint64_t likeness;
    uint32_t part; /* Whose step it is. */
    uint8_t kind;
    bool marked;
};

struct sim_rows {
    struct sim_row *rows;
    uint32_t count;
    uint32_t capacity;
};

enum sim_item_kind { SIM_ITEM_ROW, SIM_ITEM_FOLD, SIM_ITEM_GAP };

struct sim_item {
    uint32_t row; /* The first. */
    uint32_t rows;
    uint32_t period;
    uint8_t kind;
    bool chosen;
};

struct sim_plan {
    struct sim_item *items;
    uint32_t count;
    uint32_t capacity;
};

/* What matters to the reader. */
struct sim_interest {
    uint32_t part;              /* The actor it is about; SIM_PART_NONE: none. */
    uint64_t missing_wake_step; /* 0: none. The rows around it are marked. */
    const uint64_t *steps;      /* More steps that are marked. */
    uint32_t steps_count;
    uint32_t rows_max; /* 0: everything is shown, nothing folded. */
};

/* Divides the run into rows. */
void sim_rows_make(struct sim_rows *rows, const struct sim_actor_table *actor_table);
void sim_rows_free(struct sim_rows *rows);

/* Decides what is shown; marks rows. */
void sim_plan_make(
        struct sim_plan *plan, struct sim_rows *rows, const struct sim_interest *interest);
void sim_plan_free(struct sim_plan *plan);
