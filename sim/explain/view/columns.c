/*
 * columns.c -- laying a run out in columns.
 *
 * What happened in a row is first written into one cell for each column, then the
 * cells are broken to their widths and printed side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/columns_priv.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/explain/view/phrase.h"

#define TURNS_NAMED 4u
#define GAP_NAMED 2u

/* ---- Lines. ---------------------------------------------------------------------------------- */

/* Fills with blanks up to `wanted`, from a line that is `used` columns long. */
static uint32_t
fill_to(struct sim_page *page, uint32_t used, uint32_t wanted)
{
    sim_page_fill(page, ' ', wanted > used ? wanted - used : 0);
    return wanted > used ? wanted : used;
}

static void
put_toned(struct sim_page *page, enum sim_tone tone, const char *text, size_t length)
{
    if (tone != SIM_TONE_PLAIN) {
        sim_page_tone(page, tone);
    }
    sim_page_add(page, text, length);
    if (tone != SIM_TONE_PLAIN) {
        sim_page_tone(page, SIM_TONE_PLAIN);
    }
}

static uint32_t
put_step_and_time(struct sim__table *table, const struct sim_row *row)
{
    struct sim_page *page = table->page;
    sim_page_clear(&table->phrase);
    sim_page_time(&table->phrase, row->time_ns);
    /* 3600s are the limit; what is longer is no time of a run, but must not shift the columns. */
    sim_page_printf(page, "%*u %*.*s", (int)table->step_width, row->step, (int)SIM__TIME_WIDTH,
            (int)SIM__TIME_WIDTH, sim_page_text(&table->phrase));
    return table->step_width + 1 + SIM__TIME_WIDTH;
}

/* One line of all cells; `at` is how far each was printed. */
static void
put_cells_line(struct sim__table *table, size_t *at, uint32_t used, bool cut)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct sim__column *column = &table->columns[i];
        size_t length = column->cell.length - at[i];
        if (length == 0) {
            continue;
        }
        const char *text = sim_page_text(&column->cell) + at[i];
        used = fill_to(table->page, used, sim__table_margin(table) + i * (table->width + SIM__GAP));
        size_t next = length;
        size_t line = cut ? 0 : sim_text_break(text, length, table->width, &next);
        enum sim_tone tone = column->woken ? SIM_TONE_GOOD : SIM_TONE_PLAIN;
        put_toned(table->page, tone, cut ? "..." : text, cut ? 3 : line);
        used += cut ? 3 : sim_text_width(text, line);
        at[i] += next;
    }
    sim_page_put(table->page, "\n");
}

static bool
cells_left(const struct sim__table *table, const size_t *at)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (at[i] < table->columns[i].cell.length) {
            return true;
        }
    }
    return false;
}

static void
put_mark(struct sim__table *table)
{
    uint32_t column = table->column_of[table->mark.part];
    uint32_t indent = sim__table_margin(table);
    sim_page_clear(&table->phrase);
    sim_page_put(&table->phrase, "<-- ");
    sim_missing_put(table->actor_table, &table->phrase, &table->mark);
    if (column != SIM_PART_NONE) {
        uint32_t wanted = indent + column * (table->width + SIM__GAP);
        uint32_t width = sim_text_width(sim_page_text(&table->phrase), table->phrase.length);
        if (wanted + width <= sim_page_width(table->page)) {
            indent = wanted;
        }
    }
    sim_page_fill(table->page, ' ', indent);
    size_t fit = sim_text_fit(sim_page_text(&table->phrase), table->phrase.length,
            sim_page_width(table->page) - indent);
    put_toned(table->page, SIM_TONE_BAD, sim_page_text(&table->phrase), fit);
    sim_page_put(table->page, "\n");
}

/* A line over the whole width, for what is no step: "~~~ all wait; 50ms pass ~~~". */
static void
put_across(struct sim__table *table, enum sim_tone tone)
{
    const char *text = sim_page_text(&table->phrase);
    size_t length = table->phrase.length;
    uint32_t indent = table->step_width + 1;
    while (length > 0) {
        size_t next = 0;
        size_t line = sim_text_break(text, length, sim_page_width(table->page) - indent, &next);
        sim_page_fill(table->page, ' ', indent);
        put_toned(table->page, tone, text, line);
        sim_page_put(table->page, "\n");
        text += next;
        length -= next;
    }
}

static void
put_jump(struct sim__table *table, const struct sim_row *row)
{
    sim_page_clear(&table->phrase);
    sim_page_put(&table->phrase, "~~~ all wait; ");
    sim_page_time(&table->phrase, row->gap_ns);
    sim_page_put(&table->phrase, row->gap_ns == 1 ? " passes ~~~" : " pass ~~~");
    put_across(table, SIM_TONE_DIM);
}

