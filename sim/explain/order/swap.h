/*
 * swap.h -- does the order of two events decide, all by itself?
 *
 * Both runs are known, one in which the first event comes first and one in which it does not; but
 * those two may differ in a hundred other things. Here the failing run is made once more with the
 * two exchanged and nothing else: the step of the second is taken before that of the first, what
 * happened in between and depends on the first follows it, and all other steps are taken in the
 * order in which they were.
 *
 *      failing   … A x B y …      A, B: the steps of the two events
 *      swapped   … x B A y …      x depends on A by no chain; else it stays behind A
 *
 * When that run passes, the order decides. When B itself depends on A by way of others, or both
 * events are of one step, the two cannot be exchanged alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/decide/tape.h"
#include "sim/core/record/recorder.h"

/*
 * Writes to `ret` (owned by the caller afterwards, also after false) the tape for SIM_HOW_ORDERED
 * that exchanges the events `first` and `second` of the run in `recorder`, whose tape is `tape`.
 * False: they cannot be exchanged alone, or the run is too long.
 */
bool sim_swap_tape(const struct sim_recorder *recorder, uint64_t first, uint64_t second,
        const struct sim_tape *tape, struct sim_tape *ret);
