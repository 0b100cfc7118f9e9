/*
 * store.h -- the trace database.
 *
 * One SQLite file that any program can query; schema.sql is its documentation. This is
 * its only interface: nothing else under sim/ calls SQLite.
 *
 * Access. Only the parent process opens it, never a worker. One rewake at a time
 * writes: from open to close a writer holds a separate lock (PATH-lock) beside
 * SQLite's, and a second writer waits, then reports the holder. Readers (`rewake query`, stock
 * `sqlite3`) may open it meanwhile. One store a database in a process.
 *
 * Durability. Each call is one transaction, unless it is between
 * sim_store_batch_begin and _commit. The file is in WAL mode: however the process
 * dies, the database opens and has every committed batch.
 *
 * Errors. Each call returns an enum sim_store_err; sim_store_message then is one
 * line with the name of the file or of what failed. A call that fails has changed
 * nothing. A failure of the system never crashes the process: losing
 * the database is an exit status (70), not a verdict.
 *
 * Numbers. Seeds and counts fit SQLite's 63 bits; digests and hashes are stored as
 * the signed integer with the same 64 bits, and the views print 16 hex digits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_STORE_H
#define SIM_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "sim/core/record/outcome.h"
#include "sim/core/record/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Name, short name, what it means and what to do. */
#define SIM_STORE_ERROR_LIST(X) \
    X(MISSING, "missing", "there is no database here; run something first, or name one with --db") \
    X(NOT_OURS, "not-ours", \
            "this file was not made by rewake and is left alone; name another with --db") \
    X(CORRUPT, "corrupt", \
            "the database is damaged; keep what `sqlite3 FILE .recover` can read, then move it " \
            "away") \
    X(NEWER, "newer", \
            "the database was made by a newer rewake; use that one, or name another with --db") \
    X(OLDER, "older", \
            "the database was made by an older rewake; move it away, or name another with --db") \
    X(GONE, "gone", \
            "the database was deleted, moved or replaced while rewake wrote to it; run again") \
    X(READ_ONLY, "read-only", \
            "the database cannot be written; change its permissions, or name another with --db") \
    X(FULL, "full", "the disk is full; free some space, or name a database elsewhere with --db") \
    X(HELD, "held", "another process holds the database; wait for it, or name another with --db") \
    X(QUERY, "query", "the query cannot be answered; only single reading statements are allowed") \
    X(UNKNOWN, "unknown", "the database has no such run; `rewake query` lists those it has") \
    X(UNLIKE, "unlike", \
            "these are no shards of one sweep; merge into another file, or keep them apart with " \
            "--apart") \
    X(SYSTEM, "system", "the operating system refused; the message says what")

enum sim_store_err {
    SIM_STORE_OK,
#define SIM_STORE_ERROR_ENUM(name, text, meaning) SIM_STORE_##name,
    SIM_STORE_ERROR_LIST(SIM_STORE_ERROR_ENUM)
#undef SIM_STORE_ERROR_ENUM
            SIM_STORE_ERRORS
};

/* "held" …, "ok"; what it means and what to do, one sentence. Static; "?" for none. */
const char *sim_store_err_name(enum sim_store_err err);
const char *sim_store_err_text(enum sim_store_err err);

/* The default path. */
#define SIM_STORE_PATH ".rewake/trace.db"

#define SIM_STORE_MESSAGE_MAX 512
#define SIM_STORE_WAIT_MS 10000u

struct sim_store;

enum sim_store_mode {
    SIM_STORE_READ, /* The database must be there; it is never changed. */
    SIM_STORE_WRITE /* Makes the file, and the last folder of its path, when missing. */
};

/*
 * Opens the database at `path`. `wait_ms`: how long this and every later call waits for another
 * process; 0 stands for SIM_STORE_WAIT_MS.
 *
 * On failure nothing is overwritten, *ret_store is untouched, and `message` (of `size` bytes,
 * SIM_STORE_MESSAGE_MAX is enough) has one line, without line end: the path, the error, what to do.
 *
 * Errors:
 *   MISSING    READ: no such file.
 *   NOT_OURS   Not SQLite, or another application's; or a directory.
 *   CORRUPT    Ours, but damaged or cut.
 *   NEWER      Ours, with a schema that this build does not know.
 *   OLDER      Ours, with a schema that this build does not know any more.
 *   READ_ONLY  WRITE: the file, its folder or its file system cannot be written.
 *   FULL       WRITE: the disk is full.
 *   HELD       Another process still held it after the wait; the line has its name and id.
 *   SYSTEM     Anything else: no permission to read, out of memory …
 */
RT_MUST_CHECK enum sim_store_err sim_store_open(const char *path, enum sim_store_mode mode,
        uint32_t wait_ms, char *message, size_t size, struct sim_store **ret_store);

