/*
 * default_schedule.c -- run 0 of a sweep: the run in which every decision is alternative 0.
 *
 * Many bugs need no search: they fail on the schedule that every program starts with. So it is the
 * first run of every sweep, before the seeds. It is a separate phase: no seed belongs to it, no
 * swarm draws its options, no strategy learns from it, and the digest of the sweep does not contain
 * it. Its number in the database is -1, its seed 0. A pass counts in no figure; a failure counts as
 * a failing run of its sweep, and runs of the sweep that fail in the same way are counted without
 * being reported again.
 *
 * It runs in a separate process, of a pool of one worker, that makes no other run.
 *
 * It is not made where the strategy makes it anyway (`baseline`, enumerations), for a promoted run,
 * by shards other than the first, and where it was remembered and has just failed again: that run
 * is counted once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/cli/run/state.h"

static bool
is_wanted(const struct sim_sweep_plan *plan)
{
    bool searches = plan->spec.how == SIM_HOW_SEARCH &&
                    !sim_strategy_at(plan->spec.search.kind)->sequential;
    return plan->shard == 0 && (plan->spec.how == SIM_HOW_RANDOM || searches);
}

static struct sim_sweep_plan
plan_of(const struct sim_sweep_plan *sweep)
{
    return (struct sim_sweep_plan){
            .spec.scenario = sweep->spec.scenario,
            .spec.options = sweep->spec.options,
            .spec.seed = SIM_SHRINK_SEED,
            .runs = 1,
            .spec.how = SIM_HOW_BASELINE,
            .fail_fast = sweep->fail_fast,
            .deadline_ms = sweep->deadline_ms,
            .interrupted = sweep->interrupted,
    };
}

/* In a process that makes no other run. */
static void
run_plan(struct sim_run *run)
{
    struct sim_sweep_result *result = &run->first.result;
    struct sim_pool *pool = &run->defaults_pool;
    run->first.in_progress = true;
    if (pool->count == 0) {
        sim_pool_init(pool, 1, run->cli->settings.hang_ms);
    }
    sim_sweep_run(pool, &run->plan, &run->sink, result);
    sim_pool_end_processes(pool);
    if (result->end == SIM_SWEEP_SYSTEM) {
        (void)snprintf(run->pool.error, sizeof(run->pool.error), "%s", pool->error);
    }
    run->first.in_progress = false;
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
    first->again = sim_run_again_default(run);
    if (first->again != NULL) {
        run->defaults++;
        run->defaults_failed++;
        return true;
    }
    run->plan = plan_of(&plan);
    run_plan(run);
    run->plan = plan;
    run->plan.known = first->failed ? &first->failure : NULL;
    run->defaults += first->result.totals.runs > 0;
    uint64_t refused = first->result.totals.verdicts[SIM_VERDICT_REFUSED];
    run->defaults_refused += refused;
    run->defaults_failed += first->result.failures > refused;
    /* A sweep makes one run even when its time is up. */
    return first->result.end == SIM_SWEEP_COMPLETE || first->result.end == SIM_SWEEP_OUT_OF_TIME;
}

bool
sim_run_default_batch(struct sim_run *run, const struct sim_merged *batch)
{
    return run->first.result.failures == 0 || sim_run_store_default(run, batch);
}

void
sim_run_default_note(struct sim_run *run, const struct sim_new_failure *failure)
{
    /* Other failures are compared with it only where it ended the same when run alone. */
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
    result->refused += first->refused;
}
