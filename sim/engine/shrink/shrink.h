/*
 * shrink.h -- from a failing run to the smallest one that fails in the same way.
 *
 *   a failing run's tape ──▶ candidates ──▶ lenient replays: what counts is what was done
 *                                 ▲                │
 *                                 └── best tape ◀──┘ smaller, and the same failure
 *                                         │
 *                                         └──▶ strictly, in two new processes
 *
 * "The same way" is verdict, oracle and site. "Smaller" is a key, compared from left to right:
 *
 *   options       that differ from their defaults (masks of faults, and how often)
 *   faults        deviations of kind `fault`
 *   actors        that take steps
 *   preemptions   deviations of kind `run` (an actor steps whose turn it was not) and `switch`
 *   deviations    all of them
 *   blocks        of steps by one actor
 *   sim_ns, steps of the run
 *   and at last ordinals and indices of the tape, in its order
 *
 * Bounded by replays and by the steps they take, never by a clock unless the caller names
 * one: so the result is the same on every machine and for any number of jobs. A shrunk run
 * has nothing left of its seed: everything is on its tape, and its seed is 0. So one smallest
 * run has one token, whatever seed it was found at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <signal.h>

#include "sim/engine/worker/single.h"

#define SIM_SHRINK_REPLAYS_MAX 2000u
/* Steps of all candidates together: some seconds. Runs of 10,000 steps use up all replays. */
#define SIM_SHRINK_STEPS_MAX UINT64_C(30000000)
/* The seed of every shrunk run. */
#define SIM_SHRINK_SEED 0u

struct sim_shrink_key {
    uint32_t options;
    uint32_t faults;
    uint32_t actors;
    uint32_t preemptions;
    uint32_t deviations;
    uint32_t blocks;
    uint64_t sim_ns;
    uint64_t steps;
};

/* A failing run, and how much may be done. All pointers are borrowed. */
struct sim_shrink_plan {
    /* The run, by the tape of what it really did; each step has `hang_ms`. The budget of an
     * explanation is asked before each replay. */
    struct sim_run_spec spec;
    const struct sim_outcome
            *failure;     /* How it ended; an explanation also shrinks a run that passes. */
    bool options_stay;    /* They are not put back to their defaults. */
    uint32_t replays_max; /* SIM_SHRINK_REPLAYS_MAX is usual; 0: only verified. */
    uint64_t deadline_ms; /* Of sim_clock_ms; UINT64_MAX: none. */
    const volatile sig_atomic_t *interrupted; /* Not 0: stop. NULL: never. */
};

enum sim_shrink_end {
    SIM_SHRINK_MINIMAL, /* No pass makes it smaller, or nothing has helped for a long time. */
    SIM_SHRINK_REPLAYS, /* No replays, or no steps, were left. */
    SIM_SHRINK_TIME,
    SIM_SHRINK_HANGS,       /* Too many candidates hung. */
    SIM_SHRINK_INTERRUPTED, /* By the caller. */
    SIM_SHRINK_NOT_AGAIN,   /* The run does not fail again by its tape. */
    SIM_SHRINK_UNSTABLE,    /* The smallest run differs in a new process, or in the replica. */
    SIM_SHRINK_SYSTEM       /* The operating system refused; see `error`. */
};

struct sim_shrunk {
    enum sim_shrink_end end;
    struct sim_options options;
    struct sim_tape tape; /* Strict; owned. */
    struct sim_shrink_key from;
    struct sim_shrink_key to;
    uint32_t replays; /* Made to get there; the two that verify it are not counted. */
    /* The smallest run alone, with events, texts and the missing wake; valid when
     * sim_shrunk_holds. */
    struct sim_single alone;
    char error[160];
};

/* Shrinks. sim_shrunk_done must follow in any case. Nothing is printed. */
void sim_shrink(const struct sim_shrink_plan *plan, struct sim_shrunk *ret_shrunk);
void sim_shrunk_done(struct sim_shrunk *shrunk);

/* Whether there is a smallest run that was verified, so that it can be reported and stored. */
bool sim_shrunk_holds(const struct sim_shrunk *shrunk);

/* Less than 0, 0, more than 0: `a` is smaller than, as small as, larger than `b`. */
int sim_shrink_key_compare(const struct sim_shrink_key *a, const struct sim_shrink_key *b);

/* "nothing makes it smaller", "the time is up" …; static. */
const char *sim_shrink_end_text(enum sim_shrink_end end);