/* Closes it and nulls the pointer; accepts NULL inside. Drops what was not committed. */
void sim_store_close(struct sim_store **store);

/* The line of the last call that failed; "" when none has. Borrowed until the next call. */
const char *sim_store_message(const struct sim_store *store);

const char *sim_store_path(const struct sim_store *store);

/*
 * SQLite's handle, for the statements of reports/. Borrowed until the store is closed, for reading
 * only: no writes, ATTACH or pragmas. sim_store_refused reports its errors.
 */
struct sqlite3;
struct sqlite3 *sim_store_handle(const struct sim_store *store);

/* Sets sim_store_message by SQLite's result of the last call on that handle, and returns the error;
 * OK for SQLITE_OK, SQLITE_ROW and SQLITE_DONE. */
enum sim_store_err sim_store_refused(struct sim_store *store, int rc);

/*
 * Errors of every call that writes, below: HELD, FULL, READ_ONLY, CORRUPT, SYSTEM. READ_ONLY also
 * when the store was opened for reading.
 */

/* ---- Batches. ------------------------------------------------------------------------------- */

/* From here to commit all calls are one transaction. Not nested. A call that fails aborts the whole
 * batch: later calls, and commit, return the same error. */
RT_MUST_CHECK enum sim_store_err sim_store_batch_begin(struct sim_store *store);
RT_MUST_CHECK enum sim_store_err sim_store_batch_commit(struct sim_store *store);

/* Aborts the batch, if there is one: nothing of it is written. */
void sim_store_batch_drop(struct sim_store *store);

/* ---- Sweeps: many runs of one scenario. ------------------------------------------------------ */

struct sim_sweep {
    const char *scenario;
    const char *library;  /* Path of the library it came from; NULL: in rewake itself. */
    const char *strategy; /* "random", "pct:d=3" … */
    const char *options;  /* A JSON object: options and parameters that differ from the defaults. */
    const char *build;    /* Version, compiler, flags: one line; may be NULL. */
    const char *git;      /* Commit of the user's tree; may be NULL. */
    uint64_t seed_first;
    int64_t started_ms; /* Since 1970; the store knows no clock. */
};

struct sim_sweep_totals {
    uint64_t runs;
    uint64_t steps;
    uint64_t sim_ns;
    uint64_t digest; /* Sum modulo 2^64 of hash(seed, run digest). */
    uint64_t elapsed_ms;
    uint64_t verdicts[SIM_VERDICTS]; /* Runs by verdict; they add up to `runs`. */
    bool complete;                   /* All runs that were requested are in. */
};

/* Begins a sweep, and writes all known sites. */
RT_MUST_CHECK enum sim_store_err sim_store_sweep_begin(
        struct sim_store *store, const struct sim_sweep *sweep, int64_t *ret_sweep);

/* Sets the sweep's totals so far (no increments). Called with each batch, and at the end. */
RT_MUST_CHECK enum sim_store_err sim_store_sweep_update(
        struct sim_store *store, int64_t sweep, const struct sim_sweep_totals *totals);

/* Notes that the seeds first, first + stride … last were run. A range that continues the sweep's
 * last one is joined to it. `stride` is at least 1. */
RT_MUST_CHECK enum sim_store_err sim_store_sweep_seeds(
        struct sim_store *store, int64_t sweep, uint64_t first, uint64_t last, uint64_t stride);

/* ---- Runs, in their thousands. --------------------------------------------------------------- */

/* Why a run has a row: a mask. */
#define SIM_NEWS_FAILED 1u
#define SIM_NEWS_COVERAGE 2u /* It covered something new. */
#define SIM_NEWS_RECHECKED 4u
#define SIM_NEWS_ASKED 8u /* --record all */
#define SIM_NEWS_CODE 16u /* It reached code that no run before it had. */

/* Plain data: a worker fills arrays of it. */
struct sim_run_row {
    uint64_t number; /* In the sweep, from 0. */
    uint64_t seed;
    uint64_t digest;
    uint64_t steps;
    uint64_t sim_ns;
    uint64_t decisions;
    uint64_t events; /* How many there were; stored or not. */
    uint64_t fail_step;
    uint64_t missing_wake_step;
    uint32_t deviations;
    uint32_t actor; /* UINT32_MAX: none. */
    uint32_t object;
    uint32_t site;
    uint32_t tape_offset; /* Into `tapes`. */
    uint32_t tape_length; /* 0: the baseline run, or the tape was not kept. */
    uint32_t fresh;       /* Coverage points that this run was the first to cover. */
    uint8_t verdict;
    uint8_t oracle;
    uint8_t news;
    uint8_t reserved;
};

