/*
 * lanes.c -- a run as swim lanes: who has a lane, what is shown, and how high it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes.h"

#include <stdio.h>

#include "reports/base/grow.h"
#include "reports/page/measure.h"
#include "sim/tell/phrase.h"

#define LANE_MIN 130u
#define LANE_MAX 236u
#define SPACE 12u     /* Between two rows. */
#define LINES_MAX 16u /* Of a box. */
#define NAMED_MAX 3u  /* Actors that a fold names. */
#define MARKS_MAX 64u
#define STRIP 46u /* Height of what is said of a lost wake. */

/* ---- Text. ----------------------------------------------------------------------------------- */

static void
add_line(struct report_lanes *lanes, const char *text, size_t length, uint64_t event,
        enum report_tone tone)
{
    if (!report_grow(
                &lanes->lines, lanes->lines_count, &lanes->lines_capacity, sizeof(*lanes->lines))) {
        lanes->failed = true;
        return;
    }
    char *copy = strndup(text, length);
    lanes->failed = lanes->failed || copy == NULL;
    lanes->lines[lanes->lines_count++] =
            (struct report_line){.text = copy, .event = event, .tone = (uint8_t)tone};
}

/* Adds `text` broken to `width`, at most `most` lines; the last one says that there is more. */
static void
add_lines(struct report_lanes *lanes, const char *text, uint32_t width, uint32_t most,
        uint64_t event, enum report_tone tone)
{
    size_t left = strlen(text);
    width = tone == REPORT_LOST ? width * 7 / 8 : width; /* Bold letters are wider. */
    for (uint32_t i = 0; left > 0 && i < most; i++) {
        size_t next = left;
        size_t line = report_measure_break(text, left, REPORT_FONT, width, &next);
        if (i + 1 == most && next < left) {
            char cut[512];
            line = report_measure_fit(text, line, REPORT_FONT, width - REPORT_FONT);
            line = line < sizeof(cut) - 4 ? line : 0;
            (void)snprintf(cut, sizeof(cut), "%.*s\xe2\x80\xa6", (int)line, text);
            add_line(lanes, cut, strlen(cut), i == 0 ? event : SIM_EVENT_NONE, tone);
            return;
        }
        add_line(lanes, text, line, i == 0 ? event : SIM_EVENT_NONE, tone);
        text += next;
        left -= next;
    }
}

static struct report_item *
add_item(struct report_lanes *lanes, enum report_item_kind kind)
{
    if (!report_grow(
                &lanes->items, lanes->items_count, &lanes->items_capacity, sizeof(*lanes->items))) {
        lanes->failed = true;
        return &lanes->nowhere;
    }
    struct report_item *item = &lanes->items[lanes->items_count++];
    item->kind = (uint8_t)kind;
    item->line = lanes->lines_count;
    return item;
}

static uint32_t
box_room(const struct report_lanes *lanes)
{
    return lanes->lane_width - 2 * REPORT_MARGIN - 2 * REPORT_PAD;
}

static uint32_t
whole_room(const struct report_lanes *lanes)
{
    return lanes->lanes_count * lanes->lane_width - 2 * REPORT_PAD;
}

/* ---- Who has a lane. ------------------------------------------------------------------------- */

static bool
alike(const struct report_actor *a, const struct report_actor *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->kind, b->kind) == 0;
}

