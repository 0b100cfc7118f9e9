/*
 * lanes.c -- a run as swim lanes: which rows are shown, and their heights.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "reports/page/lanes_items.h"
#include "sim/base/heap.h"

#define LANE_MIN 130u
#define LANE_MAX 236u
#define SPACE 12u /* Between two rows. */
#define MARKS_MAX 64u

/* ---- Which actors have a lane. --------------------------------------------------------------- */

static bool
alike(const struct report_actor *a, const struct report_actor *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->kind, b->kind) == 0;
}

/* The actor with the name of `other` that has no lane yet. */
static uint32_t
find_alike(const struct report_lanes *lanes, const struct report_actor *other)
{
    for (uint32_t i = 0; i < lanes->run->actors_count; i++) {
        if (lanes->lane_of[i] == REPORT_LANE_NONE && alike(&lanes->run->actors[i], other)) {
            return i;
        }
    }
    return REPORT_LANE_NONE;
}

static void
give_lane(struct report_lanes *lanes, const struct report_actor *named, uint32_t actor)
{
    uint32_t lane = lanes->lanes_count;
    if (lane + 1 < REPORT_LANES_MAX) {
        lanes->lanes_count++;
        lanes->lanes[lane] =
                (struct report_lane){.title = named->name, .kind = named->kind, .actor = actor};
    } else {
        lane = REPORT_LANES_MAX - 1;
        lanes->lanes_count = REPORT_LANES_MAX;
        lanes->lanes[lane] = (struct report_lane){
                .title = "others", .kind = "", .actor = REPORT_LANE_NONE, .shared = true};
    }
    if (actor != REPORT_LANE_NONE) {
        lanes->lane_of[actor] = lane;
    }
}

/* Marks a lane with the name of `named` that has no actor of the other run yet. */
static bool
has_lane(struct report_lanes *lanes, const struct report_actor *named)
{
    for (uint32_t i = 0; i < lanes->lanes_count; i++) {
        struct report_lane *lane = &lanes->lanes[i];
        if (!lane->shared && !lane->matched && strcmp(lane->title, named->name) == 0 &&
                strcmp(lane->kind, named->kind) == 0) {
            lane->matched = true;
            return true;
        }
    }
    return false;
}

/* The actors that are seen in `run`, in the order of their lanes there. */
static void
give_lanes_of(struct report_lanes *lanes, const struct report_run *run)
{
    bool own = run == lanes->run;
    for (uint32_t place = 0; place < run->actors_count; place++) {
        for (uint32_t i = 0; i < run->actors_count; i++) {
            const struct report_actor *actor = &run->actors[i];
            if (actor->lane != place || !actor->seen) {
                continue;
            }
            if (own && lanes->lane_of[i] == REPORT_LANE_NONE) {
                give_lane(lanes, actor, i);
            } else if (!own && !has_lane(lanes, actor)) {
                give_lane(lanes, actor, find_alike(lanes, actor));
                lanes->lanes[lanes->lanes_count - 1].matched = true;
            }
        }
    }
}

static uint32_t
count_seen(const struct report_run *run)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < run->actors_count; i++) {
        seen += run->actors[i].seen;
    }
    return seen;
}

/* Both runs get the same lanes: first those of the failing run. The task whose wake is missing
 * always has one. */
static void
give_all_lanes(struct report_lanes *lanes, const struct report_lanes_plan *plan)
{
    const struct report_run *run = lanes->run;
    for (uint32_t i = 0; i < run->actors_count; i++) {
        lanes->lane_of[i] = REPORT_LANE_NONE;
    }
    if (plan->second) {
        give_lanes_of(lanes, plan->beside);
    } else if (lanes->waiter != REPORT_LANE_NONE && count_seen(run) > REPORT_LANES_MAX) {
        give_lane(lanes, &run->actors[lanes->waiter], lanes->waiter);
    }
    give_lanes_of(lanes, run);
    if (plan->beside != NULL && !plan->second) {
        give_lanes_of(lanes, plan->beside);
    }
}

/* ---- Which rows are shown. ------------------------------------------------------------------- */

