/*
 * store.c -- opening the trace database, its schema, and its transactions.
 *
 * Nothing of a file is changed before it is known to be ours: SQLite's header, then
 * application_id, then user_version are checked in that order, in one transaction
 * with making the schema in a file that is empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/store/internal.h"

/* A file up to this size is checked when it is opened for reading: that takes a few milliseconds,
 * and damage is reported before anything is answered. */
#define CHECKED_BYTES (4 << 20)

/* ---- Transactions. --------------------------------------------------------------------------- */

void
sim__store_enter(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    store->err = store->batch ? store->err : SIM_STORE_OK;
}

void
sim__store_execute(struct sim_store *store, const char *sql)
{
    if (store->err == SIM_STORE_OK) {
        (void)sim__store_sqlite(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
    }
}

static void
begin(struct sim_store *store)
{
    if (store->mode != SIM_STORE_WRITE) {
        (void)sim__store_refuse(store, SIM_STORE_READ_ONLY, "opened for reading");
        return;
    }
    sim__store_check_place(store);
    /* Immediate: a wait for the lock is here, and never within the transaction. */
    sim__store_execute(store, "BEGIN IMMEDIATE");
}

/* After some errors SQLite has rolled back by itself. */
static void
roll_back(struct sim_store *store)
{
    if (sqlite3_get_autocommit(store->db) == 0) {
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

/* Unless there is an error: then it rolls back. */
static void
commit(struct sim_store *store)
{
    sim__store_execute(store, "COMMIT");
    if (store->err != SIM_STORE_OK) {
        roll_back(store);
        return;
    }
    if (store->relaxed) {
        store->relaxed = false;
        sim__store_execute(store, "PRAGMA synchronous = NORMAL");
    }
    if (store->err == SIM_STORE_OK) {
        sim__store_check_place(store);
    }
}

void
sim__store_begin(struct sim_store *store)
{
    sim__store_enter(store);
    if (!store->batch) {
        begin(store);
    }
}

enum sim_store_err
sim__store_end(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    if (!store->batch) {
        commit(store);
    }
    return store->err;
}

enum sim_store_err
sim_store_batch_begin(struct sim_store *store)
{
    rt_assert(!store->batch);
    sim__store_begin(store);
    store->batch = store->err == SIM_STORE_OK;
    return store->err;
}

enum sim_store_err
sim_store_batch_commit(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(store->batch);
    commit(store);
    store->batch = false;
    return store->err;
}

/* ---- Is it ours? ----------------------------------------------------------------------------- */

struct identity {
    int64_t application;
    int64_t version;
    int64_t tables; /* Tables and everything else that a schema holds. */
};

static struct identity
read_identity(struct sim_store *store)
{
    return (struct identity){
            .application = sim__store_ask_int(store, "PRAGMA application_id", 0),
            .version = sim__store_ask_int(store, "PRAGMA user_version", 0),
            .tables = sim__store_ask_int(store, "SELECT count(*) FROM sqlite_schema", 0),
    };
}

static bool
is_empty(const struct identity *identity)
{
    return identity->application == 0 && identity->version == 0 && identity->tables == 0;
}

static void
check_identity(struct sim_store *store, const struct identity *identity)
{
    if (store->err != SIM_STORE_OK) {
        return;
    }
    if (is_empty(identity)) {
        (void)sim__store_refuse(store, SIM_STORE_MISSING, "the file is empty");
    } else if (identity->application != SIM__STORE_APPLICATION) {
        (void)sim__store_refuse(store, SIM_STORE_NOT_OURS, "a database of another application");
    } else if (identity->version != SIM__STORE_VERSION) {
        (void)sim__store_refuse(store,
                identity->version > SIM__STORE_VERSION ? SIM_STORE_NEWER
                : identity->version > 0                ? SIM_STORE_OLDER
                                                       : SIM_STORE_CORRUPT,
                "its version is %lld, this rewake knows %d", (long long)identity->version,
                SIM__STORE_VERSION);
    }
}

/* ---- Is it whole? ---------------------------------------------------------------------------- */

/* SQLite's own words when it is not. */
static void
check_pages(struct sim_store *store)
{
    struct sim__statement statement = sim__store_prepare(store, "PRAGMA quick_check(1)");
    if (sim__store_row(&statement)) {
        const char *answer = (const char *)sqlite3_column_text(statement.stmt, 0);
        if (answer == NULL || strcmp(answer, "ok") != 0) {
            (void)sim__store_refuse(
                    store, SIM_STORE_CORRUPT, "%s", answer != NULL ? answer : "no answer");
        }
    }
    sim__store_done(&statement);
}

enum sim_store_err
sim_store_check_pages(struct sim_store *store)
{
    sim__store_enter(store);
    check_pages(store);
    return store->err;
}

static void
check_whole(struct sim_store *store)
{
    struct stat status;
    sim__store_check_schema(store);
    if (store->mode == SIM_STORE_READ && stat(store->path, &status) == 0 &&
            status.st_size <= CHECKED_BYTES) {
        check_pages(store);
    }
}

/* ---- Opening. -------------------------------------------------------------------------------- */

static void
identify(struct sim_store *store)
{
    const struct identity identity = read_identity(store);
    check_identity(store, &identity);
}

/*
 * An empty file becomes a WAL database of one page before its schema is made, in the WAL: so SQLite
 * waits for the disk when that is emptied, and not for each of the steps.
 */
static void
begin_file(struct sim_store *store)
{
    const struct identity identity = read_identity(store);
    if (is_empty(&identity)) {
        sim__store_execute(store, "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL");
    }
}

/* In one transaction: a process killed here leaves an empty file, or a whole one. */
static void
make_schema(struct sim_store *store)
{
    begin(store);
    const struct identity identity = read_identity(store);
    if (is_empty(&identity)) {
        sim__store_execute(store, sim_schema_sql);
        sim__store_execute(store, sim_coverage_sql);
    } else {
        check_identity(store, &identity);
        check_whole(store);
    }
    sim__store_words(store);
    commit(store);
}

/*
 * A process that writes beyond its limit on file sizes is killed by a signal, unless it is ignored:
 * then it gets the error of a full disk, which this store reports.
 */
static void
survive_limits(void)
{
    struct sigaction action;
    if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
        action.sa_handler = SIG_IGN;
        (void)sigaction(SIGXFSZ, &action, NULL);
    }
}

/* SQLite then counts no bytes that it allocates, under a lock each time. Refused where SQLite has
 * begun already: the second store of a process. */
static void
configure(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static void
connect_file(struct sim_store *store, const char *name, int flags)
{
    int rc = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (sim__store_sqlite(store, rc) != SIM_STORE_OK) {
        return;
    }
    (void)sqlite3_extended_result_codes(store->db, 1);
    (void)sqlite3_busy_timeout(store->db, (int)store->wait_ms);
    /* A file from elsewhere must not run anything when it is read. */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* Nor is the WAL of a file that turns out to be another application's written back. */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

/*
 * In WAL mode a killed process loses nothing that was committed; with synchronous NORMAL, a power
 * cut may cost the newest, but cannot put a new WAL's pages beside those of an old one. Where there
 * is no old one that is sure without: OFF, until the first commit has begun it. The cache holds a
 * batch, so that none is written twice; the WAL is emptied into the database every 16 MiB.
 */
static const char writer_pragmas[] = "PRAGMA journal_mode = WAL;"
                                     "PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 4000;"
                                     "PRAGMA journal_size_limit = 16777216;";

static void
open_writer(struct sim_store *store)
{
    survive_limits();
    sim__store_lock(store);
    bool new_wal = sim__store_no_wal(store);
    if (store->err == SIM_STORE_OK) {
        connect_file(store, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    }
    if (store->err != SIM_STORE_OK) {
        return;
    }
    /* An empty file beside the -wal of one that was deleted: SQLite removes that now, and not
     * after the file counts as ours. Errors of the file are reported below. */
    (void)sqlite3_exec(store->db, "PRAGMA schema_version", NULL, NULL, NULL);
    (void)sim__store_sqlite(store, sim__given_register(store->db, &store->given));
    begin_file(store);
    make_schema(store);
    if (store->err != SIM_STORE_OK) {
        return;
    }
    /* Only now: the mode of a foreign file is not ours to change. */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    sim__store_execute(store, writer_pragmas);
    sim__store_execute(store, new_wal ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = NORMAL");
    store->relaxed = new_wal && store->err == SIM_STORE_OK;
}

/*
 * In WAL mode even a reader needs a file beside the database. In a folder that cannot be written,
 * and without a WAL, the file is all there is, and no process changes it.
 */
static void
open_unchanging(struct sim_store *store)
{
    char *name = sim_heap_printf("file:%s?immutable=1", store->path);
    bool plain = strpbrk(store->path, "?#%") == NULL;
    if (plain && sim__store_no_wal(store)) {
        (void)sqlite3_close(store->db);
        store->db = NULL;
        store->err = SIM_STORE_OK;
        connect_file(store, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        identify(store);
    }
    free(name);
}

static void
open_reader(struct sim_store *store)
{
    connect_file(store, store->path, SQLITE_OPEN_READONLY);
    if (store->err != SIM_STORE_OK) {
        return;
    }
    identify(store);
    if (store->err == SIM_STORE_SYSTEM || store->err == SIM_STORE_READ_ONLY ||
            store->err == SIM_STORE_MISSING) {
        open_unchanging(store);
    }
    check_whole(store);
}

/* Checks that need no open file. */
static void
check_path(struct sim_store *store)
{
    struct stat status;
    if (stat(store->path, &status) != 0) {
        bool to_be_made = store->mode == SIM_STORE_WRITE && errno == ENOENT;
        if (!to_be_made) {
            (void)sim__store_errno(store, errno, "opening");
        }
    } else if (!S_ISREG(status.st_mode)) {
        (void)sim__store_refuse(store, SIM_STORE_NOT_OURS,
                S_ISDIR(status.st_mode) ? "it is a folder" : "it is no ordinary file");
    }
}

static struct sim_store *
store_new(const char *path, enum sim_store_mode mode, uint32_t wait_ms)
{
    struct sim_store *store = sim_heap_new(1, sizeof(*store));
    *store = (struct sim_store){
            .magic = SIM__STORE_MAGIC,
            .wait_ms = wait_ms != 0 ? wait_ms : SIM_STORE_WAIT_MS,
            .mode = mode,
            .lock_fd = -1,
            .db_fd = -1,
            .shm_fd = -1,
            .path = sim_heap_text(path),
    };
    return store;
}

enum sim_store_err
sim_store_open(const char *path, enum sim_store_mode mode, uint32_t wait_ms, char *message,
        size_t size, struct sim_store **ret_store)
{
    rt_assert(path != NULL);
    rt_assert(ret_store != NULL);
    configure();
    struct sim_store *store = store_new(path, mode, wait_ms);
    check_path(store);
    if (store->err == SIM_STORE_OK && mode == SIM_STORE_WRITE) {
        open_writer(store);
    } else if (store->err == SIM_STORE_OK) {
        open_reader(store);
    }
    enum sim_store_err err = store->err;
    if (err == SIM_STORE_OK) {
        *ret_store = store;
    } else {
        (void)snprintf(message, size, "%s", store->message);
        sim_store_close(&store);
    }
    return err;
}

enum sim_store_err
sim_store_open_read(const char *path, uint32_t wait_ms, char *message, size_t size,
        struct sim_store **ret_store)
{
    return sim_store_open(path, SIM_STORE_READ, wait_ms, message, size, ret_store);
}

void
sim_store_close(struct sim_store **store)
{
    rt_assert(store != NULL);
    struct sim_store *closed = *store;
    if (closed == NULL) {
        return;
    }
    rt_check(closed, SIM__STORE_MAGIC);
    int rc = sqlite3_close(closed->db); /* Rolls back what is open. NULL: nothing. */
    rt_assert(rc == SQLITE_OK);         /* A statement was not finalized. */
    closed->db = NULL;
    sim__store_remove_wal(closed);
    sim__store_unlock(closed);
    closed->magic = 0;
    free(closed->path);
    free(closed);
    *store = NULL;
}

const char *
sim_store_message(const struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    return store->message;
}

struct sqlite3 *
sim_store_handle(const struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    return store->db;
}

enum sim_store_err
sim_store_refused(struct sim_store *store, int rc)
{
    sim__store_enter(store);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SIM_STORE_OK : sim__store_sqlite(store, rc);
}
