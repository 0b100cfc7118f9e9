/*
 * columns_layout.c -- who gets a column, how wide, and what stands in the cells of a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/columns_priv.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/view/phrase.h"

#define COLUMN_MIN 18u
#define COLUMN_MAX 44u
#define COLUMNS_ALWAYS 3u /* So few parts stand side by side, however long. */

uint32_t
sim__table_margin(const struct sim__table *table)
{
    return table->step_width + 1 + SIM__TIME_WIDTH + SIM__GAP;
}

/* ---- Who gets a column. ---------------------------------------------------------------------- */

static void
see_row(struct sim__table *table, const struct sim_row *row)
{
    if (row->kind != SIM_ROW_STEP || row->step == 0) {
        return;
    }
    bool words = false;
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        uint32_t woken = sim_phrase_woken(table->actor_table, i);
        sim_page_clear(&table->phrase);
        if (sim_phrase_put(table->actor_table, &table->phrase, i)) {
            table->seen[sim_actor_table_part_of(table->actor_table, i)] = true;
            words = true;
        }
        if (woken != SIM_PART_NONE) {
            table->seen[woken] = true;
        }
    }
    if (!words) {
        table->seen[row->part] = true;
    }
}

static void
see_all(struct sim__table *table)
{
    for (uint32_t i = 0; i < table->plan.count; i++) {
        if (table->plan.items[i].kind == SIM_ITEM_ROW) {
            see_row(table, &table->rows.rows[table->plan.items[i].row]);
        }
    }
}

static const char *
merged_title(enum sim__layout layout, uint32_t kind)
{
    if (layout >= LAYOUT_HOST && (kind == SIM_ACTOR_SOURCE || kind == SIM_ACTOR_FAULT)) {
        return layout == LAYOUT_HOST ? "host" : "others";
    }
    return layout >= LAYOUT_OTHERS && kind != SIM_ACTOR_TASK ? "others" : NULL;
}

static uint32_t
find_title(const struct sim__table *table, const char *title)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->columns[i].title != NULL && strcmp(table->columns[i].title, title) == 0) {
            return i;
        }
    }
    return SIM_PART_NONE;
}

/* Gives every part that was seen a column. False: too many. */
static bool
give_columns(struct sim__table *table, enum sim__layout layout)
{
    table->count = 0;
    table->layout = layout;
    for (uint32_t part = 0; part < table->actor_table->count; part++) {
        table->column_of[part] = SIM_PART_NONE;
        if (!table->seen[part]) {
            continue;
        }
        const char *title = merged_title(layout, table->actor_table->parts[part].kind);
        uint32_t column = title != NULL ? find_title(table, title) : SIM_PART_NONE;
        if (column == SIM_PART_NONE) {
            if (table->count == SIM__COLUMNS_MAX) {
                return false;
            }
            column = table->count++;
            table->columns[column].title = title;
            table->columns[column].part = part;
        }
        table->column_of[part] = column;
    }
    uint32_t room = sim_page_width(table->page) - sim__table_margin(table);
    table->width = table->count != 0 ? (room + SIM__GAP) / table->count - SIM__GAP : room;
    table->width = table->width < COLUMN_MAX ? table->width : COLUMN_MAX;
    return table->width >= COLUMN_MIN;
}

/* ---- What stands in the cells of a row. ------------------------------------------------------ */

/* Adds `words` of `part` to its cell; where a column has several parts, after the part's name. */
static void
cell_add(struct sim__table *table, uint32_t part, uint32_t *last, const char *words)
{
    uint32_t index = table->column_of[part];
    if (index == SIM_PART_NONE) {
        return;
    }
    struct sim__column *column = &table->columns[index];
    bool shared = table->layout == LAYOUT_LINES || column->title != NULL;
    if (shared && last[index] != part) {
        sim_page_put(&column->cell, column->cell.length > 0 ? "; " : "");
        sim_actor_table_put_part(table->actor_table, &column->cell, part);
        sim_page_put(&column->cell, ": ");
    } else {
        sim_phrase_join(&column->cell, 0, words);
    }
    last[index] = part;
    sim_page_put(&column->cell, words);
}

static void
cell_woken(struct sim__table *table, uint32_t part, uint32_t by, uint32_t *last)
{
    /* In one line for all the words "wakes client" say it. */
    if (table->layout == LAYOUT_LINES || table->column_of[part] == SIM_PART_NONE) {
        return;
    }
    sim_page_clear(&table->phrase);
    sim_page_put(&table->phrase, "<- woken by ");
    sim_actor_table_put_part(table->actor_table, &table->phrase, by);
    table->columns[table->column_of[part]].woken = true;
    cell_add(table, part, last, sim_page_text(&table->phrase));
}

