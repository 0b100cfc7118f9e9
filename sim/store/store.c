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

#include "sim/store/internal.h"

/* A file up to this size is checked when it is opened for reading: that takes a few milliseconds,
 * and damage is reported before anything is answered. */
#define CHECKED_BYTES (4 << 20)

/* ---- Transactions. --------------------------------------------------------------------------- */

enum sim_store_err
sim__store_execute(struct sim_store *store, const char *sql)
{
    rt_assert(store->db != NULL);
    return sim__store_sqlite(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}

static enum sim_store_err
begin(struct sim_store *store)
{
    if (store->mode != SIM_STORE_WRITE) {
        return sim__store_refuse(store, SIM_STORE_READ_ONLY, "opened for reading");
    }
    enum sim_store_err err = sim__store_check_place(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    /* Immediate: a wait for the lock is here, and never within the transaction. */
    return sim__store_execute(store, "BEGIN IMMEDIATE");
}

/* After some errors SQLite has rolled back by itself. */
static void
roll_back(struct sim_store *store)
{
    if (sqlite3_get_autocommit(store->db) == 0) {
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

static enum sim_store_err
commit(struct sim_store *store)
{
    enum sim_store_err err = sim__store_execute(store, "COMMIT");
    if (err != SIM_STORE_OK) {
        roll_back(store);
        return err;
    }
    if (store->relaxed) {
        store->relaxed = false;
        err = sim__store_execute(store, "PRAGMA synchronous = NORMAL");
    }
    return err != SIM_STORE_OK ? err : sim__store_check_place(store);
}

enum sim_store_err
sim__store_begin(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    return store->batch ? store->batch_err : begin(store);
}

enum sim_store_err
sim__store_end(struct sim_store *store, enum sim_store_err err)
{
    rt_check(store, SIM__STORE_MAGIC);
    if (store->batch) {
        store->batch_err = err;
        return err;
    }
    if (err == SIM_STORE_OK) {
        return commit(store);
    }
    roll_back(store);
    return err;
}

enum sim_store_err
sim_store_batch_begin(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(!store->batch);
    enum sim_store_err err = begin(store);
    store->batch = err == SIM_STORE_OK;
    store->batch_err = SIM_STORE_OK;
    return err;
}

enum sim_store_err
sim_store_batch_commit(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(store->batch);
    enum sim_store_err err = store->batch_err;
    if (err == SIM_STORE_OK) {
        err = commit(store);
    }
    sim_store_batch_drop(store);
    return err;
}

void
sim_store_batch_drop(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    if (store->batch) {
        roll_back(store);
        store->batch = false;
    }
}

/* ---- Is it ours? ----------------------------------------------------------------------------- */

struct identity {
    int64_t application;
    int64_t version;
    int64_t tables; /* Tables and everything else that a schema holds. */
};

static enum sim_store_err
read_identity(struct sim_store *store, struct identity *identity)
{
    enum sim_store_err err =
            sim__store_ask_int(store, "PRAGMA application_id", 0, &identity->application);
    if (err == SIM_STORE_OK) {
        err = sim__store_ask_int(store, "PRAGMA user_version", 0, &identity->version);
    }
    if (err == SIM_STORE_OK) {
        err = sim__store_ask_int(store, "SELECT count(*) FROM sqlite_schema", 0, &identity->tables);
    }
    return err;
}

static bool
is_empty(const struct identity *identity)
{
    return identity->application == 0 && identity->version == 0 && identity->tables == 0;
}

static enum sim_store_err
check_identity(struct sim_store *store, const struct identity *identity)
{
    if (is_empty(identity)) {
        return sim__store_refuse(store, SIM_STORE_MISSING, "the file is empty");
    }
    if (identity->application != SIM__STORE_APPLICATION) {
        return sim__store_refuse(store, SIM_STORE_NOT_OURS, "a database of another application");
    }
    if (identity->version > SIM__STORE_VERSION) {
        return sim__store_refuse(store, SIM_STORE_NEWER,
                "its version is %lld, this rewake knows %d", (long long)identity->version,
                SIM__STORE_VERSION);
    }
    if (identity->version < SIM__STORE_VERSION) {
        return sim__store_refuse(store, identity->version > 0 ? SIM_STORE_OLDER : SIM_STORE_CORRUPT,
                "its version is %lld, this rewake knows %d", (long long)identity->version,
                SIM__STORE_VERSION);
    }
    return SIM_STORE_OK;
}

/* ---- Is it whole? ---------------------------------------------------------------------------- */

/* SQLite's own words when it is not. */
static enum sim_store_err
check_pages(struct sim_store *store)
{
    struct sim__statement statement = sim__store_prepare(store, "PRAGMA quick_check(1)");
    enum sim_store_err found = SIM_STORE_OK;
    if (sim__store_row(&statement)) {
        const char *answer = (const char *)sqlite3_column_text(statement.stmt, 0);
        if (answer == NULL || strcmp(answer, "ok") != 0) {
            found = sim__store_refuse(
                    store, SIM_STORE_CORRUPT, "%s", answer != NULL ? answer : "no answer");
        }
    }
    enum sim_store_err err = sim__store_done(&statement);
    return err != SIM_STORE_OK ? err : found;
}

enum sim_store_err
sim_store_check_pages(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    return check_pages(store);
}

static enum sim_store_err
check_whole(struct sim_store *store)
{
    struct stat status;
    enum sim_store_err err = sim__store_check_schema(store);
    if (err == SIM_STORE_OK && store->mode == SIM_STORE_READ && stat(store->path, &status) == 0 &&
            status.st_size <= CHECKED_BYTES) {
        err = check_pages(store);
    }
    return err;
}

/* ---- Opening. -------------------------------------------------------------------------------- */

static enum sim_store_err
identify(struct sim_store *store)
{
    struct identity identity = {0};
    enum sim_store_err err = read_identity(store, &identity);
    return err != SIM_STORE_OK ? err : check_identity(store, &identity);
}

/*
 * An empty file becomes a WAL database of one page before its schema is made, in the WAL: so SQLite
 * waits for the disk when that is emptied, and not for each of the steps.
 */
static enum sim_store_err
begin_file(struct sim_store *store)
{
    struct identity identity = {0};
    enum sim_store_err err = read_identity(store, &identity);
    return err == SIM_STORE_OK && is_empty(&identity)
                   ? sim__store_execute(
                             store, "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL")
                   : err;
}

/* In one transaction: a process killed here leaves an empty file, or a whole one. */
static enum sim_store_err
make_schema(struct sim_store *store)
{
    struct identity identity = {0};
    enum sim_store_err err = begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = read_identity(store, &identity);
    if (err == SIM_STORE_OK && is_empty(&identity)) {
        err = sim__store_execute(store, sim_schema_sql);
        err = err == SIM_STORE_OK ? sim__store_execute(store, sim_coverage_sql) : err;
    } else if (err == SIM_STORE_OK) {
        err = check_identity(store, &identity);
        err = err == SIM_STORE_OK ? check_whole(store) : err;
    }
    if (err == SIM_STORE_OK) {
        err = sim__store_words(store);
    }
    return sim__store_end(store, err);
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

static enum sim_store_err
connect_file(struct sim_store *store, const char *name, int flags)
{
    int rc = sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) {
        return sim__store_sqlite(store, rc);
    }
    (void)sqlite3_extended_result_codes(store->db, 1);
    (void)sqlite3_busy_timeout(store->db, (int)store->wait_ms);
    /* A file from elsewhere must not run anything when it is read. */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* Nor is the WAL of a file that turns out to be another application's written back. */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return SIM_STORE_OK;
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

static enum sim_store_err
open_writer(struct sim_store *store)
{
    survive_limits();
    enum sim_store_err err = sim__store_lock(store);
    store->new_wal = sim__store_no_wal(store);
    if (err == SIM_STORE_OK) {
        err = connect_file(store, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    }
    if (err == SIM_STORE_OK) {
        /* An empty file beside the -wal of one that was deleted: SQLite removes that now, and not
         * after the file counts as ours. Errors of the file are reported below. */
        (void)sqlite3_exec(store->db, "PRAGMA schema_version", NULL, NULL, NULL);
        err = sim__store_sqlite(store, sim__given_register(store->db, &store->given));
    }
    if (err == SIM_STORE_OK) {
        err = begin_file(store);
    }
    if (err == SIM_STORE_OK) {
        err = make_schema(store);
    }
    /* Only now: the mode of a foreign file is not ours to change. */
    if (err == SIM_STORE_OK) {
        (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
        err = sim__store_execute(store, writer_pragmas);
    }
    if (err == SIM_STORE_OK) {
        store->relaxed = store->new_wal;
        err = sim__store_execute(
                store, store->relaxed ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = NORMAL");
    }
    return err;
}

/*
 * In WAL mode even a reader needs a file beside the database. In a folder that cannot be written,
 * and without a WAL, the file is all there is, and no process changes it.
 */
static enum sim_store_err
open_unchanging(struct sim_store *store, enum sim_store_err err)
{
    char *wal = sqlite3_mprintf("%s-wal", store->path);
    char *name = sqlite3_mprintf("file:%s?immutable=1", store->path);
    bool plain = strpbrk(store->path, "?#%") == NULL;
    if (wal != NULL && name != NULL && plain && access(wal, F_OK) != 0) {
        (void)sqlite3_close(store->db);
        store->db = NULL;
        err = connect_file(store, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        err = err == SIM_STORE_OK ? identify(store) : err;
    }
    sqlite3_free(name);
    sqlite3_free(wal);
    return err;
}

static enum sim_store_err
open_reader(struct sim_store *store)
{
    enum sim_store_err err = connect_file(store, store->path, SQLITE_OPEN_READONLY);
    if (err == SIM_STORE_OK) {
        err = identify(store);
        if (err == SIM_STORE_SYSTEM || err == SIM_STORE_READ_ONLY || err == SIM_STORE_MISSING) {
            err = open_unchanging(store, err);
        }
    }
    return err == SIM_STORE_OK ? check_whole(store) : err;
}

/* Checks that need no open file. */
static enum sim_store_err
check_path(struct sim_store *store)
{
    struct stat status;
    if (stat(store->path, &status) != 0) {
        bool to_be_made = store->mode == SIM_STORE_WRITE && errno == ENOENT;
        return to_be_made ? SIM_STORE_OK : sim__store_errno(store, errno, "opening");
    }
    if (S_ISDIR(status.st_mode)) {
        return sim__store_refuse(store, SIM_STORE_NOT_OURS, "it is a folder");
    }
    if (!S_ISREG(status.st_mode)) {
        return sim__store_refuse(store, SIM_STORE_NOT_OURS, "it is no ordinary file");
    }
    return SIM_STORE_OK;
}

static struct sim_store *
store_new(const char *path, enum sim_store_mode mode, uint32_t wait_ms)
{
    struct sim_store *store = calloc(1, sizeof(*store));
    char *copy = strdup(path);
    if (store == NULL || copy == NULL) {
        free(store);
        free(copy);
        return NULL;
    }
    store->magic = SIM__STORE_MAGIC;
    store->wait_ms = wait_ms != 0 ? wait_ms : SIM_STORE_WAIT_MS;
    store->mode = mode;
    store->lock_fd = -1;
    store->db_fd = -1;
    store->shm_fd = -1;
    store->path = copy;
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
    if (store == NULL) {
        (void)snprintf(message, size, "%s: %s", path, sim_store_err_text(SIM_STORE_SYSTEM));
        return SIM_STORE_SYSTEM;
    }
    enum sim_store_err err = check_path(store);
    if (err == SIM_STORE_OK) {
        err = mode == SIM_STORE_WRITE ? open_writer(store) : open_reader(store);
    }
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

const char *
sim_store_path(const struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    return store->path;
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
    rt_check(store, SIM__STORE_MAGIC);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SIM_STORE_OK : sim__store_sqlite(store, rc);
}
