/*
 * shard.h -- parts of a sweep in the database, and how they are put together: shard.sql.
 *
 * Part of the store's door (store.h): the same errors, the same batches.
 *
 * A sweep that is made in parts has a row in `shards` for each part that is in the
 * database. Two sweeps are parts of one when scenario, library, strategy, options, build,
 * commit, first seed, the number of parts, runs asked for and the length of chapters are the
 * same; so it takes no name that somebody would have to think of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_SHARD_H
#define SIM_STORE_SHARD_H

#include "sim/search/cover/species.h"
#include "sim/store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_shard {
    uint32_t shard;  /* From 1 … */
    uint32_t shards; /* … to this. */
    uint64_t chapter_runs;
    uint64_t asked; /* Runs of all parts; 0: as many as there was time for. */
};

/* The sweep is this part of one: with what sim_store_sweep_update said of it last. Replaced. */
RT_MUST_CHECK enum sim_store_err sim_store_shard(
        struct sim_store *store, int64_t sweep, const struct sim_shard *shard);

/* What a part has counted of different runs, one by one; what was there is replaced. */
RT_MUST_CHECK enum sim_store_err sim_store_species_list(
        struct sim_store *store, int64_t sweep, const struct sim_species *species);

/* What a merge has done with the sweeps of a database. */
struct sim_merge_counts {
    uint32_t parts;  /* Parts of sweeps, put to the others. */
    uint32_t sweeps; /* Whole ones, copied. */
    uint32_t known;  /* Parts and sweeps that were there already. */
};

/* Of several merges into one database. All zero to begin with. */
struct sim_merge {
    bool apart; /* Parts that do not fit those that are there are no error. */
    struct sim_merge_counts counts;
};

/*
 * Adds to `store` all sweeps of `from`, which is open for reading: their runs, events, coverage,
 * and what is to be tried first. A part is put to the other parts of its sweep: counts, digests,
 * coverage and species are sums then, and first_run and fresh are those of the sweep in one piece.
 * What is there already is left alone. Within a batch of `store` all of several merges is done, or
 * nothing.
 *
 * Errors: those of both databases; the line begins with the name of the one. UNLIKE: a part is of
 * another sweep than the parts that came before it, in this batch or in a sweep of the same
 * scenario that is not whole; or it is there with other runs.
 */
RT_MUST_CHECK enum sim_store_err sim_store_merge(
        struct sim_store *store, struct sim_store *from, struct sim_merge *merge);

/* Looks through the whole of a database that is open, however large. CORRUPT. */
RT_MUST_CHECK enum sim_store_err sim_store_look_through(struct sim_store *store);

#ifdef __cplusplus
}
#endif
#endif
