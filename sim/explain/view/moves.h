/*
 * moves.h -- the timers that were moved: started while they ran, by whomever.
 *
 * A start after a start, with no end between them, is described as a move, with the
 * deadline that was given up for it. Who waits for the timer did not ask for it.
 *
 * Where the ring has lost the start before, the move looks like a first start.
 *
 * Ownership. A table of its own (malloc).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/base/error.h"
#include "sim/core/record/recorder.h"

struct sim_move {
    uint64_t event; /* The ARM that moved. */
    uint64_t from_ns;
};

struct sim_moves {
    struct sim_move *moves; /* In order of events. */
    uint64_t count;
};

/* Finds all moves on record. */
void sim_moves_make(struct sim_moves *moves, const struct sim_recorder *recorder);
void sim_moves_free(struct sim_moves *moves);

/* The move that `event` is, or NULL. */
const struct sim_move *sim_moves_find(const struct sim_moves *moves, uint64_t event);