/* Steps that are always shown. */
static uint32_t
collect_marks(const struct report_lanes *lanes, uint64_t marks[MARKS_MAX])
{
    const struct report_run *run = lanes->run;
    uint32_t count = 0;
    const uint64_t events[] = {
            run->wake_outcome.poll, run->wake_outcome.root_cause, run->wake_outcome.owed};
    if (run->wake_outcome.wait != NULL) {
        marks[count++] = run->wake_outcome.wait->store_step;
    }
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i] != SIM_EVENT_NONE) {
            marks[count++] = sim_actor_table_event(&run->actor_table, events[i])->step;
        }
    }
    for (uint64_t step = lanes->diverge > 1 ? lanes->diverge - 1 : lanes->diverge;
            step != 0 && step < lanes->diverge + 2; step++) {
        marks[count++] = step;
    }
    if (lanes->decision[0] != '\0' && lanes->decided != 0) {
        marks[count++] = lanes->decided;
    }
    for (uint32_t i = 0; i < lanes->causes_count && count < MARKS_MAX; i++) {
        marks[count++] = lanes->causes[i];
    }
    return count;
}

static void
make_plan(struct report_lanes *lanes, uint32_t rows_max)
{
    uint64_t marks[MARKS_MAX];
    struct sim_interest interest = {
            .part = sim_actor_table_actor(&lanes->run->actor_table, lanes->run->outcome.actor),
            .missing_wake_step = lanes->missing.step,
            .steps = marks,
            .steps_count = collect_marks(lanes, marks),
            .rows_max = rows_max,
    };
    sim_rows_make(&lanes->rows, &lanes->run->actor_table);
    sim_plan_make(&lanes->plan, &lanes->rows, &interest);
}

static void
add_row(struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words)
{
    if (row->kind == SIM_ROW_JUMP) {
        report_lanes_add_jump(lanes, row, words);
    } else if (row->kind == SIM_ROW_END) {
        report_lanes_add_end(lanes,
                (uint32_t)sim_actor_table_event(&lanes->run->actor_table, row->first)->argument,
                words);
    } else if (row->step != 0) {
        uint32_t begun = lanes->items_count;
        report_lanes_add_divergence(lanes, row->step, words);
        report_lanes_add_step(lanes, row, words);
        if (row->step == lanes->missing.step && lanes->waiter != REPORT_LANE_NONE &&
                lanes->items_count > begun) {
            uint32_t owner = row->part < lanes->run->actors_count ? row->part : 0;
            if (lanes->lane_of[owner] == REPORT_LANE_NONE) {
                owner = lanes->items[lanes->items_count - 1].actor;
            }
            report_lanes_add_lost(lanes, owner, words);
        }
    }
}

static void
add_all(struct report_lanes *lanes, struct sim_page *words)
{
    bool ended = false;
    if (lanes->decided == 0) {
        report_lanes_add_divergence(lanes, 0, words);
    }
    for (uint32_t i = 0; i < lanes->plan.count; i++) {
        const struct sim_item *item = &lanes->plan.items[i];
        const struct sim_row *row = &lanes->rows.rows[item->row];
        if (item->kind == SIM_ITEM_ROW) {
            ended = ended || row->kind == SIM_ROW_END;
            add_row(lanes, row, words);
        } else {
            report_lanes_add_fold(lanes, item, words);
        }
    }
    if (!ended) {
        report_lanes_add_end(lanes, lanes->run->outcome.verdict, words); /* The process died. */
    }
    for (uint32_t i = 0; i < lanes->lanes_count; i++) {
        lanes->lanes[i].lost = lanes->waiter != REPORT_LANE_NONE &&
                               lanes->lane_of[lanes->waiter] == i && !lanes->lanes[i].shared;
        report_lanes_add_foot(lanes, &lanes->lanes[i], words);
    }
}

static void
give_heights(struct report_lanes *lanes)
{
    uint32_t y = lanes->head_height;
    uint32_t foot = 0;
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        lanes->items[i].y = y;
        y += lanes->items[i].height + SPACE;
    }
    for (uint32_t i = 0; i < lanes->lanes_count; i++) {
        foot = lanes->lanes[i].lines > foot ? lanes->lanes[i].lines : foot;
    }
    lanes->foot_y = y;
    lanes->height = y + (foot > 0 ? foot * REPORT_LINE + 2 * REPORT_PAD + 4 : 4);
    lanes->width = REPORT_GUTTER + lanes->lanes_count * lanes->lane_width + 2;
}

