/*
 * spec.h -- how to make a run.
 *
 * All that make runs, one or many, say by this which: a sweep, trials, a shrinker, a replay. What
 * a run came to is in the worker that made it (worker/single.h), or in a sweep's batch.
 *
 * Ownership. All pointers are borrowed, for as long as the run takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <signal.h>

#include "sim/core/decide/answers.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/search/strategy.h"

/* How decisions are made. */
enum sim_how {
    SIM_HOW_RANDOM,
    SIM_HOW_BASELINE,
    SIM_HOW_STRICT, /* By the tape; what does not fit is reported. */
    SIM_HOW_LENIENT,
    SIM_HOW_SEARCH,  /* By a named strategy (sim/search/). */
    SIM_HOW_BRANCH,  /* By the tape up to its last entry, then at random. */
    SIM_HOW_ORDERED, /* The baseline, but for some steps in order (sim/core/decide/ordered.h). */
    SIM_HOW_ANSWERS, /* By the answers of a fuzzer's input (sim/core/decide/answers.h). */
    SIM_HOW_FOREMOST /* The baseline, but for one actor (sim/core/decide/strategies.h). */
};

/* "random", "baseline", "tape". */
const char *sim_how_name(uint32_t how);

struct sim_budget;
struct sim_worker_kind;

struct sim_run_spec {
    const struct sim_scenario *scenario;
    struct sim_options options;
    uint64_t seed;               /* Of several runs: of the first. */
    uint32_t how;                /* enum sim_how */
    const struct sim_tape *tape; /* For all that run by a tape; NULL: an empty one. */
    struct sim_search search;    /* With SEARCH. */
    uint32_t given;              /* Options that no swarm draws: bit 1 << i for option i. */

    /* What is found out about one run. */
    bool texts;     /* Names, logs and reasons are kept; needs a mapping with space for them. */
    bool explain;   /* After a failure: find the missing wake, and try FIFO order. */
    bool with_past; /* After another run in the same process. */
    bool hasty;     /* As in sim_case. */
    /* Where the numbers that it draws are noted, made before the worker; NULL: nowhere. */
    struct sim_draws *draws;
    /* After all that: looks further into the run, in the process that made it, and leaves what it
     * finds in `analysis`, which lies in memory shared with the process since before the worker
     * was made. NULL: none. */
    void (*analyze)(struct sim_world *world, const struct sim_case *what,
            const struct sim_outcome *outcome, void *analysis);
    void *analysis;
    /* What the run answers, as a fuzzer's input has it: shared with the process as `analysis` is,
     * with its tape, and written also when the process dies. NULL: none. */
    struct sim_decision_log *decision_log;

    /* The process of a run alone, and its limits. */
    const struct sim_worker_kind *kind; /* NULL: the usual one. */
    uint32_t hang_ms;
    const volatile sig_atomic_t *hurry; /* As in struct sim_worker. */
    struct sim_budget *budget;          /* Charged with the run; NULL: none. */
    bool loud;                          /* What the run writes to stderr is let through. */
    bool core; /* A crash leaves a core, where the system is asked for one. */
    /* The run is made in this very process, for a debugger: see sim_worker_here. NULL: in its
     * own. */
    struct sim_trap *trap;
};

/* The options of the run with `seed`: those of `spec`, or what the seed draws of them (swarm.h). */
void sim_run_spec_options(
        const struct sim_run_spec *spec, uint64_t seed, struct sim_options *ret_options);
