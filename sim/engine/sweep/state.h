/*
 * state.h -- what the files of a sweep share.
 *
 *   sweep.c     hands out batches, and merges them in order
 *   units.c  which runs this sweep makes, and what they newly cover
 *   failures.c  the first failures of each kind, confirmed and reported; replica runs
 *   state.c     stopping, and the job of a worker
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/sweep/batch.h"
#include "sim/engine/sweep/sweep.h"

/* Batches that are in progress or wait for one before them. */
#define SIM_SWEEP_WINDOW 512u
#define SIM_SWEEP_NO_BATCH UINT64_MAX

struct sim__sweep {
    struct sim_pool *pool;
    const struct sim_sweep_plan *plan;
    struct sim_sink *sink;
    struct sim_sweep_result *result;
    struct sim_batch window[SIM_SWEEP_WINDOW];
    uint64_t owner[SIM_JOBS_MAX]; /* Sequence of each worker's batch, or SIM_SWEEP_NO_BATCH. */
    uint64_t base;                /* Index in the sweep of the unit's first run. */
    uint64_t length;              /* Runs of that unit. */
    uint64_t next_index;          /* In the unit, of the first run that was not handed out. */
    uint64_t next_sequence;
    uint64_t merge_sequence;
    uint32_t batch_runs;
    const struct sim_strategy_kind *kind;       /* With SEARCH, else NULL. */
    bool stopping;                              /* Nothing new is handed out. */
    uint64_t interrupted_ms;                    /* When that was because of an interrupt; else 0. */
    bool closed;                                /* Nothing more is merged. */
    struct sim_outcome kinds[SIM_FAILURES_MAX]; /* The first of each. */
    uint32_t kind_count;
};

/* ---- state.c --------------------------------------------------------------------------------- */

/* What is running may end after its current run. The first reason stays. */
void sim__sweep_stop(struct sim__sweep *sweep, enum sim_sweep_end why);

/* Nothing after what was merged counts. */
void sim__sweep_close(struct sim__sweep *sweep, enum sim_sweep_end why);

/* Whether its time is up. */
bool sim__sweep_is_overdue(const struct sim__sweep *sweep);

/* Stops it after an interrupt, or when its time is up and a run is over. */
void sim__sweep_check_time(struct sim__sweep *sweep);

/* `count` runs of the unit, from `index` on. */
void sim__sweep_set_job(
        const struct sim__sweep *sweep, struct sim_job *job, uint64_t index, uint32_t count);

/* ---- units.c ------------------------------------------------------------------------------ */

/* The first of the sweep's own units. */
void sim__unit_open_first(struct sim__sweep *sweep);

/* Opens the next one when a unit is merged: all workers are idle, so that none reads what
 * was learned in it. */
void sim__unit_next(struct sim__sweep *sweep);

/* Sets `fresh` of the results: how much each run covered that none before had, in any unit. */
void sim__unit_cover(struct sim__sweep *sweep, struct sim_batch *batch);

/* ---- failures.c ------------------------------------------------------------------------------ */

/* Failures of the kind of plan->known are not reported. */
void sim__sweep_know(struct sim__sweep *sweep);

/* Marks the runs of `batch` that are the first of their kind to fail; reports them to the sink. */
void sim__sweep_find_failures(struct sim__sweep *sweep, struct sim_batch *batch);
void sim__sweep_report_failures(struct sim__sweep *sweep, const struct sim_batch *batch);

/* Repeats in the replica what is to be checked of `batch`. */
void sim__sweep_merge_checks(struct sim__sweep *sweep, const struct sim_batch *batch);