/* Writes `count` rows of `sweep`, in order. `tapes`: encoded tapes (tape.h) of all of them. */
RT_MUST_CHECK enum sim_store_err sim_store_runs(struct sim_store *store, int64_t sweep,
        const struct sim_run_row *rows, uint32_t count, const uint8_t *tapes, size_t tapes_size);

/* ---- One run, with all its details. ---------------------------------------------------------- */

/* Whether the run also fails in FIFO order. */
enum sim_store_fifo { SIM_FIFO_NOT_ASKED, SIM_FIFO_NO, SIM_FIFO_YES };

/* Numbers of runs without a seed of the sweep: the default schedule, before the run of the first
 * seed (-1), and a remembered failure, which was tried first (-2). */
#define SIM_RUN_NUMBER_DEFAULT UINT64_MAX
#define SIM_RUN_NUMBER_AGAIN (UINT64_MAX - 1)

struct sim_frames;

struct sim_full_run {
    int64_t sweep;
    uint64_t number; /* In the sweep; or SIM_RUN_NUMBER_DEFAULT, SIM_RUN_NUMBER_AGAIN. */
    const struct sim_outcome *outcome;
    const char *token;
    const char *options; /* Its own, as in struct sim_sweep. */
    const uint8_t *tape; /* Encoded; NULL with size 0. */
    size_t tape_size;
    const struct sim_recorder *recorder; /* Events, hashes, texts; NULL: none were kept. */
    const struct sim_frames *frames;     /* The stack of the failure; NULL: not known. */
    uint32_t fresh;
    uint32_t news;
    enum sim_store_fifo fifo;
    bool has_row; /* sim_store_runs has written its row, with the counts of its batch. */
};

/* Writes a run with its events; *ret_run is the ID of "run:ID". A row that it has is replaced and
 * keeps its ID. */
RT_MUST_CHECK enum sim_store_err sim_store_failure(
        struct sim_store *store, const struct sim_full_run *run, int64_t *ret_run);

/* The smallest run that fails in the same way as a stored one. Strings and tape are borrowed. */
struct sim_shrunk_row {
    int64_t run; /* As it was found. */
    const char *token;
    const char *options; /* As in struct sim_sweep. */
    const char *stopped; /* "minimal", "replays" … */
    const uint8_t *tape; /* Encoded. */
    size_t tape_size;
    uint64_t digest;
    uint64_t steps;
    uint64_t sim_ns;
    uint32_t deviations;
    uint32_t preemptions;
    uint32_t faults;
    uint32_t actors;
    uint32_t replays;
};

/* Writes it; replaces an earlier one of that run. */
RT_MUST_CHECK enum sim_store_err sim_store_shrunk(
        struct sim_store *store, const struct sim_shrunk_row *row);

/* Writes the events, hashes and texts of a stored run; replaces those that it had.
 * Errors: also UNKNOWN. */
RT_MUST_CHECK enum sim_store_err sim_store_refill(
        struct sim_store *store, int64_t run, const struct sim_recorder *recorder);

/* What is known of run:ID. The struct owns its strings; NULL where nothing is known. */
struct sim_found_run {
    int64_t run;
    int64_t sweep;
    char *scenario;
    char *library;
    char *strategy;
    char *options;
    char *token; /* NULL for a run that is only a row: scenario, options, seed, tape make one. */
    char *message;
    char *shrunk_token; /* NULL: it was not shrunk. */
    uint8_t *tape;
    size_t tape_size;
    uint64_t *hashes; /* One for SIM_CHUNK events. */
    size_t hashes_count;
    uint64_t seed;
    uint64_t digest;
    uint64_t events;        /* Of the run. */
    uint64_t events_stored; /* Rows that are there. */
    uint32_t verdict;
    uint32_t oracle;
    uint32_t site;
};

/* Errors: UNKNOWN. Then *ret_found is untouched; else sim_found_run_clear must follow. */
RT_MUST_CHECK enum sim_store_err sim_store_find_run(
        struct sim_store *store, int64_t run, struct sim_found_run *ret_found);
void sim_found_run_clear(struct sim_found_run *found);

/* Reads events of `run`, from index `first` on, at most `capacity`. */
RT_MUST_CHECK enum sim_store_err sim_store_read_events(struct sim_store *store, int64_t run,
        uint64_t first, struct sim_event *events, uint32_t capacity, uint32_t *ret_count);

/* ---- Failures that the next sweep tries first. ----------------------------------------------- */

/* One for each (scenario, verdict, oracle, site). Strings are borrowed. */
struct sim_remembered {
    const char *scenario;
    const char *library; /* NULL: in rewake itself. */
    const char *token;
    uint32_t verdict;
    uint32_t oracle;
    uint32_t site;
    int64_t run; /* 0: none. */
};

