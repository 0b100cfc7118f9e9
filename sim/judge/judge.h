/*
 * judge.h -- the verdict on a run that has ended.
 *
 *  run ──▶ stalled? ──▶ could a blocked task make progress?  yes ──▶ lost-wakeup   no ──▶ deadlock
 *   │
 *   └────▶ passed ──▶ the same at its quiescences, in time?   no ──▶ late-wakeup
 *
 * Whether a task could make progress is decided by experiment (progress.h), in replays of the run.
 * A wait whose own time-out brings the same progress was chosen by the program: it is no failure,
 * but noted in world->timeouts, unless world->late_timeouts.
 * How the oracles work and can be wrong: sim/docs/oracles.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/world.h"

struct sim_question; /* spurious_poll.h */

/* What is to be run. */
struct sim_case {
    const struct sim_scenario *scenario;
    struct sim_options options;
    uint64_t seed;
    /* Borrowed. Where it does not repeat by itself (choice.h), the run must write a tape, which the
     * replays follow. */
    struct sim_strategy *strategy;
    /* Steps without progress are a livelock, and what comes after them is not asked: for candidates
     * in the search around a livelock of which that was asked. */
    bool hasty;
};

/*
 * Runs the case, and judges it. `recording` is for the run itself; replays for the judge record
 * nothing. After the call the recorder still holds the run's events.
 */
void sim_judge(struct sim_world *world, const struct sim_case *what, struct sim_recording recording,
        struct sim_outcome *ret_outcome);

/* The second half of sim_judge: for who wants to look at the world as the run left it, before
 * replays begin. `outcome` is that of sim_world_run, and becomes the judge's. */
void sim_judge_ended(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome);

/*
 * For a leak of wakers: the first step after which a clone lay nowhere in the run's memory, by
 * bisection with replays. 0: none, or only at the end. outcome->lost_step is set as well.
 */
uint64_t sim_judge_lost(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome);

/*
 * For a use of freed memory: puts the stack of the call of free() into outcome->stack, unless it
 * has that of the use, and into the message which steps freed and wrote; with replays, as nothing
 * of that is noted in a run.
 */
void sim_judge_freed(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome);

/*
 * For a lost or late wake-up: the first step after which the task could make progress: that step
 * should have woken it. By bisection between its last step and the failure, checked at both
 * sides. 0: not found. outcome->missing_wake_step is set as well.
 */
uint64_t sim_judge_missing_wake(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome);

/*
 * The question to which the actor of a lost or late wake-up answers otherwise at the missing wake's
 * step than right after its own last step. False: there is none. `question->stop` is that step.
 */
bool sim_judge_question(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, struct sim_question *ret_question);

/* Whether the failure also comes with every run-order deviation removed ("possible in FIFO order").
 * `tape` is the failing run's. */
bool sim_judge_in_fifo(struct sim_world *world, const struct sim_case *what,
        const struct sim_tape *tape, const struct sim_outcome *outcome);
