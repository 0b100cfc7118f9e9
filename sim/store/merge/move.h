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
#ifndef SIM_STORE_MERGE_MOVE_H
#define SIM_STORE_MERGE_MOVE_H

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

/* ---- What the files of this folder share. ---------------------------------------------------- */

/* Puts the rows that `select` answers in `from` into `to`, by `insert`. In `select`,
 * ?1 is the old sweep, ?2 the new one, ?3 the shift of runs, ?4 that of events; `insert` is given
 * its columns. */
enum sim_store_err sim__move_rows(
        const struct sim__move *move, const char *select, const char *insert);

bool sim__move_has_table(struct sim_store *store, const char *name);

/* Explanations of the failures of `old`, and the runs that tell them (explained.sql), but for what
 * has a column `run` of theirs alone: that goes with any other table. Makes the tables. */
enum sim_store_err sim__move_explained(const struct sim__move *move);

#endif
