/*
 * ledger_table.c -- the ledger as a table: one line a wait, no wider than a page.
 *
 * Each column is as wide as what stands in it. Where that is too much for a page,
 * first the functions are left out of the places, then the widest column gives way
 * until it fits; a cell that is cut ends in "...". Waits that repeat are folded as steps are; one
 * that is open is always shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/record/site.h"
#include "sim/explain/ledger.h"
#include "sim/explain/view/fold.h"

enum column { WHO, NTH, WHAT, WHERE, STEP, END, COLUMNS };

static const char *const titles[COLUMNS] = {
        "who", "nth", "waits for", "stored at", "step", "and then"};

#define DOTS "..."
#define DOTS_WIDTH 3u

/* A wait, or a fold: waits that repeat those of the `period` lines above it. */
struct line {
    const struct sim_wait *wait; /* Of a fold the last one. */
    uint32_t folded;             /* So many waits; 0: no fold. */
    uint32_t period;
    bool left_out;
};

struct table {
    const struct sim_ledger *ledger;
    struct sim_page *page;
    struct sim_page cell;
    uint32_t part;
    uint32_t *asked; /* The waits that are asked for, in their order. */
    uint32_t asked_count;
    struct line *lines;
    uint32_t line_count;
    uint32_t skipped; /* Waits before the first line that has ended. */
    uint32_t widths[COLUMNS];
    bool functions; /* Places with the functions they are in. */
};

/* ---- Cells. ---------------------------------------------------------------------------------- */

static void
put_what(struct table *table, const struct sim_wait *wait)
{
    if (wait->kind == SIM_WAIT_CLONE) {
        sim_page_put(&table->cell, "(a clone)");
        return;
    }
    sim_page_put(&table->cell, wait->kind == SIM_WAIT_HOST ? "host: " : "");
    sim_actor_table_put_wanted(
            table->ledger->actor_table, &table->cell, wait->object, wait->reason, wait->part);
}

static void
put_end(struct table *table, const struct sim_wait *wait)
{
    struct sim_page *cell = &table->cell;
    if (wait->end == SIM_WAIT_OPEN) {
        sim_page_put(cell, "open");
        if (wait->kept != 0) {
            sim_page_printf(cell, ", kept %u time%s", wait->kept, wait->kept == 1 ? "" : "s");
        }
        return;
    }
    sim_page_printf(cell, "%s at %u", sim_wait_end_name(wait->end), wait->end_step);
    if (wait->end == SIM_WAIT_FIRED && wait->wake != SIM_WAKE_QUEUED) {
        sim_page_printf(cell, " (%s)", sim_wake_name(wait->wake));
    } else if (wait->ender != wait->part && wait->ender != 0) {
        sim_page_put(cell, " by ");
        sim_actor_table_put_part(table->ledger->actor_table, cell, wait->ender);
    }
}

static void
put_where(struct table *table, const struct sim_wait *wait)
{
    struct sim_page *cell = &table->cell;
    if (wait->unknown != 0) {
        sim_page_put(cell, "before the record");
        return;
    }
    const struct rt_site *place = sim_actor_table_place(wait->await, wait->site);
    if (place == NULL) {
        sim_page_put(cell, "-");
        return;
    }
    sim_page_printf(cell, "%s:%u", sim_site_file(place), place->line);
    if (table->functions) {
        sim_page_printf(cell, " in %s()", place->function);
    }
}

static void
put_cell(struct table *table, const struct sim_wait *wait, enum column column)
{
    sim_page_clear(&table->cell);
    switch (column) {
    case WHO:
        sim_actor_table_put_part(table->ledger->actor_table, &table->cell, wait->part);
        return;
    case NTH:
        sim_page_printf(&table->cell, "%*u", (int)table->widths[NTH], wait->number);
        return;
    case WHAT:
        put_what(table, wait);
        return;
    case WHERE:
        put_where(table, wait);
        return;
    case STEP:
        sim_page_printf(&table->cell, "%*u", (int)table->widths[STEP], wait->store_step);
        return;
    case END:
        put_end(table, wait);
        return;
    case COLUMNS:
    default:
        rt_unreached("a column that is none");
    }
}