static void
put_end(struct sim__table *table, const struct sim_row *row)
{
    const struct sim_event *end = sim_actor_table_event(table->actor_table, row->first);
    bool fails = table->outcome != NULL && table->outcome->verdict != SIM_VERDICT_PASS;
    sim_page_clear(&table->phrase);
    if (end->argument == SIM_VERDICT_DEADLOCK) {
        /* The world says so before the judge has asked the blocked tasks. */
        sim_page_put(&table->phrase, "the run stalls: no actor can run");
    } else if (table->outcome != NULL && table->outcome->verdict == SIM_VERDICT_LOST_WAKEUP &&
               sim_actor_table_limit(table->actor_table) != SIM_VERDICT_PASS) {
        /* What the judge has found behind the limit is the verdict. */
        sim_page_printf(&table->phrase, "the run is cut off: %s",
                sim_verdict_name((uint32_t)end->argument));
    } else if (end->argument == SIM_VERDICT_PASS && fails) {
        sim_page_put(&table->phrase, "the run ends"); /* So far nothing has failed. */
    } else {
        sim_page_printf(
                &table->phrase, "the run ends: %s", sim_verdict_name((uint32_t)end->argument));
    }
    bool good = end->argument == SIM_VERDICT_PASS && !fails;
    put_across(table, good ? SIM_TONE_GOOD : SIM_TONE_BAD);
}

/* What was set up before the first step; a row over the whole width. */
static void
put_setup(struct sim__table *table, const struct sim_row *row)
{
    struct sim_page line;
    sim_page_init(&line, false);
    for (uint64_t i = row->first; i < row->first + row->count; i++) {
        sim_page_clear(&table->phrase);
        if (sim_phrase_put(table->actor_table, &table->phrase, i)) {
            sim_phrase_join(&line, 0, "");
            sim_page_put(&line, sim_page_text(&table->phrase));
        }
    }
    if (line.length > 0) {
        sim_page_clear(&table->phrase);
        sim_page_printf(&table->phrase, "at the start: %s", sim_page_text(&line));
        put_across(table, SIM_TONE_PLAIN);
    }
    sim_page_fini(&line);
}

static void
put_step(struct sim__table *table, const struct sim_row *row)
{
    size_t at[SIM__COLUMNS_MAX] = {0};
    sim__table_fill(table, row);
    uint32_t used = put_step_and_time(table, row);
    for (uint32_t line = 1; line == 1 || cells_left(table, at); line++) {
        put_cells_line(table, at, used, line == SIM__CELL_LINES_MAX);
        used = 0;
    }
    if (table->mark.kind != SIM_MISSING_NONE && row->step == table->mark.step) {
        put_mark(table);
    }
}

static void
put_row(struct sim__table *table, const struct sim_row *row)
{
    if (row->kind == SIM_ROW_JUMP) {
        put_jump(table, row);
    } else if (row->kind == SIM_ROW_END) {
        put_end(table, row);
    } else if (row->step == 0) {
        put_setup(table, row);
    } else {
        put_step(table, row);
    }
}

/* ---- What is put in one line. ---------------------------------------------------------------- */

static uint32_t
count_steps(const struct sim__table *table, const struct sim_item *item)
{
    uint32_t steps = 0;
    for (uint32_t i = item->row; i < item->row + item->rows; i++) {
        steps += table->rows.rows[i].kind == SIM_ROW_STEP;
    }
    return steps;
}

/* The parts that act in the first `rows` rows of `item`: at most TURNS_NAMED of them, in order. */
static uint32_t
who_acts(const struct sim__table *table, const struct sim_item *item, uint32_t rows,
        uint32_t *ret_more, uint32_t *ret_parts)
{
    uint32_t count = 0;
    *ret_more = 0;
    for (uint32_t i = item->row; i < item->row + rows; i++) {
        const struct sim_row *row = &table->rows.rows[i];
        bool known = row->kind != SIM_ROW_STEP;
        for (uint32_t k = 0; k < count && !known; k++) {
            known = ret_parts[k] == row->part;
        }
        if (known) {
            continue;
        }
        if (count < TURNS_NAMED) {
            ret_parts[count++] = row->part;
        } else {
            *ret_more = 1;
        }
    }
    return count;
}

static void
put_parts(struct sim__table *table, const uint32_t *parts, uint32_t count, bool more)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_page_put(&table->phrase, i == 0 ? "" : i + 1 == count && !more ? " and " : ", ");
        sim_actor_table_put_part(table->actor_table, &table->phrase, parts[i]);
    }
    sim_page_put(&table->phrase, more ? " and others" : "");
}

static void
put_until(struct sim__table *table, const struct sim_item *item)
{
    const struct sim_row *last = &table->rows.rows[item->row + item->rows - 1];
    sim_page_printf(&table->phrase, ", until step %u, ", last->step);
    sim_page_time(&table->phrase, last->time_ns);
}

static void
put_fold(struct sim__table *table, const struct sim_item *item)
{
    uint32_t parts[TURNS_NAMED];
    uint32_t more = 0;
    uint32_t count = who_acts(table, item, item->period, &more, parts);
    uint32_t steps = count_steps(table, item);
    sim_page_clear(&table->phrase);
    if (item->period == 1) {
        sim_page_printf(&table->phrase, "... %u steps like the one above: ", steps);
    } else {
        sim_page_printf(
                &table->phrase, "... %u steps like the %u rows above: ", steps, item->period);
    }
    put_parts(table, parts, count, more != 0);
    sim_page_put(&table->phrase, count == 1 ? " continues" : " take turns");
    put_until(table, item);
    sim_page_put(&table->phrase, " ...");
    put_across(table, SIM_TONE_DIM);
}

