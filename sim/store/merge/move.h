/*
 * move.h -- rows of a sweep on their way from one database into another.
 *
 * Of merge.c, which says which sweeps. Everything in a transaction of `to`.
 *
 * Numbers of runs and events are shifted by the largest that `to` has had, so that what belongs
 * together goes on doing so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_MOVE_H
#define SIM_STORE_MOVE_H

#include "sim/store/internal.h"
#include "sim/store/shard.h"

struct sim__move {
    struct sim_store *to;
    struct sim_store *from;
    int64_t old; /* The sweep in `from`, … */
    int64_t new; /* … and in `to`; 0: it is not there yet. */
    int64_t run_shift;
    int64_t event_shift;
};

/* Copies sweep `old`, and sets `new`. */
enum sim_store_err sim__move_sweep(struct sim__move *move);

/* Adds `old`, a part, to `new`, or copies it where that is 0. */
enum sim_store_err sim__move_part(struct sim__move *move);

/* After all sweeps of `from`: what belongs to none, and what is remembered of those that moved. */
enum sim_store_err sim__move_rest(const struct sim__move *move);

#endif
