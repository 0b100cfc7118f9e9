/*
 * rows.c -- dividing a run into rows, folding what repeats, leaving out what is too much.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/rows.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/explain/view/fold.h"

#define AROUND_OWED 2u
#define LAST_MARKED 2u
#define LAST_SHOWN 8u
#define HEAD_SHOWN 10u
#define PART_SHOWN 8u

/* ---- Rows. ----------------------------------------------------------------------------------- */

/* Same kind, part and places; objects are alike when they are of one kind and one creator, because
 * a loop makes a new timer each time round. */
static uint64_t
likeness(const struct sim_event *event, uint32_t part)
{
    uint64_t hash = sim_fold_mix(event->kind, part);
    hash = sim_fold_mix(hash, event->object >> 16);
    hash = sim_fold_mix(hash, (uint64_t)event->site << 32 | event->await);
    bool answer = event->kind == RT_PROBE_POLLED || event->kind == RT_PROBE_WAKE;
    return answer ? sim_fold_mix(hash, event->argument) : hash;
}

static void
row_add(struct sim_rows *rows, const struct sim_row *row)
{
    sim_heap_grow(&rows->rows, rows->count, &rows->capacity, sizeof(*row));
    rows->rows[rows->count++] = *row;
}

static uint8_t
row_kind(const struct sim_event *event)
{
    return event->kind == SIM_EVENT_CLOCK ? SIM_ROW_JUMP
           : event->kind == SIM_EVENT_END ? SIM_ROW_END
                                          : SIM_ROW_STEP;
}

/* True when `event` continues `row`. */
static bool
same_row(const struct sim_row *row, const struct sim_event *event)
{
    uint8_t kind = row_kind(event);
    return row->kind == kind &&
           (kind == SIM_ROW_JUMP || (kind == SIM_ROW_STEP && row->step == event->step &&
                                            event->kind != SIM_EVENT_STEP));
}

static void
row_take(struct sim_row *row, const struct sim_event *event, uint32_t part)
{
    row->count++;
    row->likeness = sim_fold_mix(row->likeness, likeness(event, part));
    if (event->kind == SIM_EVENT_STEP) {
        row->time_ns = event->argument;
    }
    if (event->kind == RT_PROBE_POLL || event->kind == SIM_EVENT_STEP) {
        row->part = part;
    }
    if (event->kind == SIM_EVENT_CLOCK) {
        row->gap_ns += event->argument > row->time_ns ? event->argument - row->time_ns : 0;
        row->time_ns = event->argument;
    }
}

void
sim_rows_make(struct sim_rows *rows, const struct sim_actor_table *actor_table)
{
    rt_assert(rows != NULL && actor_table->recorder != NULL);
    *rows = (struct sim_rows){0};
    uint64_t now_ns = 0;
    uint64_t slow_ns = 0; /* By how much the step took longer: no task waits meanwhile. */
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        uint32_t part = sim_actor_table_part_of(actor_table, i);
        if (rows->count == 0 || !same_row(&rows->rows[rows->count - 1], event)) {
            struct sim_row row = {
                    .first = i,
                    .step = event->step,
                    .time_ns = now_ns + slow_ns,
                    .part = part,
                    .kind = row_kind(event),
            };
            row_add(rows, &row);
        }
        row_take(&rows->rows[rows->count - 1], event, part);
        if (event->kind == SIM_EVENT_STEP || event->kind == SIM_EVENT_CLOCK) {
            now_ns = event->argument;
            slow_ns = 0;
        } else if (event->kind == SIM_EVENT_SLOW) {
            slow_ns += event->argument;
        }
    }
}

void
sim_rows_free(struct sim_rows *rows)
{
    rt_assert(rows != NULL);
    free(rows->rows);
    *rows = (struct sim_rows){0};
}

/* ---- Marks. ---------------------------------------------------------------------------------- */

/* The first row of `step` or later; the count when there is none. */
static uint32_t
row_at_step(const struct sim_rows *rows, uint64_t step)
{
    uint32_t low = 0;
    uint32_t high = rows->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->rows[middle].step < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void
mark(struct sim_rows *rows, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && i < rows->count; i++) {
        rows->rows[i].marked = true;
    }
}

static void
mark_all(struct sim_rows *rows, const struct sim_interest *interest)
{
    if (interest->missing_wake_step != 0) {
        uint32_t row = row_at_step(rows, interest->missing_wake_step);
        mark(rows, row > AROUND_OWED ? row - AROUND_OWED : 0, row + AROUND_OWED + 1);
    }
    for (uint32_t i = 0; i < interest->steps_count; i++) {
        uint32_t row = row_at_step(rows, interest->steps[i]);
        mark(rows, row, row + 1);
    }
    mark(rows, rows->count > LAST_MARKED ? rows->count - LAST_MARKED : 0, rows->count);
}

