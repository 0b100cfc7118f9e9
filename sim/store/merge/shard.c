/*
 * shard.c -- which part of a sweep that is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/shard.h"
#include "sim/store/internal.h"

static enum sim_store_err
insert_shard(struct sim_store *store, int64_t sweep, const struct sim_shard *shard)
{
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT OR REPLACE INTO shards (sweep, shard, shards, chapter, asked, started_ms,"
            " elapsed_ms, runs, digest, complete)"
            " SELECT sweep, ?, ?, ?, ?, started_ms, elapsed_ms, runs, digest, complete"
            " FROM sweeps WHERE sweep = ?");
    sim__put_int(&statement, shard->shard);
    sim__put_int(&statement, shard->shards);
    sim__put_bits(&statement, shard->chapter_runs);
    sim__put_bits(&statement, shard->asked);
    sim__put_int(&statement, sweep);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_shard(struct sim_store *store, int64_t sweep, const struct sim_shard *shard)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(shard->shard >= 1 && shard->shard <= shard->shards);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = sim__store_shard_tables(store);
    if (err == SIM_STORE_OK) {
        err = insert_shard(store, sweep, shard);
    }
    return sim__store_end(store, err);
}

enum sim_store_err
sim__store_shard_tables(struct sim_store *store)
{
    return sim__store_sqlite(store, sqlite3_exec(store->db, sim_shard_sql, NULL, NULL, NULL));
}

static enum sim_store_err
insert_species(struct sim_store *store, int64_t sweep, const struct sim_species *species)
{
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT INTO species VALUES (?, ?, ?)");
    for (uint32_t i = 0; i < species->capacity; i++) {
        if (species->entries[i].species != 0) {
            sim__put_int(&statement, sweep);
            sim__put_bits(&statement, species->entries[i].species);
            sim__put_bits(&statement, species->entries[i].runs);
            (void)sim__store_run(&statement);
        }
    }
    return sim__store_done(&statement);
}

enum sim_store_err
sim__store_write_species(struct sim_store *store, int64_t sweep, const struct sim_species *species)
{
    enum sim_store_err err =
            sim__store_run_int(store, "DELETE FROM species WHERE sweep = ?", sweep);
    return err == SIM_STORE_OK ? insert_species(store, sweep, species) : err;
}

enum sim_store_err
sim_store_species_list(struct sim_store *store, int64_t sweep, const struct sim_species *species)
{
    rt_check(store, SIM__STORE_MAGIC);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = sim__store_shard_tables(store);
    if (err == SIM_STORE_OK) {
        err = sim__store_write_species(store, sweep, species);
    }
    return sim__store_end(store, err);
}
