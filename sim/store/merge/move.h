/*
 * move.h -- moves the rows of a sweep from one database into another.
 *
 * For merge.c, which decides which sweeps. All of it is in a transaction of `to`. Numbers of runs
 * and events are shifted by the largest that `to` has had, so that references remain valid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

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

/* Puts the rows that `select` answers in `from` into `to`, by `insert`. In `select`,
 * ?1 is the old sweep, ?2 the new one, ?3 the shift of runs, ?4 that of events; `insert` is given
 * its columns. */
void sim__move_rows(const struct sim__move *move, const char *select, const char *insert);

/* Adds sweep `old` to `new`, or copies it where that is 0, and sets `new`. `part`: it is a shard,
 * and what the shards have in common is computed again. */
void sim__move_sweep(struct sim__move *move, bool part);

/* After all sweeps of `from`: rows that belong to none, and remembered failures of those moved. */
void sim__move_rest(const struct sim__move *move);

/* An error of `from` is one of the merge. */
void sim__move_check(const struct sim__move *move);
