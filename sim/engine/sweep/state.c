/*
 * state.c -- what the files of a sweep share: stopping it, and the job of a worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/sweep/state.h"
#include "runtime/base/assert.h"

#include "sim/base/clock.h"

/* ---- Stopping. ------------------------------------------------------------------------------- */

void
sim__sweep_stop(struct sim__sweep *sweep, enum sim_sweep_end why)
{
    rt_assert(why != SIM_SWEEP_COMPLETE);
    if (sweep->result->end == SIM_SWEEP_COMPLETE) {
        sweep->result->end = why;
    }
    sweep->stopping = true;
    for (uint32_t i = 0; i < sweep->pool->count; i++) {
        sweep->pool->workers[i].shared->stop = true;
    }
}

void
sim__sweep_close(struct sim__sweep *sweep, enum sim_sweep_end why)
{
    rt_assert(why != SIM_SWEEP_COMPLETE);
    sim__sweep_stop(sweep, why);
    rt_assert(sweep->stopping);
    sweep->closed = true;
}

/* Whether a run is over, merged or not: a sweep makes at least one. */
static bool
has_any_run(const struct sim__sweep *sweep)
{
    rt_assert(sweep->pool->count <= SIM_JOBS_MAX);
    bool any = sweep->result->totals.runs > 0;
    for (uint32_t i = 0; i < sweep->pool->count && !any; i++) {
        any = sweep->owner[i] != SIM_SWEEP_NO_BATCH && sweep->pool->workers[i].shared->done > 0;
    }
    return any;
}

bool
sim__sweep_is_overdue(const struct sim__sweep *sweep)
{
    return sweep->plan->deadline_ms != UINT64_MAX && sim_clock_ms() >= sweep->plan->deadline_ms;
}

void
sim__sweep_check_time(struct sim__sweep *sweep)
{
    if (sweep->stopping) {
        return;
    }
    if (sweep->plan->interrupted != NULL && *sweep->plan->interrupted != 0) {
        sim__sweep_stop(sweep, SIM_SWEEP_INTERRUPTED);
        sweep->interrupted_ms = sim_clock_ms();
    } else if (sim__sweep_is_overdue(sweep) && has_any_run(sweep)) {
        sim__sweep_stop(sweep, SIM_SWEEP_OUT_OF_TIME);
    }
}

/* ---- Jobs. ----------------------------------------------------------------------------------- */

void
sim__sweep_set_job(
        const struct sim__sweep *sweep, struct sim_job *job, uint64_t index, uint32_t count)
{
    rt_assert(count >= 1);
    rt_assert(count <= SIM_JOB_RUNS_MAX);
    const struct sim_sweep_plan *plan = sweep->plan;
    *job = (struct sim_job){
            .spec = plan->spec,
            .count = count,
            .index = index,
            .search_begins = index == 0,
            .teaches = plan->teaches || plan->spec.how == SIM_HOW_SEARCH,
            .covers = plan->covers || (sweep->kind != NULL && sweep->kind->adaptive),
            .check_percent = plan->check_percent,
            .keep_all = plan->keep_all,
            .stop_at_failure = plan->fail_fast,
    };
    job->spec.seed += sweep->base + index;
    if (sweep->kind != NULL && sweep->kind->adaptive) {
        uint64_t end = 0;
        job->learned = sim_epochs_of(&sweep->pool->epochs, sim_epoch_of(index, &end));
    }
}
