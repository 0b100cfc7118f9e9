/*
 * footprint_test.c -- which events conflict.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/core/record/footprint.h"

#define TASK_A SIM_OBJECT(RT_OBJECT_TASK, 0, 1)
#define TASK_B SIM_OBJECT(RT_OBJECT_TASK, 0, 2)
#define SLOT SIM_OBJECT(RT_OBJECT_SLOT, 0, 1)
#define SOURCE_A SIM_OBJECT(RT_OBJECT_SOURCE, 0, 1)
#define SOURCE_B SIM_OBJECT(RT_OBJECT_SOURCE, 0, 2)
#define TIMER_A SIM_OBJECT(RT_OBJECT_TIMER, 0, 1)
#define TIMER_B SIM_OBJECT(RT_OBJECT_TIMER, 0, 2)

/* Whether events of the two kinds on the two objects conflict; checked both ways. */
static bool
conflict(uint32_t kind_a, uint32_t object_a, uint32_t kind_b, uint32_t object_b)
{
    const struct sim_event a = {.kind = (uint8_t)kind_a, .object = object_a};
    const struct sim_event b = {.kind = (uint8_t)kind_b, .object = object_b};
    bool answer = sim_events_conflict(&a, &b);
    EXPECT(sim_events_conflict(&b, &a) == answer);
    return answer;
}

/* Goal: the relation is that of footprint.h. */
TEST(footprint_wakes_of_one_task_conflict_and_of_two_do_not)
{
    EXPECT(conflict(RT_PROBE_WAKE, TASK_A, RT_PROBE_POLL, TASK_A));
    EXPECT(conflict(RT_PROBE_WAKE, TASK_A, RT_PROBE_WAKE, TASK_A));
    EXPECT(!conflict(RT_PROBE_WAKE, TASK_A, RT_PROBE_WAKE, TASK_B));
    EXPECT(!conflict(RT_PROBE_WAKE, TASK_A, RT_PROBE_POLL, TASK_B));
    EXPECT(conflict(RT_PROBE_WAKE_DEAD, 0, RT_PROBE_COMPLETE, TASK_A));
    EXPECT(!conflict(RT_PROBE_COMPLETE, TASK_B, RT_PROBE_COMPLETE, TASK_A));
}

TEST(footprint_slots_take_one_at_a_time_unless_both_find_them_empty)
{
    EXPECT(conflict(RT_PROBE_STORE, SLOT, RT_PROBE_FIRE, SLOT));
    EXPECT(conflict(RT_PROBE_STORE, SLOT, RT_PROBE_FIRE_EMPTY, SLOT));
    EXPECT(!conflict(RT_PROBE_FIRE_EMPTY, SLOT, RT_PROBE_FIRE_EMPTY, SLOT));
    EXPECT(!conflict(RT_PROBE_STORE, SLOT, RT_PROBE_FIRE, SLOT + 1));
}

TEST(footprint_time_is_read_and_moved)
{
    EXPECT(conflict(RT_PROBE_ARM, TIMER_A, RT_PROBE_ARM, TIMER_B));
    EXPECT(conflict(RT_PROBE_ARM, TIMER_A, SIM_EVENT_SLOW, 0));
    EXPECT(conflict(RT_PROBE_ASK, TASK_A, SIM_EVENT_SLOW, 0));
    EXPECT(!conflict(RT_PROBE_DISARM, TIMER_A, RT_PROBE_EXPIRE, TIMER_B));
    EXPECT(conflict(RT_PROBE_DISARM, TIMER_A, RT_PROBE_EXPIRE, TIMER_A));
    EXPECT(conflict(SIM_EVENT_CLOCK, 0, SIM_EVENT_STEP, 0));
    EXPECT(!conflict(SIM_EVENT_STEP, 0, SIM_EVENT_STEP, 0));
}

TEST(footprint_sources_become_ready_in_any_order_unless_a_turn_reads_it)
{
    EXPECT(!conflict(SIM_EVENT_READY, SOURCE_A, SIM_EVENT_READY, SOURCE_B));
    EXPECT(conflict(SIM_EVENT_READY, SOURCE_A, RT_PROBE_TURN, 0));
    EXPECT(!conflict(RT_PROBE_TURN, 0, RT_PROBE_TURN, 0));
    EXPECT(conflict(SIM_EVENT_READY, SOURCE_A, SIM_EVENT_REPORT, SOURCE_A));
    EXPECT(conflict(SIM_EVENT_WRITE, SOURCE_A, SIM_EVENT_READY, SOURCE_B));
    EXPECT(!conflict(SIM_EVENT_WRITE, SOURCE_A, SIM_EVENT_WRITE, SOURCE_B));
}

/* Goal: events that are only for reports conflict with nothing. */
TEST(footprint_of_reports_is_empty)
{
    struct sim_access accesses[SIM_ACCESSES_MAX];
    static const uint32_t words[] = {SIM_EVENT_LOG, SIM_EVENT_OUT, SIM_EVENT_GOAL,
            SIM_EVENT_PROGRESS, RT_PROBE_CLONE, RT_PROBE_DROP, RT_PROBE_POLLED};
    for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const struct sim_event event = {.kind = (uint8_t)words[i], .object = TASK_A};
        EXPECT(sim_event_accesses(&event, accesses) == 0);
    }
}