rt_err
report_lanes_make(struct report_lanes *lanes, const struct report_lanes_plan *plan)
{
    const struct report_run *run = plan->run;
    uint32_t part = sim_actor_table_actor(&run->actor_table, run->outcome.actor);
    bool lost = (run->outcome.verdict == SIM_VERDICT_LOST_WAKEUP ||
                        run->outcome.verdict == SIM_VERDICT_LATE_WAKEUP) &&
                part < run->actors_count;
    *lanes = (struct report_lanes){
            .run = run,
            .waiter = lost ? part : REPORT_LANE_NONE,
            .diverge = plan->diverge,
            .decided = plan->decided,
            .decision = plan->decision != NULL ? plan->decision : "",
            .causes = plan->causes,
            .causes_count = plan->causes_count,
            .head_height = 2 * REPORT_LINE + 22,
    };
    if (lost) {
        sim_missing_find(&run->actor_table, &run->outcome, &lanes->missing);
    }
    if (run->steps_count == 0) {
        return RT_E_FULL;
    }
    lanes->lane_of = sim_heap_new(run->actors_count, sizeof(*lanes->lane_of));
    give_all_lanes(lanes, plan);
    if (lanes->lanes_count == 0) {
        return RT_E_FULL;
    }
    uint32_t width = (plan->width - REPORT_GUTTER) / lanes->lanes_count;
    lanes->lane_width = width < LANE_MIN ? LANE_MIN : width > LANE_MAX ? LANE_MAX : width;
    struct sim_page words;
    sim_page_init(&words, false);
    make_plan(lanes, plan->rows_max);
    add_all(lanes, &words);
    give_heights(lanes);
    sim_page_fini(&words);
    return RT_OK;
}

/* ---- Two runs side by side. ------------------------------------------------------------------ */

/* The row of `lanes` from `from` on that is beside `item`; items_count: none is. */
static uint32_t
find_beside(const struct report_lanes *lanes, uint32_t from, const struct report_item *item)
{
    while (from < lanes->items_count) {
        const struct report_item *other = &lanes->items[from];
        bool same = item->kind != REPORT_ITEM_BOX || (other->first && other->step == item->step);
        if (other->kind == item->kind && same) {
            break;
        }
        from++;
    }
    return from;
}

static void
move_down(struct report_lanes *lanes, uint32_t from, uint32_t by)
{
    for (uint32_t i = from; i < lanes->items_count; i++) {
        lanes->items[i].y += by;
    }
    lanes->foot_y += by;
    lanes->height += by;
}

void
report_lanes_align(struct report_lanes *lanes, struct report_lanes *beside)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        const struct report_item *item = &lanes->items[i];
        bool common = item->kind == REPORT_ITEM_BOX && item->first && item->step < lanes->diverge;
        if (!common && item->kind != REPORT_ITEM_DIVERGE) {
            continue;
        }
        uint32_t other = find_beside(beside, next, item);
        if (other < beside->items_count) {
            uint32_t y = beside->items[other].y;
            next = other + 1;
            if (item->y < y) {
                move_down(lanes, i, y - item->y);
            } else {
                move_down(beside, other, item->y - y);
            }
        }
    }
}

void
report_lanes_free(struct report_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->lines_count; i++) {
        free(lanes->lines[i].text);
        free(lanes->lines[i].whole);
    }
    free(lanes->lines);
    free(lanes->items);
    free(lanes->lane_of);
    sim_rows_free(&lanes->rows);
    sim_plan_free(&lanes->plan);
    *lanes = (struct report_lanes){.lanes_count = 0};
}

uint32_t
report_lanes_anchor(const struct report_lanes *lanes, uint64_t step)
{
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        const struct report_item *item = &lanes->items[i];
        bool folded = item->kind == REPORT_ITEM_FOLD || item->kind == REPORT_ITEM_GAP;
        if (item->kind == REPORT_ITEM_BOX && item->step == step) {
            return item->step;
        }
        if (folded && item->step <= step && step <= item->until) {
            return item->step;
        }
    }
    return 0;
}