/* Remembers, as the newest; another token with the same key is replaced. */
RT_MUST_CHECK enum sim_store_err sim_store_remember(
        struct sim_store *store, const struct sim_remembered *failure);

/* It no longer fails. Not there: nothing. */
RT_MUST_CHECK enum sim_store_err sim_store_forget(
        struct sim_store *store, const struct sim_remembered *failure);

/* `run` is a remembered failure as it failed again, tried before the first run of `sweep`, whose
 * note (sim_store_sweep_note) is there. Again: nothing. */
RT_MUST_CHECK enum sim_store_err sim_store_failed_again(
        struct sim_store *store, int64_t sweep, int64_t run);

/* Calls `each` for each, newest first, until it returns false, with strings that last until then;
 * it must not call the store. */
RT_MUST_CHECK enum sim_store_err sim_store_remembered(struct sim_store *store,
        bool (*each)(const struct sim_remembered *failure, void *argument), void *argument);

/* ---- The table of real bugs (zoo.sql). ------------------------------------------------------- */

struct sim_zoo_row {
    const char *name;      /* Without the form: "zoo/async-io-07b6cca". */
    const char *bug;       /* "A05" */
    const char *reference; /* "smol-rs/async-io 07b6cca" */
    const char *about;
    uint32_t verdict;
    uint32_t oracle;
    bool as_stated;
    bool baseline;
    uint32_t trials;
    uint32_t found;
    uint64_t trial_runs;
    uint64_t trial_steps;
    uint64_t fixed_runs;
    uint64_t fixed_failures;
};

/* Writes the row of one bug; replaces its earlier measurement. */
RT_MUST_CHECK enum sim_store_err sim_store_zoo(struct sim_store *store,
        const struct sim_zoo_row *row, const char *build, int64_t measured_ms);

/* ---- Measurements of strategies (measure.sql). ----------------------------------------------- */

struct sim_measure_row {
    const char *scenario;
    const char *strategy; /* With what differs from the defaults. */
    uint64_t runs_max;
    uint32_t trials;
    uint32_t found;
    uint32_t exhausted;
    uint32_t verdict;
    uint32_t oracle;
    uint64_t trial_runs;
    uint64_t trial_steps;
    bool as_stated;
};

/* Writes the row of one scenario and strategy; replaces their earlier measurement. */
RT_MUST_CHECK enum sim_store_err sim_store_measure(struct sim_store *store,
        const struct sim_measure_row *row, const char *build, int64_t measured_ms);

/* ---- The command of a sweep, and how it ended (notes.sql). ----------------------------------- */

/* Strings are borrowed. */
struct sim_sweep_note {
    int64_t sweep;
    int64_t command_ms;   /* When the command began, since 1970; all its sweeps have this. */
    const char *about;    /* Of its scenario. */
    const char *file;     /* Where that is written; NULL: not known. */
    uint32_t stated;      /* The verdict that it declares. */
    uint32_t stated_also; /* Another one; 0: none. */
    bool held_to_verdict;
    bool held_to_goals;
    const char *ended; /* "complete" …, the words of notes.sql. */
    uint64_t checked;  /* Runs that were repeated in another process … */
    uint64_t unequal;  /* … and had another digest there. */
};

/* Writes it; replaces the sweep's earlier note. */
RT_MUST_CHECK enum sim_store_err sim_store_sweep_note(
        struct sim_store *store, const struct sim_sweep_note *note);

/* ---- Queries. -------------------------------------------------------------------------------- */

enum sim_store_form {
    SIM_STORE_TABLE, /* A heading, a rule, rows with columns in line. */
    SIM_STORE_JSON /* One object a row; seeds, and integers that a double cannot hold, are text. */
};

/*
 * Runs one reading statement and calls `line` for each line of the result, without line end, until
 * it returns false. Allowed on a store of either mode.
 *
 * Errors: QUERY (with SQLite's own words: syntax; a statement that writes, attaches, or is not
 * alone), HELD, CORRUPT, SYSTEM.
 */
RT_MUST_CHECK enum sim_store_err sim_store_query(struct sim_store *store, const char *sql,
        enum sim_store_form form, bool (*line)(const char *text, size_t length, void *argument),
        void *argument);

/* The value of a parameter of a query. */
struct sim_store_value {
    const char *name; /* ":run" */
    const char *text; /* NULL: NULL. A column of numbers takes text as a number. */
};

/* The same with values, all borrowed; a name that the query does not have is ignored. */
RT_MUST_CHECK enum sim_store_err sim_store_query_with(struct sim_store *store, const char *sql,
        const struct sim_store_value *values, uint32_t count, enum sim_store_form form,
        bool (*line)(const char *text, size_t length, void *argument), void *argument);

#ifdef __cplusplus
}
#endif
#endif
