/*
 * shard.h -- shards of a sweep in the database, and how they are merged: shard.sql.
 *
 * Part of the interface in store.h: the same errors, the same batches.
 *
 * A sharded sweep has a row in `shards` for each shard that is in the database. Two sweeps are
 * shards of one when scenario, library, strategy, options, build, commit, first seed, number of
 * shards, requested runs and length of batches are the same, so the user need not invent a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/cover/species.h"
#include "sim/store/store.h"

struct sim_shard {
    uint32_t shard;  /* From 1 … */
    uint32_t shards; /* … to this. */
    uint64_t unit_runs;
    uint64_t asked; /* Requested runs of all shards; 0: as many as there was time for. */
};

/* Notes that the sweep is this shard, with the totals of the last sim_store_sweep_update. Replaces
 * an earlier note. */
enum sim_store_err sim_store_shard(
        struct sim_store *store, int64_t sweep, const struct sim_shard *shard);

/* Writes the species that a shard has counted; replaces earlier ones. */
enum sim_store_err sim_store_species_list(
        struct sim_store *store, int64_t sweep, const struct sim_species *species);

/* What a merge did with the sweeps of a database. */
struct sim_merge_counts {
    uint32_t parts;  /* Shards, added to the others of their sweeps. */
    uint32_t sweeps; /* Whole ones, copied. */
    uint32_t known;  /* Shards and sweeps that were there already. */
};

/* Of several merges into one database. All zero to begin with. */
struct sim_merge {
    bool apart; /* Shards that do not fit those that are there are no error. */
    struct sim_merge_counts counts;
};

/*
 * Adds to `store` all sweeps of `from`, which is open for reading: their runs, events, coverage,
 * and remembered failures. A shard is added to the others of its sweep: counts, digests, coverage
 * and species are sums then, and first_run and fresh are those of the undivided sweep. What is
 * there already is not changed. Several merges within a batch of `store` are atomic.
 *
 * Errors: those of both databases; the message begins with the name of the one. UNLIKE: a shard is
 * of another sweep than earlier shards of this batch, or than a sweep of the same scenario in
 * `store` that lacks shards; or it is there with other runs.
 */
enum sim_store_err sim_store_merge(
        struct sim_store *store, struct sim_store *from, struct sim_merge *merge);
