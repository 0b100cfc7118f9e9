/*
 * single.h -- one candidate after the other, in a process that stays, or one alone in a new one.
 *
 *      struct sim_single single;
 *      sim_single_init(&single, NULL, &sim_shared_for_candidates, SIM_HANG_MS);
 *      for each candidate
 *          const struct sim_outcome *outcome = sim_single_run(&single, &spec);
 *          … its events: sim_single_recorder; what it really did: sim_single_deviations
 *      sim_single_fini(&single);
 *
 * To shrink, bisect or explain takes hundreds of runs, each with another tape, seed or
 * options. A process for each costs more than the run; so one worker makes them all, and
 * gets each tape through the mapping. What a run does to its process ends
 * there as always: after a crash or a hang the next candidate has a new process.
 *
 * Ownership. The candidate, and the tape it names, are borrowed for the call. What is
 * read afterwards (outcome, recorder, tape, misfit) lies in the mapping and is there until
 * the next sim_single_run or sim_single_fini.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/worker/budget.h"
#include "sim/engine/worker/worker.h"

struct sim_single {
    struct sim_budget *budget; /* Charged with each run; NULL: none. Borrowed. */
    struct sim_worker worker;  /* After a refusal worker.error says why. */
    uint64_t runs;             /* Made since sim_single_init. */
};

/*
 * Makes the mapping; the process comes with the first candidate. `kind` NULL: the usual one.
 * `sizes` is borrowed: sim_shared_for_candidates keeps events and no texts, sim_shared_for_reading
 * both.
 */
void sim_single_init(struct sim_single *single, const struct sim_worker_kind *kind,
        const struct sim_shared_sizes *sizes, uint32_t hang_ms);

/* Ends the process and gives the mapping back. Zeroed single-run workers are fine. */
void sim_single_fini(struct sim_single *single);

/*
 * Runs `spec`: how it ended, whatever became of the process (verdict `crash` or `hang`; a hang
 * takes `hang_ms`). NULL: the system refused, or the tape has more deviations than the mapping has
 * space for; see worker.error. The single-run worker is of no more use then. With a budget: it is
 * charged, the analysis gets what is left of the stage, and what is not done when the time is up is
 * abandoned: NULL for a run (sim_budget_left is false then), and an analysis leaves what it has
 * found.
 */
const struct sim_outcome *sim_single_run(
        struct sim_single *single, const struct sim_run_spec *spec);

/* Runs `spec` alone in a new process, and keeps its texts: what `replay`, `show` and `diff`
 * print, and how a sweep confirms a failure. False: the system
 * refused, see worker.error. sim_single_fini must follow in any case. */
bool sim_single_alone(struct sim_single *single, const struct sim_run_spec *spec);

/* Whether two ends are the same run: verdict, oracle, site, and digest where both have one. */
bool sim_same_end(const struct sim_outcome *a, const struct sim_outcome *b);

/* ---- After a run. ---------------------------------------------------------------------------- */

const struct sim_outcome *sim_single_outcome(const struct sim_single *single);
const struct sim_recorder *sim_single_recorder(const struct sim_single *single);

/* The tape that the run wrote: what was really done, in its order. Encoded, as it is stored … */
const uint8_t *sim_single_tape(const struct sim_single *single, size_t *ret_size);
/* … and as deviations, decoded into memory of the mapping. To be copied before the next run. */
struct sim_tape sim_single_deviations(struct sim_single *single);

/* What did not fit a strict tape, one sentence; NULL: all of it did. */
const char *sim_single_mismatch(const struct sim_single *single);

/* Deviations of a lenient tape that fitted nowhere. */
uint32_t sim_single_ignored(const struct sim_single *single);

/* With `explain`: whether the failure also comes in FIFO order. */
enum sim_store_fifo sim_single_fifo(const struct sim_single *single);
