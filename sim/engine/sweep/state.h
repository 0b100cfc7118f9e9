/*
 * state.h -- what the files of a sweep share.
 *
 *   sweep.c     hands out batches, and merges them in order
 *   units.c     which runs this sweep makes, and what they newly cover
 *   failures.c  the first failures of each kind, confirmed and reported; replica runs
 *   state.c     stopping, and the job of a worker
 *   batch.c     results of a worker, copied so that it can continue
 *   teach.c     what the runs of a sweep teach the next ones
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/sweep/sweep.h"
#include "sim/search/learn/learned.h"

/*
 * A range of run indices. It may take several jobs: a worker ends a job early when its mapping is
 * full. A batch owns its copies (malloc).
 */
struct sim_batch {
    uint64_t index; /* Of the first run, … */
    uint64_t seed;  /* … and its seed. */
    uint32_t asked;
    bool over; /* Complete, or stopped. */
    struct sim_sweep_totals totals;
    struct sim_kept *kept;
    uint32_t kept_count;
    uint8_t *tapes;
    size_t tapes_size;
    struct sim_fact *facts; /* What its runs taught, job after job. */
    uint32_t fact_count;
    struct sim_run_result *results; /* Of each run; `fresh` is 0 until it is merged. */
    uint64_t *edges; /* What each has reached (sim/search/cover/edges.h); NULL: not counted. */
    bool exhausted;  /* There is nothing left to be run. */
};

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

/* ---- batch.c --------------------------------------------------------------------------------- */

/* Adds the results of a job, and the sets of its runs where edges are counted (else NULL). */
void sim_batch_add(struct sim_batch *batch, const struct sim_shared *shared, const uint64_t *edges);

/* The run with `seed`, as it was kept; NULL: it was not. */
const struct sim_kept *sim_batch_find(const struct sim_batch *batch, uint64_t seed);

/* Gives the copies back. */
void sim_batch_done(struct sim_batch *batch);

/* Adds `more` to `totals`. */
void sim_totals_add(struct sim_sweep_totals *totals, const struct sim_sweep_totals *more);

/* ---- teach.c --------------------------------------------------------------------------------- */

/*
 * Adds what `batch` taught to `epochs`, in the order of run index. Of each run `fresh` gets how
 * many coverage points it was the first to reach.
 */
void sim_teach(struct sim_epochs *epochs, struct sim_batch *batch);

/* How many runs from `index` on may be handed out now to a strategy that learns: up to the end of
 * the epoch; 0: the one before the last is not merged yet. */
uint64_t sim_teachable(const struct sim_epochs *epochs, uint64_t index);