/* ---- Which waits. ---------------------------------------------------------------------------- */

static const struct sim_wait *
asked_at(const struct table *table, uint32_t nth)
{
    return &table->ledger->waits[table->asked[nth]];
}

/* As in rows.c: objects are alike when they are of one kind and one creator. */
static uint64_t
likeness_of(const void *rows, uint32_t row)
{
    const struct sim_wait *wait = asked_at(rows, row);
    uint64_t hash = sim_fold_mix(wait->kind, wait->part);
    hash = sim_fold_mix(hash, wait->object >> 16);
    hash = sim_fold_mix(hash, (uint64_t)wait->site << 32 | wait->await);
    hash = sim_fold_mix(hash, (uint64_t)wait->end << 32 | wait->ender);
    hash = sim_fold_mix(hash, wait->wake);
    return wait->end == SIM_WAIT_OPEN ? sim_fold_mix(hash, (uint64_t)row + 1) : hash;
}

static void
list_asked(struct table *table)
{
    for (uint32_t i = 0; i < table->ledger->count; i++) {
        if (table->part == SIM_PART_NONE || table->ledger->waits[i].part == table->part) {
            table->asked[table->asked_count++] = i;
        }
    }
}

static void
add_line(struct table *table, uint32_t nth, uint32_t folded, uint32_t period)
{
    table->lines[table->line_count++] =
            (struct line){.wait = asked_at(table, nth), .folded = folded, .period = period};
}

static void
fold_lines(struct table *table, bool folds)
{
    for (uint32_t i = 0; i < table->asked_count;) {
        uint32_t period = 1;
        uint32_t again =
                folds ? sim_fold_find(likeness_of, table, i, table->asked_count, &period) : 0;
        for (uint32_t end = i + period; i < end; i++) {
            add_line(table, i, 0, 0);
        }
        i += again;
        if (again > 0) {
            add_line(table, i - 1, again, period);
        }
    }
}

/* Of the lines that have ended only the last `rows_max` are shown; a fold goes with the first of
 * those that it is like. */
static void
leave_out(struct table *table, uint32_t rows_max)
{
    uint32_t ended = 0;
    for (uint32_t i = 0; i < table->line_count; i++) {
        ended += table->lines[i].wait->end != SIM_WAIT_OPEN;
    }
    for (uint32_t i = 0; i < table->line_count; i++) {
        struct line *line = &table->lines[i];
        bool alone = line->folded != 0 && table->lines[i - line->period].left_out;
        if (alone || (line->wait->end != SIM_WAIT_OPEN && ended > rows_max)) {
            line->left_out = true;
            table->skipped += line->folded != 0 ? line->folded : 1;
            ended--;
        }
    }
}

static void
make_lines(struct table *table, uint32_t rows_max)
{
    size_t most = (size_t)table->ledger->count + 1;
    table->asked = sim_heap_new(most, sizeof(*table->asked));
    table->lines = sim_heap_new(most, sizeof(*table->lines));
    list_asked(table);
    fold_lines(table, rows_max != 0);
    if (rows_max != 0) {
        leave_out(table, rows_max);
    }
}

/* ---- Widths. --------------------------------------------------------------------------------- */

static void
measure(struct table *table, const struct sim_wait *wait)
{
    for (uint32_t column = 0; column < COLUMNS; column++) {
        put_cell(table, wait, (enum column)column);
        uint32_t width = sim_text_width(sim_page_text(&table->cell), table->cell.length);
        table->widths[column] = width > table->widths[column] ? width : table->widths[column];
    }
}

