/*
 * alone.h -- one run, alone in a fresh process, with everything written down.
 *
 * What `replay`, `show` and `diff` look at, and how a sweep confirms a failure: a
 * process forked from the parent that has run nothing before. Its mapping is read by
 * the parent afterwards, also when the process died in the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_ENGINE_WORKER_ALONE_H
#define SIM_ENGINE_WORKER_ALONE_H

#include "sim/engine/worker/single.h"

struct sim_alone {
    struct sim_single single;
};

/* What is to be run, and how. */
struct sim_alone_case {
    const struct sim_scenario *scenario;
    const struct sim_options *options;
    uint64_t seed;
    uint32_t how;                       /* enum sim_how */
    const struct sim_tape *tape;        /* With a tape. */
    const struct sim_worker_kind *kind; /* NULL: the usual one. */
    uint32_t hang_ms;
    const volatile sig_atomic_t *hurry;    /* Of the worker; NULL: there is none. */
    bool explain;                          /* Owed wake and FIFO order as well. */
    bool with_past;                        /* After another run in the same process. */
    bool loud;                             /* Its stderr is let through. */
    struct sim_decision_log *decision_log; /* As in struct sim_candidate. */
    struct sim_trap *trap;                 /* Likewise; NULL: in a process of its own. */
    /* Likewise: looks further into the run. NULL: nobody does. */
    void (*study)(struct sim_world *world, const struct sim_case *what,
            const struct sim_outcome *outcome, void *study_of);
    void *study_of;
    struct sim_budget *budget; /* Charged with it; NULL: none. */
    bool core;                 /* A crash leaves a core, where the system is asked for one. */
};

/* Runs it. False: the system refused, see alone->single.worker.error. sim_alone_done
 * must follow in any case. */
bool sim_alone_run(struct sim_alone *alone, const struct sim_alone_case *what);
void sim_alone_done(struct sim_alone *alone);

/* After a true: how it ended, its events, its tape (encoded). Valid until sim_alone_done. */
const struct sim_outcome *sim_alone_outcome(const struct sim_alone *alone);
const struct sim_recorder *sim_alone_recorder(const struct sim_alone *alone);
const uint8_t *sim_alone_tape(const struct sim_alone *alone, size_t *ret_size);

/* The deviations of the run, over memory of the mapping. */
struct sim_tape sim_alone_deviations(struct sim_alone *alone);

/* Whether two ends are the same run: verdict, oracle, site, and digest where both have one. */
bool sim_same_end(const struct sim_outcome *a, const struct sim_outcome *b);

#endif
