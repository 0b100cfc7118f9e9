/*
 * sweep.h -- many runs of one scenario, with the same result for any number of workers.
 *
 * Run i of a sweep has seed first + i. Runs are handed out in batches of neighbours;
 * results are put together in the order of run index, whichever worker was faster:
 * totals, rows, the first failure of each kind, and where a sweep stops because of
 * one, are the same for any number of workers. (Where it stops because of a clock
 * or of ^C is not; then everything up to some index counts and nothing after it.)
 *
 * Failures of one verdict, oracle and site are one failure: the first is confirmed
 * alone in a new process and reported, all are counted and have a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <signal.h>

#include "sim/engine/worker/pool.h"
#include "sim/engine/worker/single.h"
#include "sim/store/store.h"

/* Failures that are reported; more kinds than this in one sweep are only counted. */
#define SIM_FAILURES_MAX 64u
/* After so many hangs a sweep ends: each takes `hang_ms`. */
#define SIM_HANGS_MAX 10u

struct sim_sweep_plan {
    struct sim_run_spec spec; /* RANDOM, BASELINE, SEARCH, or LENIENT for one run. */
    uint64_t runs;            /* UINT64_MAX: until it is stopped. */
    bool teaches;             /* What runs teach is collected also where no strategy uses it. */
    bool covers;              /* What runs cover likewise. */
    uint32_t batch_runs;      /* A batch has so many, on any number of workers; 0: what is best. */
    uint32_t check_percent;
    bool fail_fast;
    bool keep_all;
    /* A failure that was reported before: runs that fail in the same way are counted, and not
     * reported again. NULL: none. */
    const struct sim_outcome *known;
    bool unconfirmed;     /* Failures are reported as they were seen, and none is run alone. */
    uint64_t deadline_ms; /* Of sim_clock_ms; UINT64_MAX: none. */
    const volatile sig_atomic_t *interrupted; /* Not 0: stop. */
    uint64_t unit_runs;        /* Runs of a unit; 0: there is one, as long as the sweep. */
    uint32_t shard;            /* Units c with c modulo `shards` = `shard` are made; … */
    uint32_t shards;           /* … 0 stands for 1. */
    struct sim_facts *covered; /* With units: takes what all of them cover, SIM_LEARNED_FACTS of
                                * them. Borrowed. */
};

/* A batch that is merged: what is written down of it. */
struct sim_merged {
    uint64_t index; /* Of its first run, in the sweep. */
    uint32_t runs;
    const struct sim_kept *kept;
    uint32_t kept_count;
    const uint8_t *tapes;
    size_t tapes_size;
    const struct sim_run_result *results; /* Of each run. */
    const uint64_t *edges; /* The two sets of each (sim/search/cover/edges.h); NULL: not counted. */
    const struct sim_learned *learned;     /* All that is known with this batch. */
    const struct sim_sweep_totals *totals; /* Of the sweep, with this batch. */
};

/* A failure of a new kind. */
struct sim_new_failure {
    uint64_t index;                 /* Of the run in the sweep. */
    const struct sim_outcome *seen; /* What the sweep saw. */
    struct sim_run_spec again;      /* What makes it again by itself: by its seed or its tape. */
    struct sim_outcome outcome;     /* What is true: `seen` confirmed, or verdict `diverged`. */
    struct sim_single *alone;       /* The run alone; its events are there. NULL: unconfirmed. */
    bool same;
};

/* What the sweep reports meanwhile; all but `failure` and `tick` may be NULL. Each answers false to
 * end the sweep at once. */
struct sim_sink {
    bool (*batch)(struct sim_sink *sink, const struct sim_merged *batch);
    bool (*failure)(struct sim_sink *sink, const struct sim_new_failure *failure);
    /* A run had another digest in the replica; called for the first of a sweep. */
    bool (*replica)(struct sim_sink *sink, const struct sim_run_spec *again);
    /* Whether that is enough, asked when a batch is merged whole; if it is there. */
    bool (*enough)(struct sim_sink *sink);
    /* About ten times a second. */
    bool (*tick)(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals);
};

enum sim_sweep_end {
    SIM_SWEEP_COMPLETE,
    SIM_SWEEP_EXHAUSTED, /* An enumeration is complete. */
    SIM_SWEEP_ENOUGH,    /* The sink said so. */
    SIM_SWEEP_STOPPED_AT_FAILURE,
    SIM_SWEEP_OUT_OF_TIME,
    SIM_SWEEP_INTERRUPTED,
    SIM_SWEEP_TOO_MANY_HANGS,
    SIM_SWEEP_SINK,  /* The sink has failed. */
    SIM_SWEEP_SYSTEM /* The operating system refused; see pool->error. */
};

struct sim_sweep_result {
    enum sim_sweep_end end;
    struct sim_sweep_totals totals;
    uint64_t failures;      /* Runs that did not pass. */
    uint64_t first_failure; /* Index of the first; UINT64_MAX: none. */
    uint32_t kinds;         /* Failures reported. */
    uint32_t diverged;      /* Of those, not confirmed. */
    uint32_t refused;       /* Of those, a program that was refused: no failure of it. */
    uint64_t checked;       /* Runs compared with a replica … */
    uint64_t unequal;       /* … and not the same there. */
};

/* How long units are in a sweep of `runs` (UINT64_MAX: not known). Depends on nothing else, so
 * that it is the same for any number of shards. */
uint64_t sim_unit_runs(uint64_t runs);

/* How many of the plan's runs are made: its own units'. */
uint64_t sim_sweep_share(const struct sim_sweep_plan *plan);

/* Sweeps. All that was merged has been reported to the sink when it returns. */
void sim_sweep_run(struct sim_pool *pool, const struct sim_sweep_plan *plan, struct sim_sink *sink,
        struct sim_sweep_result *ret_result);
