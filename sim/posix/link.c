/*
 * link.c -- more names of a file, symbolic links, and paths without any.
 *
 * Links of the machine are followed by its kernel where a file of it is read; those that the run
 * makes are followed by inode.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/code/symbols.h"
#include "sim/posix/file.h"

/* ---- More names. ----------------------------------------------------------------------------- */

int
sim__posix_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    char whole[SIM__POSIX_PATH];
    int error = 0;
    (void)flags;
    struct sim__posix_inode *inode = sim__posix_inode_at(from_folder, from);
    if (inode == NULL || sim__posix_path_at(to_folder, to, whole) == NULL) {
        return -1;
    }
    if (inode->kind == SIM__POSIX_DIRECTORY) {
        return sim__posix_error(EPERM);
    }
    if (sim__posix_inode(whole, &error) != NULL) {
        return sim__posix_error(EEXIST);
    }
    return sim__posix_name(inode, whole) ? 0 : sim__posix_error(ENOENT);
}

int
sim__posix_link(const char *from, const char *to)
{
    return sim__posix_linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- Symbolic links. ------------------------------------------------------------------------- */

int
sim__posix_symlinkat(const char *target, int folder, const char *path)
{
    char whole[SIM__POSIX_PATH];
    struct stat there;
    size_t size = strlen(target);
    if (size == 0 || sim__posix_path_at(folder, path, whole) == NULL) {
        return size == 0 ? sim__posix_error(ENOENT) : -1;
    }
    if (sim__posix_fstatat(AT_FDCWD, whole, &there, AT_SYMLINK_NOFOLLOW) == 0) {
        return sim__posix_error(EEXIST);
    }
    struct sim__posix_inode *link = sim__posix_inode_new(whole, SIM__POSIX_LINK, 0777);
    if (link == NULL || !sim__posix_inode_resize(link, size)) {
        return sim__posix_error(ENOENT);
    }
    memcpy(link->bytes, target, size);
    link->mode = 0777;
    return 0;
}

int
sim__posix_symlink(const char *target, const char *path)
{
    return sim__posix_symlinkat(target, AT_FDCWD, path);
}

/* The absolute path of the program that is loaded; a negative errno: there is none. */
static ssize_t
read_own(char *to, size_t size)
{
    char whole[SIM__POSIX_PATH];
    const char *program = sim_places_module(SIM_PLACES_COPY);
    if (strcmp(program, SIM_PLACES_COPY) == 0 || !sim__posix_path(NULL, program, whole)) {
        return -ENOENT;
    }
    size_t length = strlen(whole);
    size_t part = length < size ? length : size;
    memcpy(to, whole, part);
    return (ssize_t)part;
}

/* Where the link at the absolute `path` leads: how many bytes of it are in `to`, or a negative
 * errno. */
static ssize_t
read_link(const char *path, char *to, size_t size)
{
    const struct sim__posix_inode *inode = sim__posix_named(path);
    if (inode != NULL && inode->kind == SIM__POSIX_LINK && !inode->gone) {
        size_t part = inode->size < size ? inode->size : size;
        memcpy(to, inode->bytes, part);
        return (ssize_t)part;
    }
    if (inode != NULL && (inode->gone || inode->made)) {
        return inode->gone ? -ENOENT : -EINVAL;
    }
    if (strcmp(path, "/proc/self/exe") == 0) {
        return read_own(to, size);
    }
    if (sim__posix_of_process(path)) {
        return inode != NULL ? -EINVAL : -ENOENT;
    }
    struct sim_thread *paused = sim_thread_pause();
    ssize_t part = sim__real.readlink(path, to, size);
    sim_thread_resume(paused);
    return part >= 0 ? part : -errno;
}

ssize_t
sim__posix_readlinkat(int folder, const char *path, char *to, size_t size)
{
    char whole[SIM__POSIX_PATH];
    if (sim__posix_path_at(folder, path, whole) == NULL) {
        return -1;
    }
    ssize_t part = read_link(whole, to, size);
    return part >= 0 ? part : sim__posix_error((int)-part);
}

ssize_t
sim__posix_readlink(const char *path, char *to, size_t size)
{
    return sim__posix_readlinkat(AT_FDCWD, path, to, size);
}

bool
sim__posix_stat_link(int folder, const char *path, struct stat *ret)
{
    char whole[SIM__POSIX_PATH];
    char target[SIM__POSIX_PATH];
    int error = errno;
    bool found = path[0] != '\0' && sim__posix_path_at(folder, path, whole) != NULL;
    ssize_t size = found ? read_link(whole, target, sizeof(target)) : -1;
    errno = error;
    if (size < 0) {
        return false;
    }
    const struct sim__posix_inode *inode = sim__posix_named(whole);
    *ret = (struct stat){.st_mode = S_IFLNK | 0777, .st_nlink = 1, .st_size = size};
    if (inode != NULL && inode->kind == SIM__POSIX_LINK) {
        sim__posix_inode_stat(inode, ret);
    }
    return true;
}

/* ---- Paths without links. -------------------------------------------------------------------- */

char *
sim__posix_realpath(const char *path, char *to)
{
    char whole[SIM__POSIX_PATH];
    const struct sim__posix_inode *inode = sim__posix_inode_at(AT_FDCWD, path);
    if (inode == NULL || sim__posix_path_at(AT_FDCWD, path, whole) == NULL) {
        return NULL;
    }
    if (!inode->made) {
        struct sim_thread *paused = sim_thread_pause();
        char *found = sim__real.realpath(whole, to);
        sim_thread_resume(paused);
        return found;
    }
    return to != NULL ? memcpy(to, inode->path, strlen(inode->path) + 1) : strdup(inode->path);
}
