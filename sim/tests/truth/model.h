/*
 * model.h -- the reference model: what a program means, without the simulator.
 *
 * A state is small, and a step is the poll of one task, the firing of the timers that are due, or
 * one operation of a loop or worker. The model is written from the documentation alone
 * (runtime/SEMANTICS.md, sim/README.md) and calls nothing of runtime/ or sim/. README.md in this
 * folder states the semantics and what is left out.
 *
 * Two ways to use it: truth_explore makes all interleavings; follow.c leads it along one recorded
 * run, step by step. Both put the same question (truth_ask) where nothing can take a step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/truth/program.h"

#define TRUTH_STEP_NS 100u
#define TRUTH_MS UINT64_C(1000000)
#define TRUTH_NEVER UINT64_MAX

enum truth_status { TRUTH_BLOCKED, TRUTH_WOKEN, TRUTH_RUNNING, TRUTH_DONE, TRUTH_CANCELLED };

/* All zero where not said otherwise, padding included: states are compared as bytes. */
struct truth_of {
    uint8_t status;
    uint8_t pc;
    uint8_t stage;              /* Of the operation: polls so far, as far as they matter. */
    uint8_t rewoken;            /* While RUNNING: it was woken meanwhile. */
    uint8_t armed;              /* A timer is armed for `deadline_ns`. */
    uint8_t timed;              /* `deadline_ns` is set. */
    uint8_t pending[TRUTH_FDS]; /* Of a loop: descriptors + 1 that were reported, in order. */
    uint64_t deadline_ns;
};

/* One sender, one receiver. */
struct truth_channel {
    uint8_t items;    /* Granted to no receiver. */
    uint8_t space;    /* Granted to no sender. */
    uint8_t receiver; /* 0: not waiting; actor + 1. */
    uint8_t sender;
    uint8_t item_granted; /* To the receiver that waited. */
    uint8_t space_granted;
};

/* First come, first served; one permit. */
struct truth_permit {
    uint8_t free;
    uint8_t queue[TRUTH_ACTORS]; /* Actor + 1, the head of the queue first; 0: the end. */
    uint8_t granted[TRUTH_ACTORS];
};

struct truth_state {
    uint64_t now_ns;
    struct truth_of actor[TRUTH_ACTORS];
    uint8_t flag[TRUTH_FLAGS];
    uint8_t slot[TRUTH_SLOTS];    /* 0: empty; actor + 1. */
    uint8_t joiner[TRUTH_ACTORS]; /* As slot. */
    uint8_t fd[TRUTH_FDS];        /* Counters. */
    uint8_t taken;                /* By the loop. */
    uint8_t late;                 /* TRUTH_LATE_…: met at a quiescence so far. */
    struct truth_channel channel[TRUTH_CHANNELS];
    struct truth_permit permit;
    uint8_t padding[7]; /* None but this: states are compared as bytes. */
};

#define TRUTH_LATE_SURE 1u
#define TRUTH_LATE_OPEN 2u

/* What a sequence of steps has brought. */
struct truth_gains {
    uint32_t sure;   /* Completed, consumed, or reported as progress. */
    uint32_t open;   /* Put into a channel: public documents leave open whether it counts. */
    uint32_t silent; /* Actors, as bits, whose wait was over, and nothing says so. */
    int32_t permits; /* Of this poll: taken, less given back. */
};

void truth_state_init(struct truth_state *state, const struct truth_program *program);

/* Which actors can take a step now, as bits; bit TRUTH_ACTORS: timers are due. */
uint32_t truth_enabled(const struct truth_state *state, const struct truth_program *program);

/* The earliest deadline, or TRUTH_NEVER. */
uint64_t truth_next_deadline(const struct truth_state *state, const struct truth_program *program);

/* No actor is left. */
bool truth_over(const struct truth_state *state, const struct truth_program *program);

/* One poll of a task, woken or not, at now_ns. True: it is done. */
bool truth_poll(struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct truth_gains *gains);

/* Fires all timers that are due. */
void truth_timers(struct truth_state *state, const struct truth_program *program);

/* The wait of a loop returns with descriptors `first` and `second` + 1, 0: none. */
void truth_wait_returns(struct truth_state *state, const struct truth_program *program,
        uint32_t first, uint32_t second);

/* The next operation of a loop or worker. */
void truth_operate(struct truth_state *state, const struct truth_program *program, uint32_t actor,
        struct truth_gains *gains);

/* Whether the loop is in its wait. */
bool truth_in_wait(const struct truth_state *state);

/* One whole callback of the loop for descriptor `fd`, wherever the loop is. */
void truth_call_back(struct truth_state *state, const struct truth_program *program, uint32_t fd,
        struct truth_gains *gains);

/* Where nothing can take a step: can a blocked actor make progress? */
enum truth_answer {
    TRUTH_NO,   /* On no path does the extra poll gain anything. */
    TRUTH_OPEN, /* On some path, or what it brings may count or not. */
    TRUTH_YES   /* On every path. */
};

/* `clock_moves`: as at a stall; else as at an audit, with the clock standing still. */
enum truth_answer truth_ask(
        const struct truth_state *state, const struct truth_program *program, bool clock_moves);

/* At a quiescence before the clock moves: TRUTH_LATE_…, or 0. */
uint8_t truth_late(const struct truth_state *state, const struct truth_program *program);

/* Whether steps are taken from here on forever and bring nothing: a livelock. */
bool truth_spins(const struct truth_state *state, const struct truth_program *program);

/* What the run from here can end in: bits of enum sim_verdict. `sure`: reached for certain on some
 * path; `possible`: also what the documents leave open. */
struct truth_reach {
    uint32_t sure;
    uint32_t possible;
    uint32_t states;
    bool complete; /* Else there were more states than the table holds. */
};

/* All interleavings of `program`, with no slow step and no poll for nothing. */
void truth_explore(const struct truth_program *program, struct truth_reach *ret);

/* The verdicts of a run that ends in `state`, which is over or stalled. */
void truth_verdicts(const struct truth_state *state, const struct truth_program *program,
        struct truth_reach *ret);