/* The actor of `run` that is called like `other`, and has no lane yet. */
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
give_lane(struct report_lanes *lanes, const struct report_actor *who, uint32_t actor)
{
    uint32_t lane = lanes->lanes_count;
    if (lane + 1 < REPORT_LANES_MAX) {
        lanes->lanes_count++;
        lanes->lanes[lane] =
                (struct report_lane){.title = who->name, .kind = who->kind, .actor = actor};
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

/* A lane that is called like `who`, and has nobody of the other run yet. */
static bool
has_lane(struct report_lanes *lanes, const struct report_actor *who)
{
    for (uint32_t i = 0; i < lanes->lanes_count; i++) {
        struct report_lane *lane = &lanes->lanes[i];
        if (!lane->shared && !lane->matched && strcmp(lane->title, who->name) == 0 &&
                strcmp(lane->kind, who->kind) == 0) {
            lane->matched = true;
            return true;
        }
    }
    return false;
}

/* Who is seen in `run`, in the order of their lanes there. */
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

/* Both runs get the same lanes: first those of the one that fails. Where there are too many, whose
 * wake is missing has one in any case. */
static void
give_lanes(struct report_lanes *lanes, const struct report_lanes_plan *plan)
{
    const struct report_run *run = lanes->run;
    for (uint32_t i = 0; i < run->actors_count; i++) {
        lanes->lane_of[i] = REPORT_LANE_NONE;
    }
    if (plan->second) {
        give_lanes_of(lanes, plan->beside);
    } else if (lanes->sleeper != REPORT_LANE_NONE && count_seen(run) > REPORT_LANES_MAX) {
        give_lane(lanes, &run->actors[lanes->sleeper], lanes->sleeper);
    }
    give_lanes_of(lanes, run);
    if (plan->beside != NULL && !plan->second) {
        give_lanes_of(lanes, plan->beside);
    }
}

/* ---- Boxes. ---------------------------------------------------------------------------------- */

static bool
is_blamed(const struct report_lanes *lanes, uint64_t step)
{
    for (uint32_t i = 0; i < lanes->blamed_count; i++) {
        if (lanes->blamed[i] == step && step != 0) {
            return true;
        }
    }
    return false;
}

/* "-> pending" is for terminals. */
static const char *
with_arrow(const char *words, char *room, size_t size)
{
    if (strncmp(words, "-> ", 3) != 0) {
        return words;
    }
    (void)snprintf(room, size, "\xe2\x86\x92 %s", words + 3);
    return room;
}

static void
add_event(struct report_lanes *lanes, uint64_t event, struct sim_page *words)
{
    char room[64];
    const struct report_run *run = lanes->run;
    const struct sim_event *what = sim_cast_event(&run->cast, event);
    sim_page_clear(words);
    if (!report_run_words(run, event, words)) {
        return;
    }
    enum report_tone tone = event == run->fate.culprit && lanes->sleeper != REPORT_LANE_NONE
                                    ? REPORT_LOST
                            : sim_phrase_woken(&run->cast, event) != SIM_PART_NONE ? REPORT_WAKE
                            : what->kind == RT_PROBE_POLLED                        ? REPORT_DIM
                                                                                   : REPORT_PLAIN;
    uint32_t line = lanes->lines_count;
    add_lines(lanes, with_arrow(sim_page_text(words), room, sizeof(room)), box_room(lanes), 5,
            event, tone);
    if (what->kind == RT_PROBE_POLL && what->cause != 0 && lanes->lines_count > line) {
        lanes->lines[line].link = what->cause;
    }
}

/* For a turn of which there is nothing to tell. */
static void
add_nothing(struct report_lanes *lanes, uint32_t actor)
{
    bool loop = lanes->run->cast.parts[actor].kind == SIM_ACTOR_LOOP;
    add_lines(lanes, loop ? "looks, and goes on" : "goes on", box_room(lanes), 1, SIM_EVENT_NONE,
            REPORT_DIM);
}

static void
end_box(struct report_lanes *lanes, struct report_item *item)
{
    item->lines = lanes->lines_count - item->line;
    if (item->lines == 0) {
        add_nothing(lanes, item->actor);
        item->lines = lanes->lines_count - item->line;
    }
    if (item->lines > LINES_MAX) {
        uint32_t more = item->lines - LINES_MAX + 1;
        char text[48];
        (void)snprintf(text, sizeof(text), "\xe2\x80\xa6 and %u lines more", more);
        for (uint32_t i = item->line + LINES_MAX - 1; i < lanes->lines_count; i++) {
            free(lanes->lines[i].text);
        }
        lanes->lines_count = item->line + LINES_MAX - 1;
        add_line(lanes, text, strlen(text), SIM_EVENT_NONE, REPORT_DIM);
        lanes->lines[lanes->lines_count - 1].link = item->step;
        item->lines = LINES_MAX;
    }
    item->height = item->lines * REPORT_LINE + 2 * REPORT_PAD;
    item->height = item->height > 2 * REPORT_LINE + 4 ? item->height : 2 * REPORT_LINE + 4;
}

static uint32_t
row_actor(const struct report_lanes *lanes, const struct sim_row *row)
{
    return row->part < lanes->run->actors_count ? row->part : 0;
}

/* One box for each stretch of events of one actor: a loop may poll several tasks in one step. */
static void
add_step(struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words)
{
    const struct report_run *run = lanes->run;
    uint32_t item = UINT32_MAX;
    uint32_t begun = lanes->items_count;
    for (uint64_t i = row->first; i < row->first + row->count && !lanes->failed; i++) {
        uint32_t actor = report_run_actor(run, i);
        sim_page_clear(words);
        if (!report_run_words(run, i, words)) {
            continue;
        }
        /* What the world says stands with whoever takes the step. */
        bool nobody = lanes->lane_of[actor] == REPORT_LANE_NONE;
        actor = !nobody              ? actor
                : item != UINT32_MAX ? lanes->items[item].actor
                                     : row_actor(lanes, row);
        if (item == UINT32_MAX || lanes->items[item].actor != actor) {
            if (item != UINT32_MAX) {
                end_box(lanes, &lanes->items[item]);
            }
            item = lanes->items_count;
            struct report_item *box = add_item(lanes, REPORT_ITEM_BOX);
            box->actor = actor;
            box->step = row->step;
        }
        add_event(lanes, i, words);
    }
    if (item == UINT32_MAX && !lanes->failed) {
        item = lanes->items_count;
        struct report_item *box = add_item(lanes, REPORT_ITEM_BOX);
        box->actor = row_actor(lanes, row);
        box->step = row->step;
    }
    if (lanes->failed) {
        return;
    }
    end_box(lanes, &lanes->items[item]);
    for (uint32_t i = begun; i < lanes->items_count; i++) {
        struct report_item *box = &lanes->items[i];
        box->first = i == begun;
        box->time_ns = row->time_ns;
        box->blamed = is_blamed(lanes, row->step);
        box->lane = lanes->lane_of[box->actor];
        box->lane = box->lane != REPORT_LANE_NONE ? box->lane : lanes->lanes_count - 1;
    }
}

/* ---- What stands across all lanes. ----------------------------------------------------------- */

static struct report_item *
add_across(struct report_lanes *lanes, enum report_item_kind kind, const char *text,
        enum report_tone tone)
{
    uint32_t item = lanes->items_count;
    (void)add_item(lanes, kind);
    add_lines(lanes, text, whole_room(lanes), 3, SIM_EVENT_NONE, tone);
    if (lanes->failed) {
        return &lanes->nowhere;
    }
    lanes->items[item].lines = lanes->lines_count - lanes->items[item].line;
    lanes->items[item].height = lanes->items[item].lines * REPORT_LINE + 2 * REPORT_PAD;
    return &lanes->items[item];
}

static void
add_jump(struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words)
{
    sim_page_clear(words);
    sim_page_put(words, "everybody waits; ");
    sim_page_time(words, row->gap_ns);
    sim_page_put(words, row->gap_ns == 1 ? " passes" : " pass");
    add_across(lanes, REPORT_ITEM_JUMP, sim_page_text(words), REPORT_DIM)->time_ns = row->time_ns;
}

static void
put_actors(struct report_lanes *lanes, const struct sim_item *item, uint32_t rows,
        struct sim_page *words)
{
    uint32_t seen[NAMED_MAX];
    uint32_t count = 0;
    bool more = false;
    for (uint32_t i = item->row; i < item->row + rows && i < lanes->rows.count; i++) {
        uint32_t part = lanes->rows.rows[i].part;
        bool known = lanes->rows.rows[i].kind != SIM_ROW_STEP || part >= lanes->run->actors_count;
        for (uint32_t k = 0; k < count; k++) {
            known = known || seen[k] == part;
        }
        if (!known && count < NAMED_MAX) {
            seen[count++] = part;
        } else {
            more = more || !known;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        sim_page_put(words, k == 0 ? "" : k + 1 == count && !more ? " and " : ", ");
        sim_page_clean(words, lanes->run->actors[seen[k]].name);
    }
    sim_page_put(words, more ? " and others" : "");
}

/* First and last step, and how many there are, of the rows that are left out. */
static uint32_t
range_of(const struct report_lanes *lanes, const struct sim_item *item, uint32_t *ret_first,
        uint32_t *ret_last)
{
    uint32_t steps = 0;
    *ret_first = 0;
    *ret_last = 0;
    for (uint32_t i = item->row; i < item->row + item->rows && i < lanes->rows.count; i++) {
        const struct sim_row *row = &lanes->rows.rows[i];
        if (row->kind == SIM_ROW_STEP && row->step != 0) {
            *ret_first = *ret_first == 0 ? row->step : *ret_first;
            *ret_last = row->step;
            steps++;
        }
    }
    return steps;
}

static void
add_fold(struct report_lanes *lanes, const struct sim_item *what, struct sim_page *words)
{
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t steps = range_of(lanes, what, &first, &last);
    bool fold = what->kind == SIM_ITEM_FOLD;
    const struct sim_row *end = &lanes->rows.rows[what->row + what->rows - 1];
    if (steps == 0) {
        return;
    }
    sim_page_clear(words);
    if (fold) {
        sim_page_printf(words, "%u steps like the ", steps);
        if (what->period == 1) {
            sim_page_put(words, "one above: ");
        } else {
            sim_page_printf(words, "%u above: ", what->period);
        }
        put_actors(lanes, what, what->period, words);
        sim_page_put(words, what->period == 1 ? " goes on" : " take turns");
    } else {
        sim_page_printf(words, "%u step%s left out: ", steps, steps == 1 ? "" : "s");
        put_actors(lanes, what, what->rows, words);
    }
    sim_page_printf(words, ", until step %u (", last);
    sim_page_time(words, end->time_ns);
    sim_page_put(words, ")");
    struct report_item *item = add_across(
            lanes, fold ? REPORT_ITEM_FOLD : REPORT_ITEM_GAP, sim_page_text(words), REPORT_DIM);
    item->step = first;
    item->until = last;
    item->time_ns = end->time_ns;
}

static void
add_end(struct report_lanes *lanes, uint32_t said, struct sim_page *words)
{
    uint32_t verdict = lanes->run->outcome.verdict;
    sim_page_clear(words);
    if (said == SIM_VERDICT_DEADLOCK) {
        sim_page_put(words, "the run stalls: nobody is left to take a step");
    } else if (said != verdict && sim_cast_limit(&lanes->run->cast) != SIM_VERDICT_PASS) {
        sim_page_printf(words, "the run is cut off: %s", sim_verdict_name(said));
    } else if (verdict == SIM_VERDICT_PASS) {
        sim_page_put(words, "everything is done: the run passes");
    } else {
        sim_page_printf(words, "the run ends: %s", sim_verdict_name(verdict));
    }
    (void)add_across(lanes, REPORT_ITEM_END, sim_page_text(words),
            verdict == SIM_VERDICT_PASS ? REPORT_PLAIN : REPORT_LOST);
}

/* ---- The wake that did not come. ------------------------------------------------------------- */

static void
add_lost(struct report_lanes *lanes, uint32_t owner, struct sim_page *words)
{
    bool itself = owner == lanes->sleeper;
    sim_page_clear(words);
    sim_page_put(words, itself ? "" : "the lost wake: here ");
    sim_page_clean(words, lanes->run->actors[lanes->sleeper].name);
    sim_page_put(words, itself ? " falls asleep, though it could go on: nobody wakes it"
                               : " should have been woken");
    uint32_t item = lanes->items_count;
    (void)add_item(lanes, REPORT_ITEM_LOST);
    add_lines(lanes, sim_page_text(words), whole_room(lanes), 1, SIM_EVENT_NONE, REPORT_LOST);
    if (!lanes->failed) {
        lanes->items[item].lines = lanes->lines_count - lanes->items[item].line;
        lanes->items[item].height = STRIP;
        lanes->items[item].actor = owner;
        lanes->items[item].lane = lanes->lane_of[owner];
    }
}

/* ---- The foot of a lane: how it ends for whom. ----------------------------------------------- */

static bool
put_waiting(const struct report_lanes *lanes, uint32_t actor, struct sim_page *words)
{
    const struct sim_wait *wait = NULL;
    do {
        wait = sim_ledger_open_of(&lanes->run->ledger, actor, wait);
    } while (wait != NULL && wait->kind == SIM_WAIT_HOST);
    if (wait == NULL) {
        return false;
    }
    sim_page_put(words, " for ");
    if (wait->kind == SIM_WAIT_CLONE) {
        sim_page_put(words, "whoever has its waker");
    } else {
        sim_cast_put_wanted(&lanes->run->cast, words, wait->object, wait->reason, actor);
    }
    if (wait->unknown == 0) {
        sim_page_printf(words, " since step %u", wait->store_step);
    }
    return true;
}

static void
add_foot(struct report_lanes *lanes, struct report_lane *lane, struct sim_page *words)
{
    const struct report_actor *actor =
            lane->actor != REPORT_LANE_NONE ? &lanes->run->actors[lane->actor] : NULL;
    lane->line = lanes->lines_count;
    if (actor == NULL || actor->finished || strcmp(actor->kind, "task") != 0) {
        return;
    }
    bool failed = lanes->run->outcome.verdict != SIM_VERDICT_PASS;
    sim_page_clear(words);
    sim_page_put(words, lane->lost ? "sleeps for ever, waits" : failed ? "waits" : "still waits");
    if (put_waiting(lanes, lane->actor, words) || lane->lost) {
        add_lines(lanes, sim_page_text(words), box_room(lanes), 6, SIM_EVENT_NONE,
                lane->lost ? REPORT_LOST : REPORT_DIM);
    }
    lane->lines = lanes->lines_count - lane->line;
}

/* ---- All of it. ------------------------------------------------------------------------------ */

/* Steps that are shown in any case. */
static uint32_t
collect_marks(const struct report_lanes *lanes, uint64_t marks[MARKS_MAX])
{
    const struct report_run *run = lanes->run;
    uint32_t count = 0;
    const uint64_t events[] = {run->fate.poll, run->fate.culprit, run->fate.owed};
    if (run->fate.wait != NULL) {
        marks[count++] = run->fate.wait->store_step;
    }
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i] != SIM_EVENT_NONE) {
            marks[count++] = sim_cast_event(&run->cast, events[i])->step;
        }
    }
    for (uint64_t step = lanes->parts > 1 ? lanes->parts - 1 : lanes->parts;
            step != 0 && step < lanes->parts + 2; step++) {
        marks[count++] = step;
    }
    for (uint32_t i = 0; i < lanes->blamed_count && count < MARKS_MAX; i++) {
        marks[count++] = lanes->blamed[i];
    }
    return count;
}

