/*
 * file.c -- calls on files: by path, and by the number of an open one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/host/sys_priv.h"
#include "sim/posix/number.h"
#include "sim/posix/random.h"

/* ---- An open file, as a description of the host. --------------------------------------------- */

static struct sim__posix_file *
file_of(const struct sim__description *description)
{
    return rt_container_of(description, struct sim__posix_file, description);
}

static uint32_t
file_events(const struct sim__description *description)
{
    (void)description;
    return SIM_FD_IN | SIM_FD_OUT;
}

/* Bytes read, or a negative errno. */
static int64_t
read_at(const struct sim__posix_inode *inode, void *to, size_t size, uint64_t place)
{
    switch (inode->kind) {
    case SIM__POSIX_RANDOM:
        sim__posix_random(to, size);
        return (int64_t)size;
    case SIM__POSIX_ZERO:
        memset(to, 0, size);
        return (int64_t)size;
    case SIM__POSIX_DIRECTORY:
        return -EISDIR;
    case SIM__POSIX_NULL:
    case SIM__POSIX_OUTPUT:
    case SIM__POSIX_ERRORS:
    case SIM__POSIX_LINK:
    case SIM__POSIX_SOCKET:
        return 0;
    case SIM__POSIX_REGULAR:
        break;
    }
    uint64_t left = place < inode->size ? inode->size - place : 0;
    size_t part = size < left ? size : (size_t)left;
    if (part > 0) {
        memcpy(to, inode->bytes + place, part);
    }
    return (int64_t)part;
}

/* Bytes written, or a negative errno. */
static int64_t
write_at(struct sim__posix_inode *inode, const void *from, size_t size, uint64_t place)
{
    if (inode->kind == SIM__POSIX_OUTPUT || inode->kind == SIM__POSIX_ERRORS) {
        sim__posix_print(inode->kind == SIM__POSIX_ERRORS, from, size);
    }
    if (inode->kind != SIM__POSIX_REGULAR) {
        return (int64_t)size;
    }
    if (place + size > inode->size && !sim__posix_inode_resize(inode, place + size)) {
        return -EFBIG;
    }
    if (size > 0) {
        memcpy(inode->bytes + place, from, size);
    }
    return (int64_t)size;
}

static bool
may(const struct sim__posix_file *file, int access)
{
    return (file->flags & O_ACCMODE) == O_RDWR || (file->flags & O_ACCMODE) == access;
}

static int64_t
file_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct sim__posix_file *file = file_of(description);
    (void)await;
    rt_assert(flags == 0);
    int64_t moved = may(file, O_RDONLY) ? read_at(file->inode, buffer, size, file->place) : -EBADF;
    file->place += moved > 0 ? (uint64_t)moved : 0;
    return moved;
}

static int64_t
file_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct sim__posix_file *file = file_of(description);
    (void)await;
    if ((file->flags & O_APPEND) != 0) {
        file->place = file->inode->size;
    }
    int64_t moved = may(file, O_WRONLY) ? write_at(file->inode, buffer, size, file->place) : -EBADF;
    file->place += moved > 0 ? (uint64_t)moved : 0;
    return moved;
}

static const struct sim__sys_ops file_sys = {.read = file_read, .write = file_write};
static const struct sim__description_ops file_ops = {.sys = &file_sys, .events = file_events};

struct sim__posix_file *
sim__posix_file(int fd)
{
    struct sim__description *description = sim__posix_description(fd);
    return description != NULL && description->ops == &file_ops ? file_of(description) : NULL;
}

int
sim__posix_open_inode(struct sim__posix_inode *inode, int flags)
{
    struct sim_fds *fds = sim__posix_fds();
    rt_err err = sim__fd_available(fds, 1);
    if (err != RT_OK) {
        return sim__posix_error(EMFILE);
    }
    struct sim__posix_file *file = sim_new(sim_world_current, struct sim__posix_file);
    file->inode = inode;
    file->flags = flags;
    sim__description_init(&file->description, fds, &file_ops, inode->path);
    return sim__posix_opened(sim__fd_open(&file->description), flags);
}

