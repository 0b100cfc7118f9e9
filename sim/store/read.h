/*
 * read.h -- reading the trace database.
 *
 * One SQLite file that any program can query; schema.sql is its documentation. Nothing here changes
 * it. store.h has what writes.
 *
 * Access. Only the parent process opens it, never a worker. Others may read and one may write
 * meanwhile. One store a database in a process.
 *
 * Errors. Each call returns an enum sim_store_err; sim_store_message then is one
 * line with the name of the file or of what failed. A failure of the system never crashes the
 * process: losing the database is an exit status (70), not a verdict.
 *
 * Numbers. Seeds and counts fit SQLite's 63 bits; digests and hashes are stored as
 * the signed integer with the same 64 bits, and the views print 16 hex digits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

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

/*
 * Opens the database at `path` for reading. `wait_ms`: how long this and every later call waits for
 * another process; 0 stands for SIM_STORE_WAIT_MS.
 *
 * On failure *ret_store is untouched, and `message` (of `size` bytes, SIM_STORE_MESSAGE_MAX is
 * enough) has one line, without line end: the path, the error, what to do.
 *
 * Errors:
 *   MISSING    No such file.
 *   NOT_OURS   Not SQLite, or another application's; or a directory.
 *   CORRUPT    Ours, but damaged or cut.
 *   NEWER      Ours, with a schema that this build does not know.
 *   OLDER      Ours, with a schema that this build does not know any more.
 *   HELD       Another process still held it after the wait; the line has its name and id.
 *   SYSTEM     Anything else: no permission to read, out of memory …
 */
RT_MUST_CHECK enum sim_store_err sim_store_open_read(const char *path, uint32_t wait_ms,
        char *message, size_t size, struct sim_store **ret_store);

/* Closes it and nulls the pointer; accepts NULL inside. Drops what was not committed. */
void sim_store_close(struct sim_store **store);

/* The line of the last call that failed; "" when none has. Borrowed until the next call. */
const char *sim_store_message(const struct sim_store *store);

/*
 * SQLite's handle, for the statements of reports/. Borrowed until the store is closed, for reading
 * only: no writes, ATTACH or pragmas. sim_store_refused reports its errors.
 */
struct sqlite3;
struct sqlite3 *sim_store_handle(const struct sim_store *store);

/* Sets sim_store_message by SQLite's result of the last call on that handle, and returns the error;
 * OK for SQLITE_OK, SQLITE_ROW and SQLITE_DONE. */
enum sim_store_err sim_store_refused(struct sim_store *store, int rc);

/* Checks the whole of a database that is open, however large. CORRUPT. */
RT_MUST_CHECK enum sim_store_err sim_store_check_pages(struct sim_store *store);

/* ---- Runs. ---------------------------------------------------------------------------------- */

/* Numbers of runs without a seed of the sweep: the default schedule, before the run of the first
 * seed (-1), and a remembered failure, which was tried first (-2). */
#define SIM_RUN_NUMBER_DEFAULT UINT64_MAX
#define SIM_RUN_NUMBER_AGAIN (UINT64_MAX - 1)

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

struct sim_event;

/* Reads events of `run`, from index `first` on, at most `capacity`. */
RT_MUST_CHECK enum sim_store_err sim_store_read_events(struct sim_store *store, int64_t run,
        uint64_t first, struct sim_event *events, uint32_t capacity, uint32_t *ret_count);

/* The newest run whose token is `token`, as it was found or shrunk. UNKNOWN: none. */
RT_MUST_CHECK enum sim_store_err sim_store_run_of_token(
        struct sim_store *store, const char *token, int64_t *ret_run);

/* ---- Distinct failures, and the run that represents each. ----------------------------------- */

