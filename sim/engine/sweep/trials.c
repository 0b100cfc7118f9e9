/*
 * trials.c -- sweeps that end at their first failure, over and over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/sweep/trials.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/scenario.h"
#include "sim/engine/worker/crash.h"

/* A run that is killed more often than that is reported as it is. */
#define DISTURBED_MAX 3u

struct trial {
    struct sim_sink sink; /* First: the sweep hands it back. */
    const struct sim_trials_plan *plan;
    struct sim_sweep_result result;
    struct sim_outcome outcome;
    bool disturbed; /* A worker of it was killed from outside. */
};

static struct trial *
trial_of(struct sim_sink *sink)
{
    return (struct trial *)(void *)sink;
}

static bool
on_failure(struct sim_sink *sink, const struct sim_new_failure *failure)
{
    rt_assert(failure->outcome.verdict != SIM_VERDICT_PASS);
    struct trial *trial = trial_of(sink);
    if (failure->index == trial->result.first_failure || trial->outcome.steps == 0) {
        trial->outcome = failure->outcome;
    }
    trial->disturbed = trial->disturbed || failure->seen->reason == SIM_REASON_KILLED;
    return true;
}

static bool
on_tick(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals)
{
    const struct sim_trials_plan *plan = trial_of(sink)->plan;
    return plan->tick == NULL || plan->tick(plan->argument, runs, totals);
}

static struct sim_sweep_plan
sweep_of(const struct sim_trials_plan *plan, uint64_t first)
{
    rt_assert(plan->runs_max >= 1);
    rt_assert(first >= 1);
    struct sim_sweep_plan sweep = {
            .spec = plan->spec,
            .runs = plan->runs_max,
            .fail_fast = true,
            .unconfirmed = plan->unconfirmed,
            .deadline_ms = UINT64_MAX,
    };
    sweep.spec.seed = first;
    return sweep;
}

bool
sim_trial_run(struct sim_pool *pool, const struct sim_trials_plan *plan, uint64_t first,
        struct sim_trial *ret_trial)
{
    const struct sim_sweep_plan sweep = sweep_of(plan, first);
    struct trial trial;
    uint32_t times = 0;
    do {
        trial = (struct trial){
                .sink = {.failure = on_failure, .tick = on_tick},
                .plan = plan,
        };
        sim_sweep_run(pool, &sweep, &trial.sink, &trial.result);
        if (trial.result.end == SIM_SWEEP_SYSTEM) {
            return false;
        }
    } while (trial.disturbed && ++times < DISTURBED_MAX);
    rt_assert(trial.sink.tick == on_tick);
    rt_assert(times <= DISTURBED_MAX);
    bool failed = trial.result.first_failure != UINT64_MAX;
    rt_assert(failed == (trial.result.failures > 0));
    *ret_trial = (struct sim_trial){
            .failed = failed,
            .exhausted = trial.result.end == SIM_SWEEP_EXHAUSTED,
            .runs = failed ? trial.result.first_failure + 1 : trial.result.totals.runs,
            .merged = trial.result.totals.runs,
            .failures = trial.result.failures,
            .outcome = trial.outcome,
    };
    return true;
}

static void
add(struct sim_trials *trials, const struct sim_trial *trial, const struct sim_scenario *scenario)
{
    rt_assert(trial->merged > 0 || trial->exhausted || !trial->failed);
    rt_assert(trials->found <= trials->trials);
    trials->trials++;
    trials->exhausted += trial->exhausted && !trial->failed;
    if (!trial->failed) {
        return;
    }
    if (trials->found++ == 0) {
        trials->verdict = trial->outcome.verdict;
        trials->oracle = trial->outcome.oracle;
    }
    trials->runs += trial->runs;
    trials->steps += trial->outcome.steps;
    trials->as_stated = trials->as_stated &&
                        sim_scenario_states(scenario, (enum sim_verdict)trial->outcome.verdict);
}

static bool
is_sequential(const struct sim_trials_plan *plan)
{
    rt_assert(plan->spec.scenario != NULL);
    return plan->spec.how == SIM_HOW_SEARCH && sim_strategy_at(plan->spec.search.kind)->sequential;
}

bool
sim_trials_run(
        struct sim_pool *pool, const struct sim_trials_plan *plan, struct sim_trials *ret_trials)
{
    uint32_t wanted = is_sequential(plan) ? 1 : plan->trials;
    rt_assert(wanted >= 1 && plan->runs_max >= 1 && plan->runs_max <= SIM_TRIAL_STRIDE);
    *ret_trials = (struct sim_trials){.as_stated = true};
    for (uint32_t i = 0; i < wanted; i++) {
        struct sim_trial trial;
        if (!sim_trial_run(pool, plan, 1 + i * SIM_TRIAL_STRIDE, &trial)) {
            return false;
        }
        add(ret_trials, &trial, plan->spec.scenario);
    }
    return true;
}

uint64_t
sim_trials_mean_tenths(uint64_t runs, uint32_t found)
{
    rt_assert(found == 0 || runs >= found);
    return found > 0 ? (runs * 10 + found / 2) / found : 0;
}
