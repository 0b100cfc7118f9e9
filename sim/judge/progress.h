/*
 * progress.h -- could a blocked actor make progress? Decided by experiment.
 *
 *                      ┌── the actor is polled once more ──▶ what is gained    (with)
 *   replay to the stop ┤
 *                      └── nothing is done ────────────────▶ what is gained    (without)
 *
 * It could if the first gains something that the second does not. What is stored, armed or named
 * proves nothing by itself. The rule in full, and how it can be wrong: sim/docs/oracles.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/judge/spurious_poll.h"
#include "sim/judge/stand.h"

struct sim_progress {
    bool could;
    bool chosen; /* It could, and its own time-out brings the same: no failure, but waste. */
    bool failed; /* The question ended in a verdict: it is in answer.outcome. */
    struct sim_answer answer;
};

/* What a loop can be asked: `nth` of struct sim_question, from .. to. */
struct sim_reports {
    uint32_t from;
    uint32_t to;
};

/* What the loop is asked that is blocked in its host at that stop. False: it is not; its clock, or
 * a lock between loops, is no host. */
bool sim_progress_reports(struct sim_stand *stand, struct sim_stop stop, uint32_t actor,
        struct sim_reports *ret_reports);

/* In a stall: nothing is due, so whatever is gained comes of the question. `waited_for`: false of a
 * background actor, whose progress must free another one that is waited for. */
void sim_progress_in_stall(struct sim_stand *stand, struct sim_stop stop, uint32_t actor,
        enum sim_oracle_stage stage, bool waited_for, struct sim_progress *ret);

/* At a quiescence, before the clock moves: would it have gained something now that it does not gain
 * within the declared slack? */
void sim_progress_at_quiet(struct sim_stand *stand, struct sim_stop stop, uint32_t actor,
        enum sim_oracle_stage stage, bool waited_for, struct sim_progress *ret);

/*
 * At a quiescence, before each of many tasks is asked by itself: all are polled in turn in one
 * replay. Returns the index, from `from` to below `to`, of the first one that gains anything, waits
 * for something else, or ends in a verdict. Those before it did nothing, so asked by themselves
 * they would not either. `to`: none.
 */
uint32_t sim_progress_first_to_move(struct sim_stand *stand, struct sim_stop stop,
        const uint32_t *actors, uint32_t from, uint32_t to);

/* At a limit: only what the poll itself gains counts. */
void sim_progress_at_limit(
        struct sim_stand *stand, struct sim_stop stop, uint32_t actor, struct sim_progress *ret);

/* Between two steps, for the search for the missing wake: all others held back. */
bool sim_progress_alone(struct sim_stand *stand, const struct sim_question *question);
