/*
 * shrunk.c -- the smallest run that fails as a stored one does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/store/internal.h"

static enum sim_store_err
insert(struct sim_store *store, const struct sim_shrunk_row *row)
{
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT OR REPLACE INTO shrunk (run, token, options, digest, steps, sim_ns, deviations,"
            " preemptions, faults, actors, tape, replays, stopped)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, x''), ?, ?)");
    sim__put_int(&statement, row->run);
    sim__put_text(&statement, row->token);
    sim__put_text(&statement, row->options);
    sim__put_bits(&statement, row->digest);
    sim__put_bits(&statement, row->steps);
    sim__put_bits(&statement, row->sim_ns);
    sim__put_int(&statement, row->deviations);
    sim__put_int(&statement, row->preemptions);
    sim__put_int(&statement, row->faults);
    sim__put_int(&statement, row->actors);
    sim__put_blob(&statement, row->tape, row->tape_size);
    sim__put_int(&statement, row->replays);
    sim__put_text(&statement, row->stopped);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_shrunk(struct sim_store *store, const struct sim_shrunk_row *row)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(row->run > 0 && row->token != NULL && row->options != NULL && row->stopped != NULL);
    enum sim_store_err err = sim__store_begin(store);
    return err != SIM_STORE_OK ? err : sim__store_end(store, insert(store, row));
}
