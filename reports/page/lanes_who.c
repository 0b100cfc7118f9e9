/*
 * lanes_who.c -- which actors have a lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/lanes_parts.h"

#include <string.h>

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

void
report_lanes_give(struct report_lanes *lanes, const struct report_lanes_plan *plan)
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
