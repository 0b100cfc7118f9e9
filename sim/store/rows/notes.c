/*
 * notes.c -- the command of a sweep, and how it ended, in the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

/* notes.sql, made into a C array by the build. */
extern const char sim_notes_sql[];

enum sim_store_err
sim__store_note_tables(struct sim_store *store)
{
    return sim__store_sqlite(store, sqlite3_exec(store->db, sim_notes_sql, NULL, NULL, NULL));
}

static enum sim_store_err
insert_note(struct sim_store *store, const struct sim_sweep_note *note)
{
    struct sim__statement statement = sim__store_prepare(
            store, "INSERT OR REPLACE INTO sweep_notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sim__put_int(&statement, note->sweep);
    sim__put_int(&statement, note->command_ms);
    sim__put_text(&statement, note->about);
    sim__put_text(&statement, note->file);
    sim__put_int(&statement, note->stated);
    sim__put_int(&statement, (note->held_to_verdict ? 1 : 0) | (note->held_to_goals ? 2 : 0));
    sim__put_text(&statement, note->ended);
    sim__put_bits(&statement, note->checked);
    sim__put_bits(&statement, note->unequal);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

static enum sim_store_err
insert_also(struct sim_store *store, const struct sim_sweep_note *note)
{
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT OR REPLACE INTO also_stated VALUES (?, ?)");
    sim__put_int(&statement, note->sweep);
    sim__put_int(&statement, note->stated_also);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim_store_sweep_note(struct sim_store *store, const struct sim_sweep_note *note)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(note->about != NULL && note->ended != NULL);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = sim__store_note_tables(store);
    if (err == SIM_STORE_OK) {
        err = insert_note(store, note);
    }
    if (err == SIM_STORE_OK && note->stated_also != 0) {
        err = insert_also(store, note);
    }
    return sim__store_end(store, err);
}
