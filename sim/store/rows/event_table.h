/*
 * event_table.h -- arrays in memory that SQL can read.
 *
 * The fastest insertion of many rows into SQLite is one INSERT ... SELECT from a virtual
 * table: one prepared program runs over all rows, and no value passes through a
 * bind. Two such tables are registered with a writer's connection:
 *
 *      ring_events     the events in a recorder's ring, oldest first, four words each
 *      ring_runs       an array of struct sim_run_row with the tapes beside it
 *
 * A table shows what its struct sim__array points at during one statement, else
 * nothing. They cannot be named by triggers or views of the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_ROWS_EVENT_TABLE_H
#define SIM_STORE_ROWS_EVENT_TABLE_H

#include <sqlite3.h>
#include <stdint.h>

#include "sim/core/record/recorder.h"
#include "sim/store/store.h"

struct sim__array {
    const char *declaration; /* The columns, as CREATE TABLE. */
    void (*column)(const struct sim__array *array, uint64_t row, int column, sqlite3_context *to);
    uint64_t count; /* Rows to show; 0 between statements. */
    const struct sim_recorder *recorder;
    const struct sim_run_row *rows;
    const uint8_t *tapes;
    size_t tapes_size;
};

/* An event out of its four words. */
struct sim_event sim__event_of_words(const uint64_t *words);

/* Registers both tables with `db`; the arrays are borrowed as long as it is open. Answers SQLite's
 * result. */
int sim__event_tables_register(
        sqlite3 *db, struct sim__array *ring_events, struct sim__array *ring_runs);

#endif
