/*
 * rounds.h -- everybody, again and again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_JUDGE_ROUNDS_H
#define SIM_JUDGE_ROUNDS_H

#include "sim/judge/judge.h"

/*
 * Replays `what` up to `stop`, then polls actors[0 .. count-1] in turn, round after round, what
 * each poll sets going running out in between (with `clock_moves` what is due later as well), until
 * somebody who is waited for finishes. Returns the index of the actor that was polled then, 0 when
 * nobody does within 64 rounds or 32,000 steps, or a verdict falls.
 */
uint32_t sim_nudge_rounds(struct sim_world *world, const struct sim_case *what,
        struct sim_stop stop, const uint32_t *actors, uint32_t count, bool clock_moves);

#endif
