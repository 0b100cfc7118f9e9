/*
 * store.h -- writing the trace database; read.h reads it.
 *
 * Access. One rewake at a time writes: from open to close a writer holds a separate lock
 * (PATH-lock) beside SQLite's, and a second writer waits, then reports the holder. Readers
 * (`rewake query`, stock `sqlite3`) may open it meanwhile.
 *
 * Durability. Each call is one transaction, unless it is between
 * sim_store_batch_begin and _commit. The file is in WAL mode: however the process
 * dies, the database opens and has every committed batch. A call that fails has changed nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/record/outcome.h"
#include "sim/core/record/recorder.h"
#include "sim/store/read.h"

enum sim_store_mode {
    SIM_STORE_READ, /* The database must be there; it is never changed. */
    SIM_STORE_WRITE /* Makes the file, and the last folder of its path, when missing. */
};

/*
 * As sim_store_open_read, in either mode. On failure nothing is overwritten.
 *
 * Errors: also
 *   READ_ONLY  WRITE: the file, its folder or its file system cannot be written.
 *   FULL       WRITE: the disk is full.
 */
RT_MUST_CHECK enum sim_store_err sim_store_open(const char *path, enum sim_store_mode mode,
        uint32_t wait_ms, char *message, size_t size, struct sim_store **ret_store);

/*
 * Errors of every call that writes: HELD, FULL, READ_ONLY, CORRUPT, SYSTEM. READ_ONLY also
 * when the store was opened for reading.
 */

/* ---- Batches. ------------------------------------------------------------------------------- */

/* From here to commit all calls are one transaction. Not nested. A call that fails aborts the whole
 * batch: later calls do nothing, and return the same error as commit; so only that need be looked
 * at. */
RT_MUST_CHECK enum sim_store_err sim_store_batch_begin(struct sim_store *store);
RT_MUST_CHECK enum sim_store_err sim_store_batch_commit(struct sim_store *store);

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
    uint64_t idle;                   /* Passes whose program was idle at the end. */
    bool complete;                   /* All runs that were requested are in. */
};

/* Begins a sweep, and writes all known sites. */
RT_MUST_CHECK enum sim_store_err sim_store_sweep_begin(
        struct sim_store *store, const struct sim_sweep *sweep, int64_t *ret_sweep);

/* Sets the sweep's totals so far (no increments). Called with each batch, and at the end. */
enum sim_store_err sim_store_sweep_update(
        struct sim_store *store, int64_t sweep, const struct sim_sweep_totals *totals);

/* Notes that the seeds first, first + stride … last were run. A range that continues the sweep's
 * last one is joined to it. `stride` is at least 1. */
enum sim_store_err sim_store_sweep_seeds(
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

/* Of a run that ended so: without number, tape and news. */
struct sim_run_row sim_run_row_of(const struct sim_outcome *outcome);

/* Writes `count` rows of `sweep`, in order. `tapes`: encoded tapes (tape.h) of all of them. */
enum sim_store_err sim_store_runs(struct sim_store *store, int64_t sweep,
        const struct sim_run_row *rows, uint32_t count, const uint8_t *tapes, size_t tapes_size);

/* ---- One run, with all its details. ---------------------------------------------------------- */

/* Whether the run also fails in FIFO order. */
enum sim_store_fifo { SIM_FIFO_NOT_ASKED, SIM_FIFO_NO, SIM_FIFO_YES };

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

/* ---- Failures that the next sweep tries first. ----------------------------------------------- */

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
    const char *build;
    int64_t measured_ms;
};

/* Writes the row of one bug; replaces its earlier measurement. */
RT_MUST_CHECK enum sim_store_err sim_store_zoo(
        struct sim_store *store, const struct sim_zoo_row *row);

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
    const char *build;
    int64_t measured_ms;
};

/* Writes the row of one scenario and strategy; replaces their earlier measurement. */
RT_MUST_CHECK enum sim_store_err sim_store_measure(
        struct sim_store *store, const struct sim_measure_row *row);

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
enum sim_store_err sim_store_sweep_note(struct sim_store *store, const struct sim_sweep_note *note);