/*
 * Makes two temporary things for this connection, once; the file is only read.
 *
 * Failures with the same scenario, verdict, oracle and source line are one (a row of `ways`). In a
 * sweep one run represents them: the remembered run that failed again before the sweep; else the
 * first that was reported; else the first. Of a scenario it is that of the newest sweep with such a
 * failure. `rewake run`, pages, exports and explanations all name this run.
 *
 *   ways_of_sweeps(sweep, verdict, oracle, site, runs, first_number, again, shown, last)
 *       The distinct failures of each sweep: how many `runs` had it, the `first_number` and the
 *       `last` of them, the remembered run that failed `again` (or NULL), the run to be `shown`.
 *   ways(scenario, verdict, oracle, site, runs, shown, last)
 *       The same for each scenario, over all sweeps.
 *
 * They group millions of failing runs once; other queries use the result.
 */
RT_MUST_CHECK enum sim_store_err sim_store_ways_make(struct sim_store *store);

/*
 * Makes a temporary table for this connection, growth(sweep, runs, points): the `points` that were
 * first covered by the last of so many `runs` of the sweep. It can be searched by sweep, as `runs`
 * cannot.
 */
RT_MUST_CHECK enum sim_store_err sim_store_growth_make(struct sim_store *store);

/* Whether run:`run` has an explanation, or passed and needs none. UNKNOWN: there is no such run. */
RT_MUST_CHECK enum sim_store_err sim_store_is_explained(
        struct sim_store *store, int64_t run, bool *ret_explained);

/*
 * Distinct failures whose representing run has no explanation yet; the newest first, and
 * hangs last, as each run of one takes long. At most `capacity`; *ret_count is how many there are.
 */
RT_MUST_CHECK enum sim_store_err sim_store_unexplained(
        struct sim_store *store, int64_t *ret_runs, uint32_t capacity, uint32_t *ret_count);

/* ---- Remembered failures: those that the next sweep tries first. ---------------------------- */

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

/* Calls `each` for each, newest first, until it returns false, with strings that last until then;
 * it must not call the store. */
RT_MUST_CHECK enum sim_store_err sim_store_remembered(struct sim_store *store,
        bool (*each)(const struct sim_remembered *failure, void *argument), void *argument);

/* ---- What sweeps have covered. -------------------------------------------------------------- */

#define SIM_ALL_SWEEPS (-1)

/* What is asked, and the columns of a row: text, or NULL. Numbers are decimal. */
#define SIM_ASKED_LIST(X) \
    X(SWEEPS, \
            "the sweep named; 0: of each scenario the newest; SIM_ALL_SWEEPS: all, of a scenario " \
            "the newest last; of those that have covered something: sweep, scenario, library, " \
            "strategy, runs, failures, points, the last run that covered something new") \
    X(ELEMENTS, "kind, meaning, place, other place, runs, first run; by kind, the seldom last") \
    X(GROWTH, "runs so far, covered; for each run that was the first to cover something") \
    X(DRAWN, "strategy, runs, failures, 3/n in parts of a billion") \
    X(SPECIES, "strategy, runs, seen, once, twice, level") \
    X(GOALS, "what, text, place, runs; the seldom first") \
    X(NEWS, "run; those that were the first to cover something, in order") \
    X(CODE, "edge, file, its number in its function; all there are, in their order") \
    X(CODE_REACHED, "edge, runs that reached it without a fault or before it")

enum sim_asked {
#define SIM_ASKED_ENUM(name, columns) SIM_ASKED_##name,
    SIM_ASKED_LIST(SIM_ASKED_ENUM)
#undef SIM_ASKED_ENUM
};

/* Calls `row` for each row about `sweep` until it returns false, with columns that last until then;
 * it must not call the store. */
RT_MUST_CHECK enum sim_store_err sim_store_ask(struct sim_store *store, enum sim_asked asked,
        int64_t sweep, bool (*row)(const char *const *columns, void *argument), void *argument);

/* Whether the database has edges of code at all. */
RT_MUST_CHECK enum sim_store_err sim_store_code_known(struct sim_store *store, bool *ret_known);

/* ---- Queries. ------------------------------------------------------------------------------- */

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
