/*
 * lock.c -- one writer at a time, and the name of the process that holds the database.
 *
 * The writer's lock is a POSIX record lock on an empty file beside the database. The
 * system gives it back however the process ends, workers do not inherit it, and the
 * system knows its owner: no process id is ever read from a file. It is not a lock on
 * the database file itself, because SQLite, when it unlocks that, unlocks all of it.
 * The last owner removes the file: a process that gets the lock of a file that has been removed
 * meanwhile opens the new one.
 *
 *      -lock  all of it                  ours
 *      file   byte 0x40000000 ... +511   SQLite: pending, reserved, shared
 *      -shm   byte 120 ... 127           SQLite in WAL mode: write, checkpoint, recover, readers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/store/internal.h"

#define SQLITE_LOCKS_FIRST 0x40000000
#define SQLITE_LOCKS_LENGTH 512
#define SHM_LOCKS_FIRST 120
#define SHM_LOCKS_LENGTH 8
#define RETRY_MS 50

static struct flock
range(short type, off_t first, off_t length)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = length};
}

/* The process that keeps us from locking these bytes; 0: none, or one that has no number here. */
static pid_t
who_holds(int fd, short type, off_t first, off_t length)
{
    struct flock lock = range(type, first, length);
    if (fd < 0 || fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        return 0;
    }
    return lock.l_pid > 0 ? lock.l_pid : 0;
}

/* SQLite's readers share a lock, so exclusive ones are checked first. */
static pid_t
find_holder(const struct sim_store *store)
{
    const struct {
        int fd;
        short type;
        off_t first;
        off_t length;
    } questions[] = {
            {store->lock_fd, F_WRLCK, 0, 0},
            {store->db_fd, F_RDLCK, SQLITE_LOCKS_FIRST, SQLITE_LOCKS_LENGTH},
            {store->shm_fd, F_RDLCK, SHM_LOCKS_FIRST, SHM_LOCKS_LENGTH},
            {store->db_fd, F_WRLCK, SQLITE_LOCKS_FIRST, SQLITE_LOCKS_LENGTH},
    };
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        pid_t pid = who_holds(
                questions[i].fd, questions[i].type, questions[i].first, questions[i].length);
        if (pid != 0) {
            return pid;
        }
    }
    return 0;
}

/* The program that runs as `pid`; false when it has ended, or there is no /proc. */
static bool
program_name(pid_t pid, char *name, int size)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    bool found = fgets(name, size, file) != NULL;
    (void)fclose(file);
    if (found) {
        name[strcspn(name, "\n")] = '\0';
    }
    return found;
}

/* Opens the file called as the database with `suffix` added; -1 with errno set. */
static int
open_beside(const struct sim_store *store, const char *suffix, int flags)
{
    char *path = sim_heap_printf("%s%s", store->path, suffix);
    int fd = open(path, flags | O_RDWR | O_CLOEXEC, 0666);
    int error = errno;
    free(path);
    errno = error;
    return fd;
}

void
sim__store_holder(struct sim_store *store, char *text, size_t size)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(size > 0);
    if (store->db_fd < 0) {
        store->db_fd = open_beside(store, "", 0);
    }
    if (store->shm_fd < 0) {
        store->shm_fd = open_beside(store, "-shm", 0);
    }
    pid_t pid = find_holder(store);
    char name[32];
    if (pid == 0) {
        (void)snprintf(text, size, "held by a process that cannot be named");
    } else if (program_name(pid, name, sizeof(name))) {
        (void)snprintf(text, size, "held by %s, process %ld", name, (long)pid);
    } else {
        (void)snprintf(text, size, "held by process %ld", (long)pid);
    }
}

/* Makes the last folder of the path when it is missing. */
static void
make_folder(struct sim_store *store)
{
    const char *slash = strrchr(store->path, '/');
    if (slash == NULL || slash == store->path) {
        return;
    }
    char *folder = sim_heap_must(strndup(store->path, (size_t)(slash - store->path)));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        (void)sim__store_errno(store, errno, "making its folder");
    }
    free(folder);
}

/* Whether the previous owner of the lock has removed the file. */
static bool
was_removed(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_nlink == 0;
}

/* One try. False: another process has it. */
static bool
try_lock(struct sim_store *store)
{
    if (store->lock_fd < 0) {
        store->lock_fd = open_beside(store, "-lock", O_CREAT);
    }
    if (store->lock_fd < 0) {
        (void)sim__store_errno(store, errno, "making its lock");
        return true;
    }
    struct flock lock = range(F_WRLCK, 0, 0);
    if (fcntl(store->lock_fd, F_SETLK, &lock) != 0) {
        bool held = errno == EACCES || errno == EAGAIN || errno == EINTR;
        return !held && sim__store_errno(store, errno, "locking") != SIM_STORE_OK;
    }
    if (was_removed(store->lock_fd)) {
        (void)close(store->lock_fd);
        store->lock_fd = -1;
        return false;
    }
    store->locked = true;
    return true;
}

void
sim__store_lock(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(store->lock_fd < 0);
    make_folder(store);
    uint32_t waited_ms = 0;
    while (store->err == SIM_STORE_OK && !try_lock(store)) {
        if (waited_ms >= store->wait_ms) {
            (void)sim__store_sqlite(store, SQLITE_BUSY);
            return;
        }
        waited_ms += RETRY_MS;
        (void)sqlite3_sleep(RETRY_MS);
    }
}

/* While the lock is held: no other process may remove the file. */
static void
remove_lock(const struct sim_store *store)
{
    char *path = sim_heap_printf("%s-lock", store->path);
    (void)unlink(path);
    free(path);
}

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

void
sim__store_unlock(struct sim_store *store)
{
    rt_assert(store->db == NULL);
    if (store->locked) {
        remove_lock(store);
    }
    store->locked = false;
    close_fd(&store->db_fd);
    close_fd(&store->shm_fd);
    close_fd(&store->lock_fd);
}