int
sim__posix_output_open(bool errors)
{
    int error = 0;
    const char *path = errors ? "/dev/stderr" : "/dev/stdout";
    return sim__posix_open_inode(sim__posix_inode(path, &error), O_WRONLY);
}

int
sim__posix_input_open(void)
{
    int error = 0;
    return sim__posix_open_inode(sim__posix_inode("/dev/null", &error), O_RDONLY);
}

/* ---- Opening. -------------------------------------------------------------------------------- */

const char *
sim__posix_path_at(int folder, const char *path, char ret[SIM__POSIX_PATH])
{
    const char *from = NULL;
    if (path[0] != '/' && folder != AT_FDCWD) {
        const struct sim__posix_file *file = sim__posix_file(folder);
        if (file == NULL || file->inode->kind != SIM__POSIX_DIRECTORY) {
            errno = file == NULL ? EBADF : ENOTDIR;
            return NULL;
        }
        from = file->inode->path;
    }
    if (!sim__posix_path(from, path, ret)) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    if (path[0] == '\0') {
        errno = ENOENT;
        return NULL;
    }
    return ret;
}

static int
refusal(const struct sim__posix_inode *inode, int flags)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
        return EEXIST;
    }
    if (inode->kind == SIM__POSIX_DIRECTORY) {
        return writes ? EISDIR : 0;
    }
    if ((flags & O_DIRECTORY) != 0 || inode->kind == SIM__POSIX_SOCKET) {
        return (flags & O_DIRECTORY) != 0 ? ENOTDIR : ENXIO;
    }
    return (writes && (inode->mode & 0222) == 0) || (!writes && (inode->mode & 0444) == 0) ? EACCES
                                                                                           : 0;
}

static int
open_path(const char *path, int flags, mode_t mode)
{
    int error = 0;
    struct stat link;
    if ((flags & O_NOFOLLOW) != 0 && sim__posix_stat_link(AT_FDCWD, path, &link)) {
        return sim__posix_error(ELOOP);
    }
    struct sim__posix_inode *inode = sim__posix_inode(path, &error);
    if (inode == NULL && error == ENOENT && (flags & O_CREAT) != 0) {
        inode = sim__posix_inode_new(path, SIM__POSIX_REGULAR, mode);
    } else if (inode != NULL) {
        error = refusal(inode, flags);
    }
    if (inode == NULL || (error != 0 && error != ENOENT)) {
        return sim__posix_error(error);
    }
    if ((flags & O_TRUNC) != 0 && inode->kind == SIM__POSIX_REGULAR) {
        (void)sim__posix_inode_resize(inode, 0);
    }
    return sim__posix_open_inode(inode, flags);
}

int
sim__posix_openat(int folder, const char *path, int flags, mode_t mode)
{
    char whole[SIM__POSIX_PATH];
    return sim__posix_path_at(folder, path, whole) != NULL ? open_path(whole, flags, mode) : -1;
}

int
sim__posix_open(const char *path, int flags, mode_t mode)
{
    return sim__posix_openat(AT_FDCWD, path, flags, mode);
}

