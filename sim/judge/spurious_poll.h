/*
 * spurious_poll.h -- one question to one blocked actor, in a replay that stands at a stop.
 *
 * What the answer means is not said here: an answer lists what was gained and whether the actor
 * waits for something else than before. progress.h compares it with the same replay without the
 * question.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include "sim/judge/judge.h"

/* The questions that can be put to an actor. */
enum sim_oracle_stage {
    SIM_ORACLE_STAGE_POLL,      /* Poll the task once more. */
    SIM_ORACLE_STAGE_SOURCES,   /* Fire what was derived from it, report again what is ready. */
    SIM_ORACLE_STAGE_INTERRUPT, /* What a loop is blocked in returns; see `nth`. */
    /* It sees all that it asks its host for, ready or not. */
    SIM_ORACLE_STAGE_PRETEND,
    SIM_ORACLE_STAGE_ASK_AGAIN /* What its host does not report is done, and reported: `silence`. */
};

/* What an actor waits for at once is compared up to so many things. */
#define SIM_WAITS_MAX 64u

/* What an actor waits for, and how many objects of each kind it had made by then. */
struct sim_waits {
    struct sim_waiting all[SIM_WAITS_MAX];
    uint32_t count;
    uint16_t objects[16];
};

struct sim_answer {
    bool asked;  /* The stop was reached, and the actor could be asked. */
    bool gained; /* Something is in world->gains, or the poll itself completed the task. */
    bool moved;  /* It gained, or it waits for other objects, or at other lines, than before. */
    bool failed; /* The answer was a separate verdict: it is in `outcome`. */
    bool limit;  /* A limit was reached before all consequences were known. */
    bool freed;  /* Another actor that is waited for finished because of it. */
    struct sim_waiting waiting; /* What it waited for before; the first of several. */
    bool waits;                 /* It waited for something. */
    uint64_t blocked_since_step;
    uint64_t blocked_since_ns;
    struct sim_outcome outcome;
};

/* What the run has written down, set aside while replays write nothing: its place in the record,
 * the tape, and which places with SIM_ALWAYS it reached. */
struct sim_aside {
    struct sim_recorder recorder;
    struct sim_tape tape;
    uint32_t checked[SIM_CHECKED_MAX];
};

static inline void
sim_keep(struct sim_world *world, struct sim_aside *ret)
{
    ret->recorder = world->recorder;
    ret->tape = world->decider.tape;
    memcpy(ret->checked, world->checked, sizeof(ret->checked));
    world->decider.tape = (struct sim_tape){0, 0, 0};
}

static inline void
sim_restore(struct sim_world *world, const struct sim_aside *kept)
{
    world->recorder = kept->recorder;
    world->decider.tape = kept->tape;
    memcpy(world->checked, kept->checked, sizeof(world->checked));
    world->noted = true;
}

/* A word of the arena, as it is to be when the actor is asked. */
struct sim_patch {
    size_t offset; /* Of the arena; a multiple of 8. */
    uint64_t value;
};

struct sim_question {
    struct sim_stop stop; /* Where the actor is asked. */
    uint32_t actor;       /* Which one. */
    enum sim_oracle_stage stage;
    /* Of INTERRUPT: which of the things that the loop asked its host for is reported for nothing,
     * from 1 on; 0: none, as after EINTR. */
    uint32_t nth;
    const struct sim_silence *silence; /* Of ASK_AGAIN; NULL: of others. */
    /* How the run continues after the question. All zero: not at all, except after a question other
     * than POLL, which is nothing without the steps that follow it. */
    struct sim_settling settling;
    /* All other actors that could run are held back, and nothing comes due: what follows the
     * question comes of it alone. */
    bool alone;
    /* The clock is put back to the beginning of the actor's last step: has time alone made the
     * difference? */
    bool clock_back;
    /* What the answer's `moved` compares with; NULL: what it waits for when it is asked. */
    const struct sim_waits *waited;
    /* NULL; or what is changed before: has this word made the difference? The answer may be that
     * the process dies. */
    const struct sim_patch *patch;
};

void sim_waits_of(const struct sim_actor *actor, struct sim_waits *ret);

/* What `actor` waits for, and since when. */
void sim_describe(const struct sim_actor *actor, struct sim_answer *ret_answer);

/* Puts the question in the world as it stands at question->stop. */
void sim_put(struct sim_world *world, const struct sim_question *question,
        struct sim_answer *ret_answer);

/* Holds back all actors but `asked` (NULL: all), as a question with `alone` does. With SOURCES
 * those that poll a host may run: one that was about to poll would not receive the report. */
void sim_hold_others(
        struct sim_world *world, const struct sim_actor *asked, enum sim_oracle_stage stage);

/* Replays `what` up to the stop and records nothing. False: it is not reached. sim_world_drop must
 * follow in any case. */
bool sim_judge_replay(struct sim_world *world, const struct sim_case *what, struct sim_stop stop);

/* Replays `what` up to the stop, asks, and drops the replay. Notes no gains, unless world->gains is
 * set. */
void sim_spurious_poll(struct sim_world *world, const struct sim_case *what,
        const struct sim_question *question, struct sim_answer *ret_answer);
