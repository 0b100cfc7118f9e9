/*
 * ledger_table.c -- the ledger as a table: one line a wait, no wider than a page.
 *
 * Each column is as wide as what stands in it. Where that is too much for a page,
 * first the functions are left out of the places, then the widest column gives way
 * until it fits; a cell that is cut ends in "...".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/trace/ledger.h"

enum column { WHO, NTH, WHAT, WHERE, STEP, END, COLUMNS };

static const char *const titles[COLUMNS] = {
        "who", "nth", "waits for", "stored at", "step", "and then"};

#define DOTS "..."
#define DOTS_WIDTH 3u

struct table {
    const struct sim_ledger *ledger;
    struct sim_page *page;
    struct sim_page cell;
    uint32_t part;
    uint32_t rows_max;
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
    sim_cast_put_wanted(table->ledger->cast, &table->cell, wait->object, wait->reason, wait->part);
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
        sim_cast_put_part(table->ledger->cast, cell, wait->ender);
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
    if (!sim_cast_put_place(cell, wait->await, wait->site)) {
        sim_page_put(cell, "-");
        return;
    }
    const char *text = sim_page_text(cell);
    const char *function = strstr(text, " in ");
    if (!table->functions && function != NULL) {
        cell->length = (size_t)(function - text);
    }
}

static void
put_cell(struct table *table, const struct sim_wait *wait, enum column column)
{
    sim_page_clear(&table->cell);
    switch (column) {
    case WHO:
        sim_cast_put_part(table->ledger->cast, &table->cell, wait->part);
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

static bool
is_asked_for(const struct table *table, const struct sim_wait *wait)
{
    return table->part == SIM_PART_NONE || wait->part == table->part;
}

/* How many waits are left out when of those that have ended only the last `rows_max` are shown. */
static uint32_t
ended_too_many(const struct table *table)
{
    uint32_t ended = 0;
    for (uint32_t i = 0; i < table->ledger->count; i++) {
        const struct sim_wait *wait = &table->ledger->waits[i];
        ended += wait->end != SIM_WAIT_OPEN && is_asked_for(table, wait);
    }
    return table->rows_max != 0 && ended > table->rows_max ? ended - table->rows_max : 0;
}

/* Calls `visit` for each wait that is shown. */
static void
each(struct table *table, void (*visit)(struct table *table, const struct sim_wait *wait))
{
    uint32_t skip = ended_too_many(table);
    for (uint32_t i = 0; i < table->ledger->count; i++) {
        const struct sim_wait *wait = &table->ledger->waits[i];
        if (!is_asked_for(table, wait)) {
            continue;
        }
        if (wait->end != SIM_WAIT_OPEN && skip > 0) {
            skip--;
        } else {
            visit(table, wait);
        }
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
    each(table, measure);
    for (uint32_t column = 0; column < COLUMNS; column++) {
        sum += table->widths[column];
    }
    return sum;
}

static void
choose_widths(struct table *table)
{
    uint32_t sum = measure_all(table, true);
    if (sum > SIM_PAGE_WIDTH) {
        sum = measure_all(table, false);
    }
    for (; sum > SIM_PAGE_WIDTH; sum--) {
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
        sim_page_printf(table->page, "%*s%s", (int)width * (number ? 1 : -1), title,
                column == END ? "" : " ");
    }
    sim_page_tone(table->page, SIM_TONE_PLAIN);
    sim_page_put(table->page, "\n");
}

void
sim_ledger_put(
        const struct sim_ledger *ledger, struct sim_page *page, uint32_t part, uint32_t rows_max)
{
    rt_assert(page != NULL);
    rt_assert(ledger->cast != NULL);
    struct table table = {.ledger = ledger, .page = page, .part = part, .rows_max = rows_max};
    choose_widths(&table);
    put_titles(&table);
    uint32_t skip = ended_too_many(&table);
    if (skip > 0) {
        sim_page_printf(page, "... %u more that have ended ...\n", skip);
    }
    each(&table, put_wait);
    page->failed = page->failed || table.cell.failed;
    sim_page_fini(&table.cell);
}
