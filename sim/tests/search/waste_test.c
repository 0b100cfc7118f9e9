/*
 * waste_test.c -- what a run did for nothing, counted from its events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/search/cover/waste.h"
#include "sim/tests/lab.h"

#define EVENTS 256u
#define TASK 11u
#define OTHER 12u
#define SLOT 100u

static struct sim_waste waste;

static struct {
    struct sim_event events[EVENTS];
    struct sim_recorder recorder;
} made;

static void
begin(void)
{
    memset(&made, 0, sizeof(made));
    made.recorder = (struct sim_recorder){.over = UINT64_MAX, .events_on = true};
    made.recorder.memory.events = made.events;
    made.recorder.memory.events_capacity = EVENTS;
}

static void
add(uint32_t kind, uint32_t object, uint32_t site, uint64_t argument)
{
    ck_assert_uint_lt(made.recorder.count, EVENTS);
    made.events[made.recorder.count++] = (struct sim_event){.kind = (uint8_t)kind,
            .actor = 1,
            .object = object,
            .site = site,
            .argument = argument};
}

/* How often `kind` was counted at `site`. */
static uint32_t
times(enum sim_waste_kind kind, uint32_t site)
{
    sim_waste_count(&waste, &made.recorder);
    for (uint32_t i = 0; i < waste.count; i++) {
        if (waste.places[i].kind == kind && waste.places[i].site == site) {
            return waste.places[i].times;
        }
    }
    return 0;
}

TEST(waste_of_a_wake_that_is_used_is_none)
{
    begin();
    for (uint32_t i = 0; i < 3; i++) {
        add(RT_PROBE_POLL, TASK, 0, 0);
        add(RT_PROBE_STORE, SLOT, 1, TASK);
        add(RT_PROBE_FIRE, SLOT, 2, TASK);
        add(RT_PROBE_WAKE, TASK, 2, 0);
    }
    sim_waste_count(&waste, &made.recorder);
    ck_assert_uint_eq(waste.total, 0);
}

TEST(waste_of_a_waker_that_a_later_poll_keeps_is_none)
{
    begin();
    add(RT_PROBE_POLL, TASK, 0, 0);
    add(RT_PROBE_STORE, SLOT, 1, TASK);
    add(RT_PROBE_POLL, TASK, 0, 0);
    add(RT_PROBE_KEEP, SLOT, 1, TASK);
    add(RT_PROBE_FIRE, SLOT, 2, TASK);
    add(RT_PROBE_WAKE, TASK, 2, 0);
    ck_assert_uint_eq(times(SIM_WASTE_STALE_WAKE, 1), 0);
}

TEST(waste_is_a_wake_by_a_waker_of_an_earlier_poll)
{
    begin();
    add(RT_PROBE_POLL, TASK, 0, 0);
    add(RT_PROBE_STORE, SLOT, 1, TASK);
    add(RT_PROBE_POLL, TASK, 0, 0);
    add(RT_PROBE_STORE, SLOT + 1, 1, TASK);
    add(RT_PROBE_FIRE, SLOT, 2, TASK);
    add(RT_PROBE_WAKE, TASK, 3, 0);
    ck_assert_uint_eq(times(SIM_WASTE_STALE_WAKE, 1), 1);
    ck_assert_uint_eq(waste.total, 1);
}

TEST(waste_of_a_combinators_own_waker_is_none)
{
    begin();
    add(RT_PROBE_POLL, TASK, 0, 0);
    add(RT_PROBE_STORE, SLOT, 1, TASK);
    add(RT_PROBE_POLL, TASK, 0, 0);
    add(RT_PROBE_FIRE, SLOT, 2, TASK);
    add(RT_PROBE_SUBWAKE, 77, 2, 0);
    add(RT_PROBE_WAKE, TASK, 3, 0);
    ck_assert_uint_eq(times(SIM_WASTE_STALE_WAKE, 1), 0);
}

TEST(waste_is_a_wake_after_the_end)
{
    begin();
    add(RT_PROBE_STORE, SLOT, 6, TASK);
    add(RT_PROBE_FIRE, SLOT, 7, TASK);
    add(RT_PROBE_WAKE_DEAD, 0, 5, 0);
    ck_assert_uint_eq(times(SIM_WASTE_DEAD_WAKE, 6), 1);
    add(RT_PROBE_WAKE_DEAD, TASK, 5, 0);
    add(RT_PROBE_WAKE_DEAD, TASK, 5, 0);
    ck_assert_uint_eq(times(SIM_WASTE_DEAD_WAKE, 5), 2);
}

/* Each poll leaves one behind: from the tenth on they are too many. */
TEST(waste_is_a_waker_on_a_pile)
{
    begin();
    for (uint32_t i = 0; i < 12; i++) {
        add(RT_PROBE_POLL, TASK, 0, 0);
        add(RT_PROBE_STORE, SLOT + i, 7, TASK);
    }
    ck_assert_uint_eq(times(SIM_WASTE_PILED_WAKER, 7), 3);
}

TEST(waste_of_many_waits_of_one_poll_is_none)
{
    begin();
    add(RT_PROBE_POLL, TASK, 0, 0);
    for (uint32_t i = 0; i < 40; i++) {
        add(RT_PROBE_STORE, SLOT + i, 7, TASK);
    }
    ck_assert_uint_eq(times(SIM_WASTE_PILED_WAKER, 7), 0);
}

TEST(waste_of_two_tasks_is_kept_apart)
{
    begin();
    add(RT_PROBE_POLL, TASK, 0, 0);
    add(RT_PROBE_STORE, SLOT, 1, TASK);
    add(RT_PROBE_POLL, OTHER, 0, 0);
    add(RT_PROBE_FIRE, SLOT, 2, TASK);
    add(RT_PROBE_WAKE, TASK, 2, 0);
    sim_waste_count(&waste, &made.recorder);
    ck_assert_uint_eq(waste.total, 0);
}

TEST(waste_is_a_turn_without_work)
{
    begin();
    for (uint32_t i = 0; i < 4; i++) {
        add(SIM_EVENT_BLOCK, 0, 9, 1);
        add(SIM_EVENT_UNBLOCK, 0, 9, 1);
        add(SIM_EVENT_REPORT, 50, 0, 0);
        if (i == 2) {
            add(SIM_EVENT_READ, 50, 10, 8);
        }
    }
    ck_assert_uint_eq(times(SIM_WASTE_IDLE_TURN, 9), 2);
}