/* Of all columns, with a blank between each two. */
static uint32_t
measure_all(struct table *table, bool functions)
{
    uint32_t sum = COLUMNS - 1;
    table->functions = functions;
    for (uint32_t column = 0; column < COLUMNS; column++) {
        table->widths[column] = (uint32_t)strlen(titles[column]);
    }
    for (uint32_t i = 0; i < table->line_count; i++) {
        if (table->lines[i].folded == 0 && !table->lines[i].left_out) {
            measure(table, table->lines[i].wait);
        }
    }
    for (uint32_t column = 0; column < COLUMNS; column++) {
        sum += table->widths[column];
    }
    return sum;
}

static void
choose_widths(struct table *table)
{
    uint32_t sum = measure_all(table, true);
    if (sum > sim_page_width(table->page)) {
        sum = measure_all(table, false);
    }
    for (; sum > sim_page_width(table->page); sum--) {
        uint32_t widest = 0;
        for (uint32_t column = 1; column < COLUMNS; column++) {
            widest = table->widths[column] > table->widths[widest] ? column : widest;
        }
        table->widths[widest]--;
    }
}

/* ---- Lines. ---------------------------------------------------------------------------------- */

/* Adds what stands in the cell, cut or filled up to its width, and a gap; after the last one there
 * are no blanks. */
static void
put_padded(struct table *table, enum column column)
{
    const char *text = sim_page_text(&table->cell);
    size_t length = table->cell.length;
    uint32_t width = table->widths[column];
    bool cut = sim_text_width(text, length) > width;
    size_t fit = sim_text_fit(text, length, cut ? width - DOTS_WIDTH : width);
    while (fit > 0 && column == END && text[fit - 1] == ' ') {
        fit--;
    }
    uint32_t used = sim_text_width(text, fit) + (cut ? DOTS_WIDTH : 0);
    rt_assert(used <= width);
    sim_page_add(table->page, text, fit);
    sim_page_put(table->page, cut ? DOTS : "");
    if (column == END) {
        sim_page_put(table->page, "\n");
    } else {
        sim_page_fill(table->page, ' ', width + 1 - used);
    }
}

static void
put_wait(struct table *table, const struct sim_wait *wait)
{
    for (uint32_t column = 0; column < COLUMNS; column++) {
        put_cell(table, wait, (enum column)column);
        put_padded(table, (enum column)column);
    }
}

static void
put_titles(struct table *table)
{
    sim_page_tone(table->page, SIM_TONE_HEAD);
    for (uint32_t column = 0; column < COLUMNS; column++) {
        const char *title = titles[column];
        uint32_t width = column == END ? 0 : table->widths[column];
        bool number = column == NTH || column == STEP;
        sim_page_printf(table->page, "%*.*s%s", (int)width * (number ? 1 : -1),
                (int)table->widths[column], title, column == END ? "" : " ");
    }
    sim_page_tone(table->page, SIM_TONE_PLAIN);
    sim_page_put(table->page, "\n");
}

static void
put_fold(struct table *table, const struct line *line)
{
    sim_page_printf(table->page, "... %u waits like the ", line->folded);
    if (line->period == 1) {
        sim_page_put(table->page, "one above");
    } else {
        sim_page_printf(table->page, "%u above", line->period);
    }
    sim_page_printf(table->page, ", until step %u ...\n", line->wait->store_step);
}

static void
put_lines(struct table *table)
{
    put_titles(table);
    if (table->skipped > 0) {
        sim_page_printf(table->page, "... %u more that have ended ...\n", table->skipped);
    }
    for (uint32_t i = 0; i < table->line_count; i++) {
        const struct line *line = &table->lines[i];
        if (line->left_out) {
            continue;
        }
        if (line->folded != 0) {
            put_fold(table, line);
        } else {
            put_wait(table, line->wait);
        }
    }
}

void
sim_ledger_put(
        const struct sim_ledger *ledger, struct sim_page *page, uint32_t part, uint32_t rows_max)
{
    rt_assert(page != NULL);
    rt_assert(ledger->actor_table != NULL);
    struct table table = {.ledger = ledger, .page = page, .part = part};
    make_lines(&table, rows_max);
    choose_widths(&table);
    put_lines(&table);
    sim_page_fini(&table.cell);
    free(table.lines);
    free(table.asked);
}