int
sim__posix_creat(const char *path, mode_t mode)
{
    return sim__posix_open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* ---- Reading, writing and changing at a place. ----------------------------------------------- */

/* NULL: errno is set. */
static struct sim__posix_file *
regular(int fd)
{
    struct sim__posix_file *file = sim__posix_file(fd);
    if (file == NULL) {
        errno = sim__posix_description(fd) != NULL ? ESPIPE : EBADF;
    }
    return file;
}

ssize_t
sim__posix_pread(int fd, void *to, size_t size, off_t place)
{
    struct sim__posix_file *file = regular(fd);
    if (file == NULL || place < 0 || !may(file, O_RDONLY)) {
        return file == NULL ? -1 : sim__posix_error(place < 0 ? EINVAL : EBADF);
    }
    return (ssize_t)sim__posix_result(read_at(file->inode, to, size, (uint64_t)place));
}

ssize_t
sim__posix_pwrite(int fd, const void *from, size_t size, off_t place)
{
    struct sim__posix_file *file = regular(fd);
    if (file == NULL || place < 0 || !may(file, O_WRONLY)) {
        return file == NULL ? -1 : sim__posix_error(place < 0 ? EINVAL : EBADF);
    }
    return (ssize_t)sim__posix_result(write_at(file->inode, from, size, (uint64_t)place));
}

off_t
sim__posix_lseek(int fd, off_t place, int whence)
{
    struct sim__posix_file *file = regular(fd);
    if (file == NULL) {
        return -1;
    }
    off_t base = whence == SEEK_SET   ? 0
                 : whence == SEEK_CUR ? (off_t)file->place
                 : whence == SEEK_END ? (off_t)file->inode->size
                                      : -1;
    if (base < 0 || base + place < 0) {
        return sim__posix_error(EINVAL);
    }
    file->place = (uint64_t)(base + place);
    return base + place;
}

int
sim__posix_ftruncate(int fd, off_t size)
{
    struct sim__posix_file *file = regular(fd);
    if (file == NULL || size < 0 || !may(file, O_WRONLY)) {
        return file == NULL ? -1 : sim__posix_error(EINVAL);
    }
    bool fits = sim__posix_inode_resize(file->inode, (uint64_t)size);
    return fits ? 0 : sim__posix_error(EFBIG);
}

int
sim__posix_fsync(int fd)
{
    return sim__posix_description(fd) != NULL ? 0 : sim__posix_error(EBADF);
}

int
sim__posix_isatty(int fd)
{
    errno = sim__posix_description(fd) != NULL ? ENOTTY : EBADF;
    return 0;
}

/* ---- By path. -------------------------------------------------------------------------------- */

struct sim__posix_inode *
sim__posix_inode_at(int folder, const char *path)
{
    char whole[SIM__POSIX_PATH];
    if (sim__posix_path_at(folder, path, whole) == NULL) {
        return NULL;
    }
    int error = 0;
    struct sim__posix_inode *inode = sim__posix_inode(whole, &error);
    if (inode == NULL) {
        errno = error;
    }
    return inode;
}

int
sim__posix_fstat(int fd, struct stat *ret)
{
    const struct sim__posix_file *file = sim__posix_file(fd);
    if (file != NULL) {
        sim__posix_inode_stat(file->inode, ret);
        return 0;
    }
    if (sim__posix_description(fd) == NULL) {
        return sim__posix_error(EBADF);
    }
    *ret = (struct stat){.st_mode = S_IFSOCK | 0600, .st_blksize = 4096, .st_ino = (ino_t)fd + 1};
    return 0;
}

int
sim__posix_fstatat(int folder, const char *path, struct stat *ret, int flags)
{
    if (path[0] == '\0' && (flags & AT_EMPTY_PATH) != 0) {
        return sim__posix_fstat(folder, ret);
    }
    if ((flags & AT_SYMLINK_NOFOLLOW) != 0 && sim__posix_stat_link(folder, path, ret)) {
        return 0;
    }
    const struct sim__posix_inode *inode = sim__posix_inode_at(folder, path);
    if (inode != NULL) {
        sim__posix_inode_stat(inode, ret);
    }
    return inode != NULL ? 0 : -1;
}

static struct statx_timestamp
timestamp_of(struct timespec at)
{
    return (struct statx_timestamp){.tv_sec = at.tv_sec, .tv_nsec = (uint32_t)at.tv_nsec};
}

/* What fstatat says, whatever is asked for: as on a file system that keeps no more. */
int
sim__posix_statx(int folder, const char *path, int flags, unsigned mask, struct statx *ret)
{
    struct stat stat;
    if ((mask & STATX__RESERVED) != 0) {
        return sim__posix_error(EINVAL);
    }
    int which = flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
    if (sim__posix_fstatat(folder, path, &stat, which) != 0) {
        return -1;
    }
    *ret = (struct statx){.stx_mask = STATX_BASIC_STATS,
            .stx_blksize = (uint32_t)stat.st_blksize,
            .stx_nlink = (uint32_t)stat.st_nlink,
            .stx_uid = stat.st_uid,
            .stx_gid = stat.st_gid,
            .stx_mode = (uint16_t)stat.st_mode,
            .stx_ino = stat.st_ino,
            .stx_size = (uint64_t)stat.st_size,
            .stx_blocks = (uint64_t)stat.st_blocks,
            .stx_atime = timestamp_of(stat.st_atim),
            .stx_ctime = timestamp_of(stat.st_ctim),
            .stx_mtime = timestamp_of(stat.st_mtim),
            .stx_rdev_major = major(stat.st_rdev),
            .stx_rdev_minor = minor(stat.st_rdev),
            .stx_dev_major = major(stat.st_dev),
            .stx_dev_minor = minor(stat.st_dev)};
    return 0;
}

int
sim__posix_stat(const char *path, struct stat *ret)
{
    return sim__posix_fstatat(AT_FDCWD, path, ret, 0);
}

int
sim__posix_lstat(const char *path, struct stat *ret)
{
    return sim__posix_fstatat(AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
}

int
sim__posix_faccessat(int folder, const char *path, int mode, int flags)
{
    (void)flags;
    const struct sim__posix_inode *inode = sim__posix_inode_at(folder, path);
    if (inode == NULL) {
        return -1;
    }
    bool lacks = ((mode & W_OK) != 0 && (inode->mode & 0222) == 0) ||
                 ((mode & X_OK) != 0 && (inode->mode & 0111) == 0);
    return lacks ? sim__posix_error(EACCES) : 0;
}

int
sim__posix_access(const char *path, int mode)
{
    return sim__posix_faccessat(AT_FDCWD, path, mode, 0);
}

int
sim__posix_truncate(const char *path, off_t size)
{
    struct sim__posix_inode *inode = sim__posix_inode_at(AT_FDCWD, path);
    if (inode == NULL || size < 0) {
        return inode == NULL ? -1 : sim__posix_error(EINVAL);
    }
    return sim__posix_inode_resize(inode, (uint64_t)size) ? 0 : sim__posix_error(EFBIG);
}

int
sim__posix_unlinkat(int folder, const char *path, int flags)
{
    char whole[SIM__POSIX_PATH];
    struct stat stat;
    if (sim__posix_fstatat(folder, path, &stat, AT_SYMLINK_NOFOLLOW) != 0 ||
            sim__posix_path_at(folder, path, whole) == NULL) {
        return -1;
    }
    bool is_folder = S_ISDIR(stat.st_mode);
    if (is_folder != ((flags & AT_REMOVEDIR) != 0)) {
        return sim__posix_error(is_folder ? EISDIR : ENOTDIR);
    }
    if (is_folder && !sim__posix_is_empty(whole)) {
        return sim__posix_error(ENOTEMPTY);
    }
    sim__posix_unname(whole);
    return 0;
}

int
sim__posix_unlink(const char *path)
{
    return sim__posix_unlinkat(AT_FDCWD, path, 0);
}

int
sim__posix_rmdir(const char *path)
{
    return sim__posix_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int
sim__posix_remove(const char *path)
{
    const struct sim__posix_inode *inode = sim__posix_inode_at(AT_FDCWD, path);
    if (inode == NULL) {
        return -1;
    }
    return inode->kind == SIM__POSIX_DIRECTORY ? sim__posix_rmdir(path) : sim__posix_unlink(path);
}

int
sim__posix_mkdirat(int folder, const char *path, mode_t mode)
{
    char whole[SIM__POSIX_PATH];
    int error = 0;
    if (sim__posix_path_at(folder, path, whole) == NULL) {
        return -1;
    }
    if (sim__posix_inode(whole, &error) != NULL) {
        return sim__posix_error(EEXIST);
    }
    bool made = sim__posix_inode_new(whole, SIM__POSIX_DIRECTORY, mode) != NULL;
    return made ? 0 : sim__posix_error(error);
}

int
sim__posix_mkdir(const char *path, mode_t mode)
{
    return sim__posix_mkdirat(AT_FDCWD, path, mode);
}

/* Renames a file. A folder is refused: what is in it would have to follow. */
int
sim__posix_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    char whole[SIM__POSIX_PATH];
    char from_whole[SIM__POSIX_PATH];
    int error = 0;
    const struct sim__posix_inode *inode = sim__posix_inode_at(from_folder, from);
    if (inode == NULL || sim__posix_path_at(to_folder, to, whole) == NULL ||
            sim__posix_path_at(from_folder, from, from_whole) == NULL) {
        return -1;
    }
    if (inode->kind == SIM__POSIX_DIRECTORY) {
        sim__posix_refuse("rename of a directory");
    }
    if (sim__posix_inode(whole, &error) == inode) {
        return 0;
    }
    return sim__posix_rename_to(from_whole, whole) ? 0 : sim__posix_error(ENOENT);
}

int
sim__posix_rename(const char *from, const char *to)
{
    return sim__posix_renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* ---- Names for temporary files. -------------------------------------------------------------- */

/* Draws the six letters before the last `tail` ones. False: errno is set. */
static bool
draw_name(char *name, int tail)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t size = strlen(name);
    if (tail < 0 || size < (size_t)tail + 6 ||
            memcmp(name + size - (size_t)tail - 6, "XXXXXX", 6) != 0) {
        errno = EINVAL;
        return false;
    }
    unsigned char drawn[6];
    sim__posix_random(drawn, sizeof(drawn));
    for (size_t i = 0; i < sizeof(drawn); i++) {
        name[size - (size_t)tail - 6 + i] = letters[drawn[i] % (sizeof(letters) - 1)];
    }
    return true;
}

int
sim__posix_mkostemps(char *name, int tail, int flags)
{
    int all = (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL;
    return draw_name(name, tail) ? sim__posix_open(name, all, 0600) : -1;
}

char *
sim__posix_mkdtemp(char *name)
{
    return draw_name(name, 0) && sim__posix_mkdir(name, 0700) == 0 ? name : NULL;
}

int
sim__posix_mkstemp(char *name)
{
    return sim__posix_mkostemps(name, 0, 0);
}

int
sim__posix_mkostemp(char *name, int flags)
{
    return sim__posix_mkostemps(name, 0, flags);
}

int
sim__posix_mkstemps(char *name, int tail)
{
    return sim__posix_mkostemps(name, tail, 0);
}

/* ---- The working directory. ------------------------------------------------------------------ */

const char *
sim__posix_cwd(void)
{
    struct sim__posix *state = sim__posix_state();
    if (state->cwd == NULL) {
        char *path = sim_alloc(state->world, SIM__POSIX_PATH);
        struct sim_thread *paused = sim_thread_pause();
        bool found = sim__real.getcwd(path, SIM__POSIX_PATH) != NULL;
        sim_thread_resume(paused);
        state->cwd = found ? path : "/";
    }
    return state->cwd;
}

int
sim__posix_chdir(const char *path)
{
    const struct sim__posix_inode *inode = sim__posix_inode_at(AT_FDCWD, path);
    if (inode == NULL || inode->kind != SIM__POSIX_DIRECTORY) {
        return inode == NULL ? -1 : sim__posix_error(ENOTDIR);
    }
    sim__posix_state()->cwd = inode->path;
    return 0;
}

int
sim__posix_fchdir(int fd)
{
    const struct sim__posix_file *file = sim__posix_file(fd);
    if (file == NULL || file->inode->kind != SIM__POSIX_DIRECTORY) {
        return sim__posix_error(sim__posix_description(fd) == NULL ? EBADF : ENOTDIR);
    }
    sim__posix_state()->cwd = file->inode->path;
    return 0;
}

char *
sim__posix_get_current_dir_name(void)
{
    return strdup(sim__posix_cwd());
}

char *
sim__posix_getcwd(char *to, size_t size)
{
    const char *cwd = sim__posix_cwd();
    size_t need = strlen(cwd) + 1;
    if (to == NULL) {
        return strdup(cwd);
    }
    if (size < need) {
        errno = ERANGE;
        return NULL;
    }
    return memcpy(to, cwd, need);
}
