/*
 * directory.c -- what is in a directory: names of the machine and of the run, in order.
 *
 * The list is made when it is opened, sorted, as the order in which a file system gives names is
 * not in the seed. Names that the run adds later are seen after rewinddir, as POSIX allows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/sort.h"
#include "sim/posix/file.h"
#include "sim/posix/number.h"

struct directory {
    struct dirent entry; /* The last one read. */
    int fd;
    const char **names; /* Sorted. */
    uint32_t count;
    uint32_t capacity;
    uint32_t place; /* Of the next one. */
};

static struct directory *
directory_of(DIR *opaque)
{
    return (struct directory *)opaque;
}

/* ---- The list. ------------------------------------------------------------------------------- */

static void
add(struct directory *directory, const char *name)
{
    if (directory->count == directory->capacity) {
        uint32_t capacity = directory->capacity * 2 + 16;
        const char **names = sim_alloc(sim_world_current, capacity * sizeof(*names));
        if (directory->count > 0) {
            memcpy(names, directory->names, directory->count * sizeof(*names));
        }
        directory->names = names;
        directory->capacity = capacity;
    }
    size_t size = strlen(name) + 1;
    directory->names[directory->count++] = memcpy(sim_alloc(sim_world_current, size), name, size);
}

/* The rest of `path` where it is right in `folder`; NULL: it is elsewhere. */
static const char *
name_in(const char *folder, const char *path)
{
    size_t size = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    bool inside = strncmp(path, folder, size) == 0 && path[size] == '/' && path[size + 1] != '\0';
    return inside && strchr(path + size + 1, '/') == NULL ? path + size + 1 : NULL;
}

static bool
is_named(const char *folder, const char *name)
{
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        const struct sim__posix_inode *inode = rt_container_of(node, struct sim__posix_inode, link);
        const char *other = name_in(folder, inode->path);
        if (other != NULL && strcmp(other, name) == 0) {
            return true;
        }
    }
    return false;
}

/* What the run has named, or not removed. */
static void
add_of_run(struct directory *directory, const char *path)
{
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        const struct sim__posix_inode *inode = rt_container_of(node, struct sim__posix_inode, link);
        const char *name = name_in(path, inode->path);
        if (name != NULL && !inode->gone) {
            add(directory, name);
        }
    }
}

/* Names of the machine that the run has not seen yet. */
static void
add_of_machine(struct directory *directory, const char *path)
{
    struct sim_thread *paused = sim_thread_pause();
    DIR *real = sim__real.opendir(path);
    const struct dirent *entry = NULL;
    while (real != NULL && (entry = sim__real.readdir(real)) != NULL) {
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!dots && !is_named(path, entry->d_name)) {
            add(directory, entry->d_name);
        }
    }
    if (real != NULL) {
        (void)sim__real.closedir(real);
    }
    sim_thread_resume(paused);
}

/* As the kernel lists them: the number of the list itself is among them. */
static void
add_numbers(struct directory *directory)
{
    char name[12];
    for (int fd = 0; fd <= (int)SIM_ACTORS_MAX; fd++) {
        if (sim__posix_description(fd) != NULL) {
            (void)snprintf(name, sizeof(name), "%d", fd);
            add(directory, name);
        }
    }
}

static int
compare(const void *a, const void *b)
{
    const char *const *first = a;
    const char *const *second = b;
    return strcmp(*first, *second);
}

static void
fill(struct directory *directory)
{
    const struct sim__posix_inode *inode = sim__posix_file(directory->fd)->inode;
    directory->count = 0;
    directory->place = 0;
    add(directory, ".");
    add(directory, "..");
    add_of_run(directory, inode->path);
    if (strcmp(inode->path, "/proc/self/fd") == 0 || strcmp(inode->path, "/dev/fd") == 0) {
        add_numbers(directory);
    }
    if (!inode->made && !sim__posix_of_process(inode->path)) {
        add_of_machine(directory, inode->path);
    }
    sim_sort(directory->names, directory->count, sizeof(*directory->names), compare);
}

bool
sim__posix_is_empty(const char *path)
{
    int fd = sim__posix_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        return true;
    }
    struct directory directory = {.fd = fd};
    fill(&directory);
    (void)sim__posix_close(fd);
    return directory.count == 2;
}

/* ---- Reading. -------------------------------------------------------------------------------- */

DIR *
sim__posix_fdopendir(int fd)
{
    const struct sim__posix_file *file = sim__posix_file(fd);
    if (file == NULL || file->inode->kind != SIM__POSIX_DIRECTORY) {
        errno = sim__posix_description(fd) == NULL ? EBADF : ENOTDIR;
        return NULL;
    }
    struct directory *directory = sim_new(sim_world_current, struct directory);
    directory->fd = fd;
    fill(directory);
    return (DIR *)directory;
}

