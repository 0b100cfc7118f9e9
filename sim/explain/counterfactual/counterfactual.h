/*
 * counterfactual.h -- what a blocked task would have to find to make progress, in a deadlock.
 *
 * A deadlock has no step that should have woken a task. Here the run is replayed, each time with
 * one thing different, and the blocked task is asked whether it makes progress:
 *
 *      not rearmed   its host does not report something, as enum sim_silent says: it asked once,
 *                    or for less, took less than there was, or has not handed it over; in a
 *                    replay that is done, and reported
 *      dropped       what it is blocked in returns with nothing, and it makes progress at once: a
 *                    loop that should not have blocked
 *      not notified  it would have made progress, or not blocked, if it had checked after a later
 *                    step of another actor, which changed what it checks and did not wake it
 *      lost          a word is again what a step made of it; a later step overwrote that, and no
 *                    step read it in between: without it the run is the same to its end
 *      elsewhere     a word is what a step of the nearest passing run makes of it, and no step here
 *
 * Where a task was woken, and its loop does not poll it, the loop gets the report of nothing
 * (dropped, not notified), or the word (lost), and the answer is whether it polls that task.
 *
 * The result is a word of memory and a step; its writer is found by walking that step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/code/symbols.h"
#include "sim/engine/worker/budget.h"
#include "sim/explain/look/experiment.h"

enum sim_counterfactual_kind {
    SIM_COUNTERFACTUAL_NONE,
    SIM_COUNTERFACTUAL_NOT_REARMED,
    SIM_COUNTERFACTUAL_DROPPED,
    SIM_COUNTERFACTUAL_NOT_NOTIFIED,
    SIM_COUNTERFACTUAL_LOST,
    SIM_COUNTERFACTUAL_ELSEWHERE
};

#define SIM_LEFT_MAX 8u

struct sim_counterfactual {
    uint32_t kind;              /* enum sim_counterfactual_kind */
    struct sim_silence silence; /* NOT_REARMED: what is not reported. */
    bool pretended; /* DROPPED, NOT_NOTIFIED: with all reported that it asks for, ready or not. */
    uint32_t actor; /* Which one would make progress: index in the failing run. */
    /* DROPPED, NOT_REARMED: its last step. Else the step that changes the word; ELSEWHERE: of the
     * passing run. */
    uint64_t step;
    uint32_t writer_id; /* Whose step that is: the stable id. */
    /* DROPPED: the step of another actor in which what it waits for arrived; 0: not known. */
    uint64_t arrival_step;
    /* ELSEWHERE, where the blocked task itself writes the word there: the step here in which
     * another actor would have woken it had that been written before, and that actor. 0: none. */
    uint64_t away_step;
    uint32_t away_id;
    uint64_t lost_step;          /* LOST: the step that overwrites it. */
    struct sim_walk_stop writer; /* What changes it; no frames: not known. */
    struct sim_walk_stop eraser; /* LOST: what overwrites it. */
    /* Whatever the kind, of a program: what is UNWATCHED; what is TAKEN, where the first that is
     * blocked makes progress with one more report of it. */
    uint32_t left_count;
    struct sim_silence left[SIM_LEFT_MAX];
};

/* What is asked. */
enum sim_counterfactual_of {
    SIM_COUNTERFACTUAL_OF_RESTS,    /* All rest. */
    SIM_COUNTERFACTUAL_OF_UNPOLLED, /* The task that the verdict names was woken, and not polled. */
    SIM_COUNTERFACTUAL_OF_LOST,     /* A wake alone is missing: NOT_REARMED alone is asked. */
    SIM_COUNTERFACTUAL_OF_LIVELOCK  /* Steps are taken, and nothing is gained: the same. */
};

/* `wake_step`: in which that task was woken; of others 0. Makes the replays that it takes, a few
 * hundred at the most, in separate processes. Where nothing is found, or the system refuses, the
 * kind is NONE. */
void sim_counterfactual_find(const struct sim_runs *runs, struct sim_places *places,
        enum sim_counterfactual_of of, uint64_t wake_step,
        struct sim_counterfactual *ret_counterfactual);
