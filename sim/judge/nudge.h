/*
 * nudge.h -- one question to one sleeper, in a replay of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_JUDGE_NUDGE_H
#define SIM_JUDGE_NUDGE_H

#include "sim/judge/judge.h"

/* The rungs that are questions to a sleeper; the third is the primitives' own (judge.c). */
enum sim_rung {
    SIM_RUNG_POLL,   /* Poll the task once more. */
    SIM_RUNG_SOURCES /* Fire what was derived from it, report again what is ready. */
};

struct sim_answer {
    bool asked;   /* The point was reached, and the actor could be asked. */
    bool moved;
    bool failed;  /* The answer was a verdict of its own: it is in `outcome`. */
    bool freed;   /* Somebody else who is waited for finished because of it. */
    struct sim_waiting waiting; /* What it waited for before; the first, if it was several things. */
    bool waits;                 /* It waited for something. */
    uint64_t sleeps_since_step;
    uint64_t sleeps_since_ns;
    struct sim_outcome outcome;
};

/*
 * Replays `what` up to `stop`, asks actor number `actor`, and gives the replay up. With `settle`,
 * what the question set going may go on, the clock standing still, before it is looked whether the
 * sleeper moved.
 */
void sim_nudge(struct sim_world *world, const struct sim_case *what, struct sim_stop stop,
        uint32_t actor, enum sim_rung rung, bool settle, struct sim_answer *ret_answer);

#endif