DIR *
sim__posix_opendir(const char *path)
{
    int fd = sim__posix_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    return fd >= 0 ? sim__posix_fdopendir(fd) : NULL;
}

int
sim__posix_closedir(DIR *opaque)
{
    return sim__posix_close(directory_of(opaque)->fd);
}

int
sim__posix_dirfd(DIR *opaque)
{
    return directory_of(opaque)->fd;
}

static unsigned char
type_of(const struct stat *stat)
{
    return (unsigned char)IFTODT(stat->st_mode);
}

struct dirent *
sim__posix_readdir(DIR *opaque)
{
    struct directory *directory = directory_of(opaque);
    struct stat stat = {.st_mode = 0};
    if (directory->place == directory->count) {
        return NULL;
    }
    const char *name = directory->names[directory->place++];
    int error = errno;
    (void)sim__posix_fstatat(directory->fd, name, &stat, AT_SYMLINK_NOFOLLOW);
    errno = error;
    directory->entry = (struct dirent){.d_ino = stat.st_ino + 1,
            .d_off = (off_t)directory->place,
            .d_reclen = sizeof(struct dirent),
            .d_type = type_of(&stat)};
    size_t size = strlen(name);
    rt_assert(size < sizeof(directory->entry.d_name));
    memcpy(directory->entry.d_name, name, size + 1);
    return &directory->entry;
}

int
sim__posix_readdir_r(DIR *opaque, struct dirent *to, struct dirent **ret)
{
    const struct dirent *entry = sim__posix_readdir(opaque);
    if (entry != NULL) {
        *to = *entry;
    }
    *ret = entry != NULL ? to : NULL;
    return 0;
}

void
sim__posix_rewinddir(DIR *opaque)
{
    fill(directory_of(opaque));
}

long
sim__posix_telldir(DIR *opaque)
{
    return (long)directory_of(opaque)->place;
}

void
sim__posix_seekdir(DIR *opaque, long place)
{
    struct directory *directory = directory_of(opaque);
    bool known = place >= 0 && place <= (long)directory->count;
    directory->place = known ? (uint32_t)place : directory->count;
}

/* ---- All at once. ---------------------------------------------------------------------------- */

/* A copy from malloc, as the caller frees it; NULL: none is left. */
static struct dirent *
copy_entry(const struct dirent *entry)
{
    struct dirent *copy = malloc(sizeof(*copy));
    if (copy != NULL) {
        *copy = *entry;
    }
    return copy;
}

/* Appends copies of the entries that `want` takes; returns how many, -1: no memory is left. */
static int
collect(DIR *opaque, int (*want)(const struct dirent *), struct dirent **list)
{
    const struct dirent *entry = NULL;
    int count = 0;
    while ((entry = sim__posix_readdir(opaque)) != NULL) {
        if (want != NULL && want(entry) == 0) {
            continue;
        }
        list[count] = copy_entry(entry);
        if (list[count++] == NULL) {
            return -1;
        }
    }
    return count;
}

int
sim__posix_scandir(const char *path, struct dirent ***ret, int (*want)(const struct dirent *),
        int (*order)(const struct dirent **, const struct dirent **))
{
    DIR *opaque = sim__posix_opendir(path);
    if (opaque == NULL) {
        return -1;
    }
    struct dirent **list = calloc(directory_of(opaque)->count, sizeof(struct dirent *));
    int count = list != NULL ? collect(opaque, want, list) : -1;
    (void)sim__posix_closedir(opaque);
    if (count < 0) {
        return sim__posix_error(ENOMEM);
    }
    if (order != NULL && count > 0) {
        int (*by)(const void *, const void *);
        memcpy(&by, &order, sizeof(by));
        sim_sort(list, (size_t)count, sizeof(struct dirent *), by);
    }
    *ret = list;
    return count;
}

/* ---- Patterns. ------------------------------------------------------------------------------- */

static void *
glob_open(const char *path)
{
    return sim__posix_opendir(path);
}

static struct dirent *
glob_read(void *opaque)
{
    return sim__posix_readdir(opaque);
}

static void
glob_close(void *opaque)
{
    (void)sim__posix_closedir(opaque);
}

int
sim__posix_glob(
        const char *pattern, int flags, int (*failed)(const char *path, int error), void *to)
{
    glob_t *list = to;
    if ((flags & GLOB_ALTDIRFUNC) == 0) {
        list->gl_opendir = glob_open;
        list->gl_readdir = glob_read;
        list->gl_closedir = glob_close;
        list->gl_stat = sim__posix_stat;
        list->gl_lstat = sim__posix_lstat;
    }
    return sim__real.glob(pattern, flags | GLOB_ALTDIRFUNC, failed, list);
}
