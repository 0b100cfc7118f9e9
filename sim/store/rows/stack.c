/*
 * stack.c -- where a failure is in the source, in the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/core/code/frames.h"
#include "sim/store/internal.h"

/* stacks.sql, made into a C array by the build. */
extern const char sim_stacks_sql[];

enum sim_store_err
sim__store_stack_tables(struct sim_store *store)
{
    return sim__store_sqlite(store, sqlite3_exec(store->db, sim_stacks_sql, NULL, NULL, NULL));
}

static enum sim_store_err
insert_frame(struct sim_store *store, int64_t run, uint32_t n, const struct sim_frame *frame)
{
    struct sim__statement statement = sim__store_prepare(
            store, "INSERT OR REPLACE INTO stacks VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    sim__put_int(&statement, run);
    sim__put_int(&statement, n);
    sim__put_text(&statement, frame->function);
    sim__put_text(&statement, frame->file);
    sim__put_int(&statement, frame->line);
    sim__put_int(&statement, frame->times);
    sim__put_text(&statement, frame->module);
    sim__put_bits(&statement, frame->offset);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

enum sim_store_err
sim__store_stack(struct sim_store *store, int64_t run, const struct sim_frames *frames)
{
    rt_assert(frames->count <= SIM_FRAMES_MAX);
    enum sim_store_err err = frames->count > 0 ? sim__store_stack_tables(store) : SIM_STORE_OK;
    for (uint32_t i = 0; i < frames->count && err == SIM_STORE_OK; i++) {
        err = insert_frame(store, run, i, &frames->all[i]);
    }
    return err;
}