static void
put_gap(struct sim__table *table, const struct sim_item *item)
{
    uint32_t parts[TURNS_NAMED];
    uint32_t more = 0;
    uint32_t count = who_acts(table, item, item->rows, &more, parts);
    uint32_t steps = count_steps(table, item);
    sim_page_clear(&table->phrase);
    sim_page_printf(&table->phrase, "... %u step%s", steps, steps == 1 ? "" : "s");
    if (count <= GAP_NAMED && count > 0) {
        sim_page_put(&table->phrase, " of ");
        put_parts(table, parts, count, more != 0);
    }
    sim_page_put(&table->phrase, " left out");
    put_until(table, item);
    sim_page_put(&table->phrase, " ...");
    put_across(table, SIM_TONE_DIM);
}

static void
put_heading(struct sim__table *table)
{
    struct sim_page *page = table->page;
    sim_page_tone(page, SIM_TONE_HEAD);
    sim_page_printf(page, "%*s %*s", (int)table->step_width, "step", (int)SIM__TIME_WIDTH, "time");
    uint32_t used = table->step_width + 1 + SIM__TIME_WIDTH;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct sim__column *column = &table->columns[i];
        used = fill_to(page, used, sim__table_margin(table) + i * (table->width + SIM__GAP));
        sim_page_clear(&table->phrase);
        if (column->title != NULL) {
            sim_page_put(&table->phrase, column->title);
        } else {
            sim_actor_table_put_part(table->actor_table, &table->phrase, column->part);
        }
        const char *title = sim_page_text(&table->phrase);
        size_t fit = sim_text_fit(title, table->phrase.length, table->width);
        sim_page_add(page, title, fit);
        used += sim_text_width(title, fit);
    }
    sim_page_tone(page, SIM_TONE_PLAIN);
    sim_page_put(page, "\n");
}

/* What the ring no longer has. */
static void
put_lost(struct sim__table *table)
{
    if (table->actor_table->first > 0) {
        sim_page_clear(&table->phrase);
        sim_page_printf(&table->phrase,
                "... the first %llu events were not kept; the record begins here ...",
                (unsigned long long)table->actor_table->first);
        put_across(table, SIM_TONE_DIM);
    }
}

static void
put_plan(struct sim__table *table)
{
    put_heading(table);
    put_lost(table);
    for (uint32_t i = 0; i < table->plan.count; i++) {
        const struct sim_item *item = &table->plan.items[i];
        if (item->kind == SIM_ITEM_ROW) {
            put_row(table, &table->rows.rows[item->row]);
        } else if (item->kind == SIM_ITEM_FOLD) {
            put_fold(table, item);
        } else {
            put_gap(table, item);
        }
    }
}

static uint32_t
digits(uint32_t number)
{
    uint32_t count = 1;
    for (; number >= 10; number /= 10) {
        count++;
    }
    return count;
}

static void
table_make(struct sim__table *table, const struct sim_interest *interest)
{
    table->column_of = sim_heap_new(table->actor_table->count, sizeof(*table->column_of));
    table->seen = sim_heap_new(table->actor_table->count, sizeof(*table->seen));
    sim_rows_make(&table->rows, table->actor_table);
    sim_plan_make(&table->plan, &table->rows, interest);
    for (uint32_t i = 0; i < table->rows.count; i++) {
        uint32_t width = digits(table->rows.rows[i].step);
        table->step_width = width > table->step_width ? width : table->step_width;
    }
}

static void
table_free(struct sim__table *table)
{
    for (uint32_t i = 0; i < SIM__COLUMNS_MAX; i++) {
        sim_page_fini(&table->columns[i].cell);
    }
    sim_page_fini(&table->phrase);
    sim_rows_free(&table->rows);
    sim_plan_free(&table->plan);
    free(table->column_of);
    free(table->seen);
}

void
sim_columns_put(struct sim_page *page, const struct sim_actor_table *actor_table,
        const struct sim_outcome *outcome, const uint64_t *steps, uint32_t steps_count,
        uint32_t rows_max)
{
    rt_assert(page != NULL && actor_table->recorder != NULL);
    rt_assert(steps != NULL || steps_count == 0);
    struct sim__table table = {
            .actor_table = actor_table,
            .outcome = outcome,
            .page = page,
            .step_width = 4,
    };
    struct sim_interest interest = {SIM_PART_NONE, 0, steps, steps_count, rows_max};
    if (outcome != NULL) {
        interest.part = sim_actor_table_actor(actor_table, outcome->actor);
        sim_missing_find(actor_table, outcome, &table.mark);
        interest.missing_wake_step = table.mark.step;
    }
    table_make(&table, &interest);
    sim__table_layout(&table);
    put_plan(&table);
    table_free(&table);
}
