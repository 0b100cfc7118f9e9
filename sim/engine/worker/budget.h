/*
 * budget.h -- how much may be replayed for one answer.
 *
 *      sim_budget_init(&budget, time_ms, 0);
 *      sim_budget_stage(&budget, "looking for a run that passes", 50);
 *      while (… && sim_budget_left(&budget))
 *          sim_single_run(&single, …)                single.budget = &budget: charges it
 *
 * What is counted are steps, so that the same question has the same answer on every machine and
 * under any load: each step of each replay in a worker, what else an analysis spends
 * (sim_world_spend), and a fixed number for each process that is started, dies or hangs. Each
 * stage asks before it begins another replay; one that is refused returns what it has, and its
 * name is kept. In the worker the same is asked by sim_world_may_replay.
 *
 * The clock is the last resort, for programs whose steps take long: a replay that is under way when
 * SIM_BUDGET_PATIENCE times the time is up is abandoned, and no more are begun.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Steps for a millisecond that was asked for: a quarter of what they take on a slow machine. */
#define SIM_BUDGET_STEPS_PER_MS UINT64_C(2000)

/* How much longer than asked for it may take by the clock. The longest of the tree's explanations
 * spend 900 steps a millisecond on a machine that others use, too: with eight builds beside it, it
 * is still the steps that end it. */
#define SIM_BUDGET_PATIENCE 10u

/* In steps: to start a process, and a process that died in a run or hung for a millisecond. */
#define SIM_BUDGET_START 4000u
#define SIM_BUDGET_HANG_MS 1000u

#define SIM_BUDGET_CUTS 8u

struct sim_budget {
    uint64_t time_ms;   /* That was asked for. */
    uint64_t clock_ms;  /* For all of it, … */
    uint64_t begun_ms;  /* … from here on, by sim_clock_ms; … */
    uint64_t until_ms;  /* … and when the stage under way has to end. */
    uint64_t steps_max; /* Likewise: for all of it, … */
    uint64_t stage_max; /* … at the end of the stage, … */
    uint64_t steps;     /* … and spent. */
    const char *stage;
    const char *cuts[SIM_BUDGET_CUTS]; /* Stages that were refused something, in their order. */
    uint32_t cut_count;
    bool by_clock; /* Real time was up. */
};

/* For about `time_ms` of real time: `steps_max` steps, or as many as that time stands for (0), and
 * SIM_BUDGET_PATIENCE times as long by the clock. */
void sim_budget_init(struct sim_budget *budget, uint64_t time_ms, uint64_t steps_max);

/* Begins a stage, at the end of which `percent` of the whole may be spent: it also has what the
 * stages before it have left. `name` is static, and completes "the budget was used up while …". */
void sim_budget_stage(struct sim_budget *budget, const char *name, uint32_t percent);

/* Whether the stage may begin another replay; false is noted. NULL: always. */
bool sim_budget_left(struct sim_budget *budget);

/* Steps that the stage may still spend; UINT64_MAX for NULL. */
uint64_t sim_budget_steps_left(const struct sim_budget *budget);

/* Milliseconds until the time is up; -1 for NULL: it never is. */
int sim_budget_ms_left(const struct sim_budget *budget);

void sim_budget_spend(struct sim_budget *budget, uint64_t steps);

/* Notes that the stage was refused something. */
void sim_budget_cut(struct sim_budget *budget);
