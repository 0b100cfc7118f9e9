/*
 * error.c -- errors of the database, as one line each.
 *
 * Dozens of error codes of SQLite and the system become a dozen errors, each with a sentence that
 * ends in what to do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/names.h"
#include "sim/store/internal.h"

static const struct sim_name errors[] = {{"ok", "all is well"}, SIM_STORE_ERROR_LIST(SIM_NAME_ROW)};

const char *
sim_store_err_name(enum sim_store_err err)
{
    return sim_name_at(errors, SIM_STORE_ERRORS, err)->name;
}

const char *
sim_store_err_text(enum sim_store_err err)
{
    return sim_name_at(errors, SIM_STORE_ERRORS, err)->meaning;
}

/* Line ends and control characters in a path or an SQL text become blanks. */
static void
flatten(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ') {
            *text = ' ';
        }
    }
}

enum sim_store_err
sim__store_refuse(struct sim_store *store, enum sim_store_err err, const char *format, ...)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(err != SIM_STORE_OK);
    char detail[SIM_STORE_MESSAGE_MAX / 2];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(detail, sizeof(detail), format, list);
    va_end(list);
    (void)snprintf(store->message, sizeof(store->message), "%s: %s (%s)", store->path,
            sim_store_err_text(err), detail);
    flatten(store->message);
    store->err = err;
    return err;
}

static enum sim_store_err
classify_errno(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: /* A limit on the size of files is a full disk for one process. */
        return SIM_STORE_FULL;
    case EROFS:
    case EACCES:
    case EPERM:
        return SIM_STORE_READ_ONLY;
    case ENOENT:
        return SIM_STORE_MISSING;
    case EISDIR:
        return SIM_STORE_NOT_OURS;
    default:
        return SIM_STORE_SYSTEM;
    }
}

enum sim_store_err
sim__store_errno(struct sim_store *store, int error, const char *what)
{
    rt_assert(error != 0);
    enum sim_store_err err = classify_errno(error);
    if (store->mode == SIM_STORE_READ && err == SIM_STORE_READ_ONLY) {
        err = SIM_STORE_SYSTEM; /* Reading is not allowed. */
    }
    if (store->mode == SIM_STORE_WRITE && err == SIM_STORE_MISSING) {
        err = SIM_STORE_SYSTEM; /* A writer would have made it: the text of MISSING does not fit. */
    }
    return sim__store_refuse(store, err, "%s: %s", what, strerror(error));
}

static int
last_errno_of(sqlite3_file *file)
{
    int error = 0;
    if (file != NULL && file->pMethods != NULL) {
        (void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
    }
    return error;
}

/* The errno behind SQLite's error. Where SQLite does not know it, the database file and the journal
 * or WAL are tried. */
static int
system_errno(const struct sim_store *store)
{
    static const int files[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
    int error = sqlite3_system_errno(store->db);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && error == 0; i++) {
        sqlite3_file *file = NULL;
        (void)sqlite3_file_control(store->db, "main", files[i], &file);
        error = last_errno_of(file);
    }
    return error;
}

/* An input or output error of SQLite is that of the system. */
static enum sim_store_err
refuse_io(struct sim_store *store, int rc)
{
    int error = system_errno(store);
    if (error == 0) {
        return sim__store_refuse(
                store, SIM_STORE_SYSTEM, "%s", sqlite3_errstr(sqlite3_extended_errcode(store->db)));
    }
    /* Not found while it was open: the folder, or a file beside it, was taken away. */
    bool gone = rc == SQLITE_IOERR && error == ENOENT;
    return gone ? sim__store_refuse(store, SIM_STORE_SYSTEM, "%s", strerror(error))
                : sim__store_errno(store, error, sqlite3_errmsg(store->db));
}

static enum sim_store_err
refuse_held(struct sim_store *store)
{
    char holder[64];
    sim__store_holder(store, holder, sizeof(holder));
    return sim__store_refuse(store, SIM_STORE_HELD, "%s, after %u.%u s", holder,
            store->wait_ms / 1000, store->wait_ms % 1000 / 100);
}

enum sim_store_err
sim__store_sqlite(struct sim_store *store, int rc)
{
    rt_check(store, SIM__STORE_MAGIC);
    const char *said = store->db != NULL ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_OK:
        return SIM_STORE_OK;
    case SQLITE_NOTADB:
        return sim__store_refuse(store, SIM_STORE_NOT_OURS, "%s", said);
    case SQLITE_CORRUPT:
        return sim__store_refuse(store, SIM_STORE_CORRUPT, "%s", said);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return sim__store_refuse(store, SIM_STORE_READ_ONLY, "%s", said);
    case SQLITE_FULL:
        return sim__store_refuse(store, SIM_STORE_FULL, "%s", said);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return refuse_held(store);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return refuse_io(store, rc & 0xff);
    default:
        return sim__store_refuse(store, SIM_STORE_SYSTEM, "%s", said);
    }
}
