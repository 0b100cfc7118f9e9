/*
 * default_schedule.c -- run 0 of a sweep: the run in which every decision is alternative 0.
 *
 * Many bugs need no search: they fail on the schedule that every program starts with. So it is the
 * first run of every sweep, before the seeds. It is a separate phase: no seed belongs to it, no
 * swarm draws its options, it teaches no strategy, and the digest of the sweep does not contain it.
 * Its number in the database is -1, its seed 0. A pass counts in no figure; a failure counts as a
 * failing run of its sweep, and runs of the sweep that fail in the same way are counted without
 * being reported again.
 *
 * It is not made where the strategy makes it anyway (`dullest`, enumerations), of a promoted run,
 * by shards other than the first, and where edges of code are counted: what a process executes only
 * once would count for no run of the first worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/cli/run/state.h"
#include "sim/cover/edges.h"

static bool
is_wanted(const struct sim_sweep_plan *plan)
{
    bool searches = plan->how == SIM_HOW_SEARCH && !sim_strategy_at(plan->search.kind)->sequential;
    return plan->shard == 0 && sim_edges_count() == 0 && (plan->how == SIM_HOW_RANDOM || searches);
}

static struct sim_sweep_plan
plan_of(const struct sim_sweep_plan *sweep)
{
    return (struct sim_sweep_plan){
            .scenario = sweep->scenario,
            .options = sweep->options,
            .first = SIM_SHRINK_SEED,
            .runs = 1,
            .how = SIM_HOW_DULLEST,
            .fail_fast = sweep->fail_fast,
            .deadline_ms = sweep->deadline_ms,
            .interrupted = sweep->interrupted,
    };
}

bool
sim_run_default_schedule(struct sim_run *run)
{
    struct sim_run_default *first = &run->first;
    const struct sim_sweep_plan plan = run->plan;
    *first = (struct sim_run_default){.result = {.first_failure = UINT64_MAX}};
    if (!is_wanted(&plan)) {
        return true;
    }
    run->plan = plan_of(&plan);
    first->in_progress = true;
    sim_sweep_run(&run->pool, &run->plan, &run->sink, &first->result);
    first->in_progress = false;
    run->plan = plan;
    run->plan.known = first->failed ? &first->failure : NULL;
    run->defaults += first->result.totals.runs > 0;
    run->defaults_failed += first->result.failures > 0;
    /* When its time is up a sweep makes one run all the same. */
    return first->result.end == SIM_SWEEP_COMPLETE || first->result.end == SIM_SWEEP_OUT_OF_TIME;
}

void
sim_run_default_note(struct sim_run *run, const struct sim_new_failure *failure)
{
    /* What ended otherwise when it was run alone is no failure to compare others with. */
    run->first.failed = failure->same;
    run->first.failure = failure->outcome;
}

void
sim_run_default_count(const struct sim_run *run, struct sim_sweep_totals *totals)
{
    const struct sim_sweep_totals *more = &run->first.result.totals;
    if (run->first.result.failures == 0) {
        return;
    }
    totals->runs += more->runs;
    totals->steps += more->steps;
    totals->sim_ns += more->sim_ns;
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        totals->verdicts[i] += more->verdicts[i];
    }
}

void
sim_run_default_add(struct sim_run *run)
{
    struct sim_sweep_result *result = &run->result;
    const struct sim_sweep_result *first = &run->first.result;
    sim_run_default_count(run, &result->totals);
    result->failures += first->failures;
    result->kinds += first->kinds;
    result->diverged += first->diverged;
}
