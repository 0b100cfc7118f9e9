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
    SIM_RUNG_POLL,      /* Poll the task once more. */
    SIM_RUNG_SOURCES,   /* Fire what was derived from it, report again what is ready. */
    SIM_RUNG_INTERRUPT, /* What a loop is blocked in comes back with nothing. */
    /* It is told of all that it asks its host for, ready or not. */
    SIM_RUNG_PRETEND,
    SIM_RUNG_ASK_AGAIN /* What it asked its host for once, and was told once, is asked for again. */
};

struct sim_answer {
    bool asked; /* The point was reached, and the actor could be asked. */
    bool moved;
    bool failed;                /* The answer was a verdict of its own: it is in `outcome`. */
    bool freed;                 /* Somebody else who is waited for finished because of it. */
    struct sim_waiting waiting; /* What it waited for before; the first of several. */
    bool waits;                 /* It waited for something. */
    uint64_t sleeps_since_step;
    uint64_t sleeps_since_ns;
    struct sim_outcome outcome;
};

/* What the run has written down, set aside while replays write nothing: its place in the record,
 * and the tape. */
struct sim_aside {
    struct sim_recorder recorder;
    struct sim_tape tape;
};

static inline void
sim_keep(struct sim_world *world, struct sim_aside *ret)
{
    ret->recorder = world->recorder;
    ret->tape = world->decider.tape;
    world->decider.tape = (struct sim_tape){0, 0, 0};
}

static inline void
sim_restore(struct sim_world *world, const struct sim_aside *kept)
{
    world->recorder = kept->recorder;
    world->decider.tape = kept->tape;
}

/* A word of the arena, as it is to be when the sleeper is asked. */
struct sim_patch {
    size_t offset; /* Of the arena; a multiple of 8. */
    uint64_t value;
};

struct sim_question {
    struct sim_stop stop; /* Where the sleeper is asked. */
    uint32_t actor;       /* Who. */
    enum sim_rung rung;
    /* What the question sets going may go on, the clock standing still, before it is looked whether
     * the sleeper moved. */
    bool settle;
    /* … and as late as may be: where nothing was due, all that is due now the question has set
     * going. */
    bool clock_moves;
    /* The clock is put back to the beginning of the sleeper's last step: has time alone made the
     * difference? */
    bool clock_back;
    /* 0; or somebody who does not take the step that it is about to take, unless the question asks
     * for it: has it come in between? */
    uint32_t held;
    /* NULL; or what is changed before: has this word made the difference? The answer may be that
     * the process dies. */
    const struct sim_patch *patch;
};

/* Replays `what` up to the stop, notes what the actor waits for there, asks nothing, and gives the
 * replay up. */
void sim_look(struct sim_world *world, const struct sim_case *what, struct sim_stop stop,
        uint32_t actor, struct sim_answer *ret_answer);

/* Replays `what` up to the stop, asks, and gives the replay up. */
void sim_nudge(struct sim_world *world, const struct sim_case *what,
        const struct sim_question *question, struct sim_answer *ret_answer);

#endif