/* For a step of which there is nothing to see. */
static const char *
idle_words(const struct sim__table *table, const struct sim_row *row)
{
    if (table->actor_table->parts[row->part].kind != SIM_ACTOR_LOOP) {
        return "takes a step";
    }
    for (uint32_t i = (uint32_t)(row - table->rows.rows) + 1; i < table->rows.count; i++) {
        const struct sim_row *later = &table->rows.rows[i];
        if (later->kind == SIM_ROW_STEP && later->part == row->part) {
            return "pauses"; /* It gave way. */
        }
    }
    const struct sim_row *last = &table->rows.rows[table->rows.count - 1];
    bool stalled = last->kind == SIM_ROW_END &&
                   sim_actor_table_event(table->actor_table, last->first)->argument ==
                           SIM_VERDICT_DEADLOCK;
    return stalled ? "waits" : "takes a step";
}

void
sim__table_fill(struct sim__table *table, const struct sim_row *row)
{
    uint32_t last[SIM__COLUMNS_MAX];
    bool words = false;
    for (uint32_t i = 0; i < table->count; i++) {
        sim_page_clear(&table->columns[i].cell);
        table->columns[i].woken = false;
        last[i] = SIM_PART_NONE;
    }
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        uint32_t part = sim_actor_table_part_of(table->actor_table, i);
        uint32_t woken = sim_phrase_woken(table->actor_table, i);
        sim_page_clear(&table->phrase);
        if (sim_phrase_put(table->actor_table, &table->phrase, i)) {
            cell_add(table, part, last, sim_page_text(&table->phrase));
            words = true;
        }
        if (woken != SIM_PART_NONE) {
            cell_woken(table, woken, part, last);
        }
    }
    if (!words) {
        cell_add(table, row->part, last, idle_words(table, row));
    }
}

/* ---- Side by side, or line by line. ---------------------------------------------------------- */

/* The lines of `text` in a column of `width`. */
static uint32_t
lines_of_cell(const struct sim_page *cell, uint32_t width)
{
    const char *text = sim_page_text(cell);
    size_t length = cell->length;
    uint32_t lines = 0;
    while (length > 0) {
        size_t next = 0;
        (void)sim_text_break(text, length, width, &next);
        text += next;
        length -= next;
        lines++;
    }
    return lines;
}

/* How many lines the plan takes in the layout that was given; what is not a step takes one. */
static uint32_t
count_lines(struct sim__table *table)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < table->plan.count; i++) {
        const struct sim_item *item = &table->plan.items[i];
        const struct sim_row *row = &table->rows.rows[item->row];
        uint32_t highest = 1;
        if (item->kind == SIM_ITEM_ROW && row->kind == SIM_ROW_STEP && row->step != 0) {
            sim__table_fill(table, row);
            for (uint32_t k = 0; k < table->count; k++) {
                uint32_t high = lines_of_cell(&table->columns[k].cell, table->width);
                highest = high > highest ? high : highest;
            }
        }
        lines += highest < SIM__CELL_LINES_MAX ? highest : SIM__CELL_LINES_MAX;
    }
    return lines;
}

static void
give_lines(struct sim__table *table)
{
    table->layout = LAYOUT_LINES;
    table->count = 1;
    table->columns[0].title = "who: what";
    table->width = sim_page_width(table->page) - sim__table_margin(table);
    for (uint32_t part = 0; part < table->actor_table->count; part++) {
        table->column_of[part] = 0;
    }
}

/* Columns show wakes at a glance; but with many of them, each narrow, a reader turns
 * pages. */
void
sim__table_layout(struct sim__table *table)
{
    uint32_t layout = LAYOUT_EACH;
    uint32_t seen = 0;
    see_all(table);
    while (layout < LAYOUT_LINES && !give_columns(table, (enum sim__layout)layout)) {
        layout++;
    }
    for (uint32_t part = 0; part < table->actor_table->count; part++) {
        seen += table->seen[part];
    }
    uint32_t lines = layout < LAYOUT_LINES && seen > COLUMNS_ALWAYS ? count_lines(table) : 0;
    if (layout < LAYOUT_LINES && lines == 0) {
        return;
    }
    give_lines(table);
    if (layout < LAYOUT_LINES && 2 * lines <= 3 * count_lines(table)) {
        (void)give_columns(table, (enum sim__layout)layout);
    }
}
