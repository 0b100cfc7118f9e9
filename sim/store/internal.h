/*
 * internal.h -- what the files of the trace database share.
 *
 * A call of the store is: begin, statements, end; one that only reads: enter, statements. The
 * store keeps the first error of a call, or of a batch, and does nothing more then, so that a call
 * reads as a list. Every error goes through sim__store_refuse or sim__store_sqlite, which write
 * the message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include "runtime/base/assert.h"
#include "sim/store/rows/table.h"
#include "sim/store/store.h"

#define SIM__STORE_MAGIC 0x53746f72u

/* schema.sql, made into a C array by the build (too long for a literal under -Wpedantic). */
extern const char sim_schema_sql[];

/* coverage.sql, likewise. */
extern const char sim_coverage_sql[];

/* Both are also in schema.sql; a test compares them. */
#define SIM__STORE_APPLICATION 0x72776b31
#define SIM__STORE_VERSION 4

/* The numbers of the two runs that explain run:`run`, which is at least 1. */
#define SIM_FAILING_OF(run) (-2 * (run))
#define SIM_PASSING_OF(run) (-2 * (run)-1)

struct sim_store {
    uint32_t magic;
    uint32_t wait_ms;
    enum sim_store_mode mode;
    enum sim_store_err err; /* The first error of the call, or of the batch, which it aborts. */
    bool batch;
    bool locked;     /* It has the writer's lock. */
    bool relaxed;    /* The next commit is the first: store.c. */
    bool gone;       /* Another file is at its path, or none. */
    int lock_fd;     /* Of that lock's file; each is -1 while not open. */
    int db_fd;       /* To find the holder of SQLite's locks on the file, */
    int shm_fd;      /* and on the one beside it. */
    ino_t wal_inode; /* Of SQLite's file beside it; 0: not there yet. */
    sqlite3 *db;
    char *path;
    struct sim__given given; /* The content of the virtual table; see table.h. */
    char message[SIM_STORE_MESSAGE_MAX];
};

/* ---- error.c --------------------------------------------------------------------------------- */

/* Notes `err`, writes its message with a detail (printf-like), and returns it. */
__attribute__((format(printf, 3, 4))) enum sim_store_err sim__store_refuse(
        struct sim_store *store, enum sim_store_err err, const char *format, ...);

/* The same for `rc`, SQLite's result of the last call on store->db. OK for SQLITE_OK. */
enum sim_store_err sim__store_sqlite(struct sim_store *store, int rc);

/* The same for `error`, an errno. */
enum sim_store_err sim__store_errno(struct sim_store *store, int error, const char *what);

/* ---- schema.c -------------------------------------------------------------------------------- */

/* CORRUPT, with the first table, view or index that is missing or not as this build makes it. */
void sim__store_check_schema(struct sim_store *store);

/* ---- place.c --------------------------------------------------------------------------------- */

/* GONE when another file is at the database's path, or none; or at that of SQLite's WAL. */
void sim__store_check_place(struct sim_store *store);

/* Whether there is no WAL beside it. */
bool sim__store_no_wal(const struct sim_store *store);

/* After that, and once it is closed: removes the WAL that SQLite leaves beside a database that was
 * replaced, as the next program to open that would find our pages in it. */
void sim__store_remove_wal(const struct sim_store *store);

/* ---- lock.c ---------------------------------------------------------------------------------- */

/* Makes the folder when it is missing, and takes the writer's lock, waiting if need be. */
void sim__store_lock(struct sim_store *store);

/* The process that holds SQLite's locks (or ours) on the database: "sqlite3, process 4711". */
void sim__store_holder(struct sim_store *store, char *text, size_t size);

/* Releases the lock and closes all descriptors: only after SQLite has closed its files, as a close
 * drops all locks that the process has on a file. */
void sim__store_unlock(struct sim_store *store);

/* ---- store.c --------------------------------------------------------------------------------- */

/* Opens every call: there is no error yet, unless a batch has failed. */
void sim__store_enter(struct sim_store *store);

/* Runs statements without results. */
void sim__store_execute(struct sim_store *store, const char *sql);

/* Opens every call that writes: a transaction, unless a batch is on. */
void sim__store_begin(struct sim_store *store);

/* Ends it: commits, or rolls back after an error, which it returns. */
enum sim_store_err sim__store_end(struct sim_store *store);

/* ---- statement.c ----------------------------------------------------------------------------- */

struct sim__statement {
    struct sim_store *store;
    sqlite3_stmt *stmt;
    int next; /* Parameter that the next put binds. */
};

/* Prepares `sql`. Needs a sim__store_done, also after an error. */
struct sim__statement sim__store_prepare(struct sim_store *store, const char *sql);

/* Bind the next parameter. Text is borrowed until the statement is done; NULL is NULL. */
void sim__put_int(struct sim__statement *statement, int64_t value);
void sim__put_text(struct sim__statement *statement, const char *text);
/* A column of another statement's row, also of another database. Copied. */
void sim__put_value(struct sim__statement *statement, const sqlite3_value *value);

/* Runs it to its end and makes it ready to be bound again. */
void sim__store_run(struct sim__statement *statement);

/* The next row; false at the end and after an error. */
bool sim__store_row(struct sim__statement *statement);

/* Frees it. */
void sim__store_done(struct sim__statement *statement);

/* The first column of its first row, and done; `none` without a row, and for NULL. */
int64_t sim__store_answer(struct sim__statement *statement, int64_t none);

/* prepare, put one integer where it has a parameter, answer (0: none) … */
int64_t sim__store_ask_int(struct sim_store *store, const char *sql, int64_t value);

/* … and without an answer. */
void sim__store_run_int(struct sim_store *store, const char *sql, int64_t value);

/* ---- rows/sweep.c: in the caller's transaction. ---------------------------------------------- */

/* The rows of sim_store_runs. */
void sim__store_insert_runs(struct sim_store *store, int64_t sweep, const struct sim_run_row *rows,
        uint32_t count, const uint8_t *tapes, size_t tapes_size);

/* Replaces the row of run:ID by `row`. */
void sim__store_replace_run(struct sim_store *store, int64_t run, const struct sim_run_row *row,
        const uint8_t *tape, size_t tape_size);

/* As sim_store_species and sim_store_species_list. */
struct sim_census;
struct sim_species;
void sim__store_census(struct sim_store *store, int64_t sweep, const char *strategy,
        const struct sim_census *census);
void sim__store_species_list(
        struct sim_store *store, int64_t sweep, const struct sim_species *species);

/* ---- rows/run.c ------------------------------------------------------------------------------ */

/* UNKNOWN where `runs` has no such row. */
void sim__store_known(struct sim_store *store, int64_t run);

/* Events as words. */
extern const struct sim__table sim__event_words;

/* Writes details, events, hashes and texts under `number`, which has none; deletes them. In a
 * transaction. */
void sim__store_details(struct sim_store *store, int64_t number, const struct sim_full_run *run);
void sim__store_forget_details(struct sim_store *store, int64_t number);

/* ---- words.c --------------------------------------------------------------------------------- */

/* Fills verdicts, oracles, kinds, where this build knows more than the file. In a transaction. */
void sim__store_words(struct sim_store *store);

/* Writes all known sites. In a transaction. */
void sim__store_sites(struct sim_store *store);
