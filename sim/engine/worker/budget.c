/*
 * budget.c -- counting what replays cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/budget.h"

#include <limits.h>
#include <stddef.h>

#include "runtime/base/assert.h"
#include "sim/base/clock.h"

/* Keeps sums far from their ends. */
#define TIME_MS_MAX (UINT64_C(1) << 40)

void
sim_budget_init(struct sim_budget *budget, uint64_t time_ms, uint64_t steps_max)
{
    rt_assert(budget != NULL);
    uint64_t ms = time_ms < TIME_MS_MAX ? time_ms : TIME_MS_MAX;
    *budget = (struct sim_budget){
            .time_ms = ms,
            .clock_ms = ms * SIM_BUDGET_PATIENCE,
            .begun_ms = sim_clock_ms(),
            .steps_max = steps_max != 0 ? steps_max : ms * SIM_BUDGET_STEPS_PER_MS,
    };
    sim_budget_stage(budget, "making the run", 100);
}

void
sim_budget_stage(struct sim_budget *budget, const char *name, uint32_t percent)
{
    rt_assert(percent <= 100);
    rt_assert(name != NULL);
    budget->stage = name;
    budget->stage_max = budget->steps_max / 100 * percent;
    budget->until_ms = budget->begun_ms + budget->clock_ms * percent / 100;
}

void
sim_budget_cut(struct sim_budget *budget)
{
    rt_assert(budget->cut_count <= SIM_BUDGET_CUTS);
    rt_assert(budget->stage != NULL);
    bool known = budget->cut_count > 0 && budget->cuts[budget->cut_count - 1] == budget->stage;
    if (!known && budget->cut_count < SIM_BUDGET_CUTS) {
        budget->cuts[budget->cut_count++] = budget->stage;
    }
}

uint64_t
sim_budget_steps_left(const struct sim_budget *budget)
{
    if (budget == NULL) {
        return UINT64_MAX;
    }
    rt_assert(budget->stage_max <= budget->steps_max);
    return budget->steps < budget->stage_max ? budget->stage_max - budget->steps : 0;
}

int
sim_budget_ms_left(const struct sim_budget *budget)
{
    if (budget == NULL) {
        return -1;
    }
    uint64_t now_ms = sim_clock_ms();
    rt_assert(budget->until_ms <= budget->begun_ms + budget->clock_ms);
    uint64_t left_ms = now_ms < budget->until_ms ? budget->until_ms - now_ms : 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

bool
sim_budget_left(struct sim_budget *budget)
{
    if (budget == NULL) {
        return true;
    }
    bool in_time = sim_budget_ms_left(budget) > 0;
    bool left = in_time && sim_budget_steps_left(budget) > 0;
    budget->by_clock = budget->by_clock || !in_time;
    if (!left) {
        sim_budget_cut(budget);
    }
    return left;
}

void
sim_budget_spend(struct sim_budget *budget, uint64_t steps)
{
    if (budget != NULL) {
        /* A run may have written over the counter that it is taken from. */
        uint64_t left = budget->steps_max * 2 - budget->steps;
        rt_assert(budget->steps <= budget->steps_max * 2);
        budget->steps += steps < left ? steps : left;
    }
}
