/*
 * columns_priv.h -- what laying out and printing share: the table of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/view/columns.h"
#include "sim/explain/view/rows.h"
#include "sim/explain/view/wake_outcome.h"

#define SIM__COLUMNS_MAX 6u
#define SIM__GAP 2u
#define SIM__TIME_WIDTH 9u
#define SIM__CELL_LINES_MAX 10u

/* How much is merged, from all side by side to none. */
enum sim__layout { LAYOUT_EACH, LAYOUT_HOST, LAYOUT_OTHERS, LAYOUT_LINES };

struct sim__column {
    const char *title; /* Of a merged one; NULL: the name of `part`. */
    uint32_t part;
    struct sim_page cell;
    bool woken;
};

struct sim__table {
    const struct sim_actor_table *actor_table;
    const struct sim_outcome *outcome;
    struct sim_page *page;
    struct sim_rows rows;
    struct sim_plan plan;
    struct sim_page phrase;
    struct sim__column columns[SIM__COLUMNS_MAX];
    uint32_t count;
    uint32_t width; /* Of a column. */
    uint32_t step_width;
    uint32_t *column_of; /* By part; SIM_PART_NONE: not seen. */
    bool *seen;          /* By part: it does something in a row that is shown. */
    struct sim_missing mark;
    enum sim__layout layout;
};

/* The letters of a line that stand before the first column. */
uint32_t sim__table_margin(const struct sim__table *table);

/* Gives the parts that are seen their columns, merged as far as they do not fit side by side. Of
 * the table all but columns, count, width, column_of, seen and layout is set. */
void sim__table_layout(struct sim__table *table);

/* Writes what happened in `row` into the cells of its columns. */
void sim__table_fill(struct sim__table *table, const struct sim_row *row);