static rt_err
make_plan(struct report_lanes *lanes, uint32_t rows_max)
{
    uint64_t marks[MARKS_MAX];
    struct sim_interest interest = {
            .part = sim_cast_actor(&lanes->run->cast, lanes->run->outcome.actor),
            .owed_step = lanes->owed,
            .steps = marks,
            .steps_count = collect_marks(lanes, marks),
            .rows_max = rows_max,
    };
    rt_err err = sim_rows_make(&lanes->rows, &lanes->run->cast);
    return err == RT_OK ? sim_plan_make(&lanes->plan, &lanes->rows, &interest) : err;
}

static void
add_row(struct report_lanes *lanes, const struct sim_row *row, struct sim_page *words)
{
    if (row->kind == SIM_ROW_JUMP) {
        add_jump(lanes, row, words);
    } else if (row->kind == SIM_ROW_END) {
        add_end(lanes, (uint32_t)sim_cast_event(&lanes->run->cast, row->first)->argument, words);
    } else if (row->step != 0) {
        uint32_t begun = lanes->items_count;
        if (row->step == lanes->parts) {
            (void)add_across(lanes, REPORT_ITEM_PART, "here the two runs part", REPORT_PLAIN);
        }
        add_step(lanes, row, words);
        if (row->step == lanes->owed && lanes->sleeper != REPORT_LANE_NONE && !lanes->failed &&
                lanes->items_count > begun) {
            uint32_t owner = row->part < lanes->run->actors_count ? row->part : 0;
            if (lanes->lane_of[owner] == REPORT_LANE_NONE) {
                owner = lanes->items[lanes->items_count - 1].actor;
            }
            add_lost(lanes, owner, words);
        }
    }
}

