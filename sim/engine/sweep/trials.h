/*
 * trials.h -- how many runs it takes until something fails.
 *
 * A trial is a sweep that ends at its first failure, or after `runs_max` runs. Trial t begins at
 * seed 1 + t * 1,000,000, so trials share no run and always have the same ones: what is measured
 * is a function of scenario, options and strategy, for any number of workers.
 *
 * A sequential strategy (an enumeration) makes the same runs for any seed; it has one trial.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/sweep/sweep.h"

#define SIM_TRIALS 20u
#define SIM_TRIAL_STRIDE UINT64_C(1000000)

struct sim_trials_plan {
    struct sim_run_spec spec; /* RANDOM, BASELINE or SEARCH; each trial has its own seed. */
    uint32_t trials;          /* At least 1. */
    uint64_t runs_max;        /* Of one trial, at least 1. */
    bool unconfirmed;         /* Failures are counted as the sweep saw them: see sweep.h. */
    /* About ten times a second, with the runs of this trial; false ends it. NULL: not called. */
    bool (*tick)(void *argument, uint64_t runs, const struct sim_sweep_totals *totals);
    void *argument;
};

/* One trial. */
struct sim_trial {
    bool failed;
    bool exhausted;             /* The strategy had no more runs to make. */
    uint64_t runs;              /* Up to the first failure, with it; else all that were made. */
    uint64_t merged;            /* Runs that count: somewhat more, where there was a failure. */
    uint64_t failures;          /* Of those. */
    struct sim_outcome outcome; /* Of the first failure. */
};

/* All of them. Means are sums over `found`: nothing is known of those that found nothing. */
struct sim_trials {
    uint32_t trials;
    uint32_t found;     /* Those that met a failure. */
    uint32_t exhausted; /* Those that ended before runs_max with nothing left to try. */
    uint64_t runs;      /* Up to the first failure, where there was one. */
    uint64_t steps;     /* Of these first failures. */
    uint32_t verdict;   /* Of the first failure of the first trial that found one. */
    uint32_t oracle;
    bool as_stated; /* Every failure has the verdict that the scenario states. */
};

/*
 * One trial of `plan`, from seed `first`. If a worker is killed from outside, that is no failure:
 * the trial begins again, three times at most. False: the system refused, see
 * pool->error.
 */
bool sim_trial_run(struct sim_pool *pool, const struct sim_trials_plan *plan, uint64_t first,
        struct sim_trial *ret_trial);

/* All trials of `plan`. False: as sim_trial_run. */
bool sim_trials_run(
        struct sim_pool *pool, const struct sim_trials_plan *plan, struct sim_trials *ret_trials);

/* Mean runs to the first failure, in tenths, rounded; 0 when nothing was found. */
uint64_t sim_trials_mean_tenths(uint64_t runs, uint32_t found);
