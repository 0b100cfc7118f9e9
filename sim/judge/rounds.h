/*
 * rounds.h -- all blocked tasks are polled, again and again: does one of them finish?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/judge/stand.h"

/*
 * Polls `actors` in turn, with what follows from each, until one that is waited for has finished,
 * at most 64 rounds. With `clock_moves` what is due later is let happen after each poll. Returns
 * the index of the actor whose poll was the last before that, or 0.
 */
uint32_t sim_spurious_poll_rounds(struct sim_stand *stand, struct sim_stop stop,
        const uint32_t *actors, uint32_t count, bool clock_moves);
