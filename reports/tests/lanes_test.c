/*
 * lanes_test.c -- who gets a lane, what is shown in it, and where the lost wake stands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes.h"

#include <string.h>

#include "sim/tests/store/store_box.h"

#define TASK(n) SIM_OBJECT(RT_OBJECT_TASK, 0, n)
#define STEPS 40u
#define SLOT SIM_OBJECT(RT_OBJECT_SLOT, 2, 0)

static void
add(struct sim_recorder *recorder, uint32_t step, uint16_t actor, uint32_t kind, uint32_t object,
        uint64_t argument)
{
    const struct sim_event event = {.step = step,
            .actor = actor,
            .kind = (uint8_t)kind,
            .object = object,
            .argument = argument};
    sim_record(recorder, &event);
}

static void
add_poll(struct sim_recorder *recorder, uint32_t step, uint16_t actor)
{
    add(recorder, step, actor, SIM_EVENT_STEP, 0, step * 100);
    add(recorder, step, actor, RT_PROBE_POLL, TASK(actor), 0);
}

/* Actor 2 is blocked, actor 1 wakes an empty slot, time passes, and no actor can continue. The
 * picture says that step 5 should have sent the wake. */
static void
tell(struct sim_recorder *recorder)
{
    for (uint16_t actor = 1; actor <= 2; actor++) {
        add(recorder, 0, actor, SIM_EVENT_ACTOR, TASK(actor), (uint64_t)SIM_ACTOR_TASK << 32);
    }
    add_poll(recorder, 1, 2);
    add(recorder, 1, 2, RT_PROBE_STORE, SLOT, TASK(2));
    add(recorder, 1, 2, RT_PROBE_POLLED, TASK(2), 0);
    for (uint32_t step = 2; step <= STEPS; step++) {
        add_poll(recorder, step, 1);
        add(recorder, step, 1, RT_PROBE_FIRE_EMPTY, step == 5 ? SLOT : SLOT + step, 0);
        add(recorder, step, 1, RT_PROBE_POLLED, TASK(1), step == STEPS);
    }
    add(recorder, STEPS, 0, SIM_EVENT_END, 0, SIM_VERDICT_DEADLOCK);
    box_say(recorder, SIM_TEXT_ACTOR, 1, "writer");
    box_say(recorder, SIM_TEXT_ACTOR, 2, "reader");
}

static uint32_t
count(const struct report_lanes *lanes, enum report_item_kind kind)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < lanes->items_count; i++) {
        found += lanes->items[i].kind == kind;
    }
    return found;
}

static void
expect_rows_apart(const struct report_lanes *lanes)
{
    for (uint32_t i = 1; i < lanes->items_count; i++) {
        const struct report_item *before = &lanes->items[i - 1];
        ck_assert_uint_ge(lanes->items[i].y, before->y + before->height);
    }
    ck_assert_uint_lt(lanes->foot_y, lanes->height);
}

static struct report_run run;
static struct report_lanes lanes;

static void
load(struct sim_store *store, const struct report_places *places)
{
    struct sim_recorder recorder = box_recorder();
    tell(&recorder);
    MUST(report_run_load(store, box_store_run(store, &recorder), places, &run));
}

TEST(lanes_lost_wake_stands_behind_the_step_that_owed_it)
{
    struct sim_store *store = box_new();
    const struct report_places places = {.count = 0};
    load(store, &places);
    const struct report_lanes_plan plan = {.run = &run, .rows_max = 0, .width = 900};
    EXPECT_EQ(report_lanes_make(&lanes, &plan), RT_OK);
    EXPECT_EQ(lanes.lanes_count, 2);
    EXPECT_EQ(count(&lanes, REPORT_ITEM_BOX), STEPS);
    EXPECT_EQ(count(&lanes, REPORT_ITEM_LOST), 1);
    EXPECT_EQ(count(&lanes, REPORT_ITEM_END), 1);
    for (uint32_t i = 1; i < lanes.items_count; i++) {
        if (lanes.items[i].kind == REPORT_ITEM_LOST) {
            EXPECT_EQ(lanes.items[i - 1].step, 5);
            EXPECT(strstr(lanes.lines[lanes.items[i].line].text, "reader should have been woken"));
        }
    }
    EXPECT(lanes.lanes[lanes.lane_of[2]].lost);
    EXPECT(lanes.lanes[lanes.lane_of[2]].lines > 0); /* How it ends for it. */
    EXPECT(!lanes.lanes[lanes.lane_of[1]].lost);
    EXPECT_EQ(report_lanes_anchor(&lanes, 7), 7);
    EXPECT_EQ(report_lanes_anchor(&lanes, STEPS + 1), 0);
    expect_rows_apart(&lanes);
    report_lanes_free(&lanes);
    report_run_free(&run);
    sim_store_close(&store);
}

