/*
 * judge.h -- what a run that has come to rest really is.
 *
 *  run ──▶ stalled? ──▶ nudge each sleeper, alone, in a replay up to there
 *   │                       moved ──▶ lost-wakeup         nobody ──▶ deadlock
 *   └────▶ passed, and a quiescence was drawn ──▶ the same at that point ──▶ late-wakeup
 *
 * Every question to a sleeper is put in a replay of its own, so that none disturbs
 * another. How the oracles work and can be wrong: sim/judge/README.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_JUDGE_JUDGE_H
#define SIM_JUDGE_JUDGE_H

#include "sim/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be run. */
struct sim_case {
    const struct sim_scenario *scenario;
    struct sim_options options;
    uint64_t seed;
    /* Borrowed. Where it does not repeat by itself (choice.h), the run must write a tape, which the
     * replays follow. */
    struct sim_strategy *strategy;
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
 * For a lost or late wake-up: the first step after which the sleeper would have moved: that step
 * should have woken it. By bisection between its last step and the failure, checked at both
 * sides. 0: not found. outcome->owed_step is set as well.
 */
uint64_t sim_judge_owed(
        struct sim_world *world, const struct sim_case *what, struct sim_outcome *outcome);

/* Whether the failure also comes with every run-order deviation removed ("possible in FIFO order").
 * `tape` is the failing run's. */
bool sim_judge_in_fifo(struct sim_world *world, const struct sim_case *what,
        const struct sim_tape *tape, const struct sim_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