static void
add_all(struct report_lanes *lanes, struct sim_page *words)
{
    bool ended = false;
    for (uint32_t i = 0; i < lanes->plan.count && !lanes->failed; i++) {
        const struct sim_item *item = &lanes->plan.items[i];
        const struct sim_row *row = &lanes->rows.rows[item->row];
        if (item->kind == SIM_ITEM_ROW) {
            ended = ended || row->kind == SIM_ROW_END;
            add_row(lanes, row, words);
        } else {
            add_fold(lanes, item, words);
        }
    }
    if (!ended && !lanes->failed) {
        add_end(lanes, lanes->run->outcome.verdict, words); /* It died, or was killed. */
    }
    for (uint32_t i = 0; i < lanes->lanes_count && !lanes->failed; i++) {
        lanes->lanes[i].lost = lanes->sleeper != REPORT_LANE_NONE &&
                               lanes->lane_of[lanes->sleeper] == i && !lanes->lanes[i].shared;
        add_foot(lanes, &lanes->lanes[i], words);
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
    uint32_t part = sim_cast_actor(&run->cast, run->outcome.actor);
    bool lost = (run->outcome.verdict == SIM_VERDICT_LOST_WAKEUP ||
                        run->outcome.verdict == SIM_VERDICT_LATE_WAKEUP) &&
                part < run->actors_count;
    *lanes = (struct report_lanes){
            .run = run,
            .sleeper = lost ? part : REPORT_LANE_NONE,
            .owed = lost ? run->outcome.owed_step : 0,
            .parts = plan->parts,
            .blamed = plan->blamed,
            .blamed_count = plan->blamed_count,
            .head_height = 2 * REPORT_LINE + 22,
    };
    lanes->lane_of = calloc((size_t)run->actors_count + 1, sizeof(*lanes->lane_of));
    if (lanes->lane_of == NULL || run->steps_count == 0) {
        return RT_E_FULL;
    }
    give_lanes(lanes, plan);
    if (lanes->lanes_count == 0) {
        return RT_E_FULL;
    }
    uint32_t width = (plan->width - REPORT_GUTTER) / lanes->lanes_count;
    lanes->lane_width = width < LANE_MIN ? LANE_MIN : width > LANE_MAX ? LANE_MAX : width;
    struct sim_page words;
    sim_page_init(&words, false);
    rt_err err = make_plan(lanes, plan->rows_max);
    if (err == RT_OK) {
        add_all(lanes, &words);
        give_heights(lanes);
    }
    bool failed = lanes->failed || words.failed;
    sim_page_fini(&words);
    return failed ? RT_E_FULL : err;
}

void
report_lanes_free(struct report_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->lines_count; i++) {
        free(lanes->lines[i].text);
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