TEST(lanes_too_many_rows_are_left_out_and_it_is_said)
{
    struct sim_store *store = box_new();
    const struct report_places places = {.count = 0};
    load(store, &places);
    const uint64_t causes[] = {1};
    const struct report_lanes_plan plan = {
            .run = &run, .rows_max = 4, .width = 900, .causes = causes, .causes_count = 1};
    EXPECT_EQ(report_lanes_make(&lanes, &plan), RT_OK);
    EXPECT(count(&lanes, REPORT_ITEM_GAP) + count(&lanes, REPORT_ITEM_FOLD) > 0);
    EXPECT(count(&lanes, REPORT_ITEM_BOX) < STEPS);
    EXPECT_EQ(report_lanes_anchor(&lanes, 1), 1); /* A step of the explanation is always shown. */
    for (uint32_t step = 1; step <= STEPS; step++) {
        ck_assert_uint_ne(report_lanes_anchor(&lanes, step), 0);
    }
    expect_rows_apart(&lanes);
    report_lanes_free(&lanes);
    report_run_free(&run);
    sim_store_close(&store);
}

TEST(lanes_of_both_runs_are_the_same)
{
    struct sim_store *store = box_new();
    const struct report_places places = {.count = 0};
    static struct report_run other;
    static struct report_lanes beside;
    struct sim_recorder recorder = box_recorder();
    load(store, &places);
    /* In the other run the writer is first, and has one more actor. */
    add(&recorder, 0, 1, SIM_EVENT_ACTOR, TASK(1), (uint64_t)SIM_ACTOR_TASK << 32);
    add(&recorder, 0, 2, SIM_EVENT_ACTOR, TASK(2), (uint64_t)SIM_ACTOR_TASK << 32);
    add_poll(&recorder, 1, 1);
    add_poll(&recorder, 2, 2);
    box_say(&recorder, SIM_TEXT_ACTOR, 1, "guest");
    box_say(&recorder, SIM_TEXT_ACTOR, 2, "writer");
    MUST(report_run_load(store, box_store_run(store, &recorder), &places, &other));
    struct report_lanes_plan plan = {.run = &run, .beside = &other, .width = 900};
    EXPECT_EQ(report_lanes_make(&lanes, &plan), RT_OK);
    plan.run = &other;
    plan.beside = &run;
    plan.second = true;
    EXPECT_EQ(report_lanes_make(&beside, &plan), RT_OK);
    EXPECT_EQ(lanes.lanes_count, 3);
    EXPECT_EQ(beside.lanes_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_STR(lanes.lanes[i].title, beside.lanes[i].title);
    }
    EXPECT_EQ(lanes.lane_width, beside.lane_width);
    EXPECT_EQ(lanes.lane_of[1], beside.lane_of[2]); /* writer */
    report_lanes_free(&lanes);
    report_lanes_free(&beside);
    report_run_free(&run);
    report_run_free(&other);
    sim_store_close(&store);
}

/* Goal: what both runs have is side by side, so that a reader sees where they differ.
 * Method: two pictures of three rows with other heights; step 3 is a row of the first alone. */
TEST(lanes_of_both_runs_are_aligned_until_they_diverge)
{
    struct report_item left[] = {
            {.kind = REPORT_ITEM_BOX, .first = true, .step = 1, .y = 10},
            {.kind = REPORT_ITEM_BOX, .first = true, .step = 2, .y = 50},
            {.kind = REPORT_ITEM_BOX, .first = true, .step = 3, .y = 90},
            {.kind = REPORT_ITEM_DIVERGE, .y = 130},
            {.kind = REPORT_ITEM_BOX, .first = true, .step = 4, .y = 150},
    };
    struct report_item right[] = {
            {.kind = REPORT_ITEM_BOX, .first = true, .step = 1, .y = 10},
            {.kind = REPORT_ITEM_BOX, .first = true, .step = 2, .y = 70},
            {.kind = REPORT_ITEM_DIVERGE, .y = 100},
            {.kind = REPORT_ITEM_BOX, .first = true, .step = 4, .y = 130},
    };
    struct report_lanes fails = {
            .items = left, .items_count = 5, .diverge = 4, .foot_y = 190, .height = 200};
    struct report_lanes passes = {
            .items = right, .items_count = 4, .diverge = 4, .foot_y = 170, .height = 180};
    report_lanes_align(&fails, &passes);
    EXPECT_EQ(left[1].y, 70);
    EXPECT_EQ(right[1].y, 70);
    EXPECT_EQ(left[3].y, 150);
    EXPECT_EQ(right[2].y, 150);
    EXPECT_EQ(right[3].y, 180);
    EXPECT_EQ(fails.height, 220);
    EXPECT_EQ(passes.height, 230);
}
