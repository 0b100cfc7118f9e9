/*
 * place.c -- is the open database still the file at its path?
 *
 * A file that is deleted or replaced while it is open accepts writes, and loses them when it is
 * closed. SQLite does not refuse that, but can report it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/stat.h>
#include <unistd.h>

#include "sim/store/internal.h"

/* The inode at `path` with `suffix` added; 0: no file. */
static ino_t
inode_of(const char *path, const char *suffix)
{
    struct stat status;
    char *name = sqlite3_mprintf("%s%s", path, suffix);
    bool found = name != NULL && stat(name, &status) == 0;
    sqlite3_free(name);
    return found ? status.st_ino : 0;
}

bool
sim__store_no_wal(const struct sim_store *store)
{
    return inode_of(store->path, "-wal") == 0;
}

void
sim__store_check_place(struct sim_store *store)
{
    int moved = 0;
    ino_t wal = inode_of(store->path, "-wal");
    (void)sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved == 0 && (store->wal_inode == 0 || wal == store->wal_inode)) {
        store->wal_inode = wal;
        return;
    }
    store->gone = true;
    if (wal != 0 && wal != store->wal_inode) {
        /* It is not ours, and closing would remove it. */
        (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    const char *what = moved == 0 ? "its -wal" : "it";
    ino_t now = moved == 0 ? wal : inode_of(store->path, "");
    (void)sim__store_refuse(store, SIM_STORE_GONE, "%s %s", what,
            now == 0 ? "is not there any more" : "is another file now");
}

void
sim__store_remove_wal(const struct sim_store *store)
{
    char *wal = sqlite3_mprintf("%s-wal", store->path);
    bool replaced = store->gone && access(store->path, F_OK) == 0;
    if (replaced && wal != NULL && inode_of(store->path, "-wal") == store->wal_inode) {
        (void)unlink(wal);
    }
    sqlite3_free(wal);
}