/* ---- Folding. -------------------------------------------------------------------------------- */

static void
item_add(struct sim_plan *plan, uint8_t kind, uint32_t row, uint32_t rows, uint32_t period)
{
    sim_heap_grow(&plan->items, plan->count, &plan->capacity, sizeof(*plan->items));
    plan->items[plan->count++] = (struct sim_item){row, rows, period, kind, true};
}

static uint64_t
likeness_of(const void *rows, uint32_t row)
{
    const struct sim_rows *all = rows;
    return all->rows[row].likeness;
}

static uint32_t
next_marked(const struct sim_rows *rows, uint32_t start)
{
    uint32_t i = start;
    while (i < rows->count && !rows->rows[i].marked) {
        i++;
    }
    return i;
}

static void
add_rows(struct sim_plan *plan, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        item_add(plan, SIM_ITEM_ROW, i, 1, 0);
    }
}

static void
fold(struct sim_plan *plan, const struct sim_rows *rows)
{
    uint32_t limit = 0;
    for (uint32_t i = 0; i < rows->count;) {
        if (i >= limit) {
            limit = next_marked(rows, i);
        }
        uint32_t period = 0;
        uint32_t again = i < limit ? sim_fold_find(likeness_of, rows, i, limit, &period) : 0;
        uint32_t shown = again != 0 ? period : 1;
        add_rows(plan, i, i + shown);
        if (again != 0) {
            item_add(plan, SIM_ITEM_FOLD, i + shown, again, period);
        }
        i += shown + again;
    }
}

/* ---- Leaving out. ---------------------------------------------------------------------------- */

struct budget {
    uint32_t left;
};

static void
choose(struct sim_item *item, struct budget *budget, bool always)
{
    if (!item->chosen && (always || budget->left > 0)) {
        item->chosen = true;
        budget->left -= budget->left > 0 ? 1 : 0;
    }
}

static bool
is_marked(const struct sim_rows *rows, const struct sim_item *item)
{
    return item->kind == SIM_ITEM_ROW && rows->rows[item->row].marked;
}

/* First what is always shown; then the steps of the one it is about, its end first; then how it
 * began; then the rest, from the end. */
static void
choose_all(struct sim_plan *plan, const struct sim_rows *rows, const struct sim_interest *interest)
{
    struct budget budget = {interest->rows_max};
    uint32_t count = plan->count;
    for (uint32_t i = 0; i < count; i++) {
        plan->items[i].chosen = false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (is_marked(rows, &plan->items[i]) || i + LAST_SHOWN >= count) {
            choose(&plan->items[i], &budget, true);
        }
    }
    uint32_t of_part = PART_SHOWN;
    for (uint32_t i = count; i-- > 0 && of_part > 0;) {
        if (rows->rows[plan->items[i].row].part == interest->part) {
            choose(&plan->items[i], &budget, false);
            of_part--;
        }
    }
    for (uint32_t i = 0; i < count && i < HEAD_SHOWN; i++) {
        choose(&plan->items[i], &budget, false);
    }
    for (uint32_t i = count; i-- > 0;) {
        choose(&plan->items[i], &budget, false);
    }
}

/* Makes one gap of each run of items that were not chosen. */
static void
close_gaps(struct sim_plan *plan)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct sim_item item = plan->items[i];
        if (item.chosen) {
            plan->items[kept++] = item;
        } else if (kept > 0 && plan->items[kept - 1].kind == SIM_ITEM_GAP) {
            plan->items[kept - 1].rows += item.rows;
        } else {
            item.kind = SIM_ITEM_GAP;
            plan->items[kept++] = item;
        }
    }
    plan->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        struct sim_item *item = &plan->items[i];
        /* To say that one row is left out takes as much room as the row. */
        if (item->kind == SIM_ITEM_GAP && item->rows == 1) {
            item->kind = SIM_ITEM_ROW;
        }
    }
}

void
sim_plan_make(struct sim_plan *plan, struct sim_rows *rows, const struct sim_interest *interest)
{
    rt_assert(plan != NULL && rows != NULL);
    *plan = (struct sim_plan){0};
    mark_all(rows, interest);
    if (interest->rows_max == 0) {
        add_rows(plan, 0, rows->count);
        return;
    }
    fold(plan, rows);
    if (plan->count > interest->rows_max) {
        choose_all(plan, rows, interest);
        close_gaps(plan);
    }
}

void
sim_plan_free(struct sim_plan *plan)
{
    rt_assert(plan != NULL);
    free(plan->items);
    *plan = (struct sim_plan){0};
}
