/*
 * batch.h -- results of a worker, copied so that it can continue.
 *
 * A batch is a range of run indices. It may take several jobs: a worker ends a job
 * early when its mapping is full. Ownership: a batch owns its copies (malloc).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/worker/shared.h"

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

/* Adds the results of a job, and the sets of its runs where edges are counted (else NULL). */
void sim_batch_add(struct sim_batch *batch, const struct sim_shared *shared, const uint64_t *edges);

/* The run with `seed`, as it was kept; NULL: it was not. */
const struct sim_kept *sim_batch_find(const struct sim_batch *batch, uint64_t seed);

/* Gives the copies back. */
void sim_batch_done(struct sim_batch *batch);

/* Adds `more` to `totals`. */
void sim_totals_add(struct sim_sweep_totals *totals, const struct sim_sweep_totals *more);
