/*
 * attribute.c -- permissions, owners, times and space of files, and what is said of their system.
 *
 * Every file belongs to the user of the run, which may change what it owns but not give it away.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/time.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"
#include "sim/posix/number.h"
#include "sim/posix/wait.h"

/* The file behind `fd`; NULL: errno is set. */
static struct sim__posix_inode *
inode_of_fd(int fd)
{
    struct sim__posix_file *file = sim__posix_file(fd);
    if (file == NULL) {
        errno = sim__posix_description(fd) != NULL ? EINVAL : EBADF;
    }
    return file != NULL ? file->inode : NULL;
}

/* ---- Permissions and owners. ----------------------------------------------------------------- */

static int
set_mode(struct sim__posix_inode *inode, mode_t mode)
{
    if (inode == NULL) {
        return -1;
    }
    inode->mode = mode & 07777;
    return 0;
}

int
sim__posix_chmod(const char *path, mode_t mode)
{
    return set_mode(sim__posix_inode_at(AT_FDCWD, path), mode);
}

int
sim__posix_fchmod(int fd, mode_t mode)
{
    return set_mode(inode_of_fd(fd), mode);
}

int
sim__posix_fchmodat(int folder, const char *path, mode_t mode, int flags)
{
    (void)flags;
    return set_mode(sim__posix_inode_at(folder, path), mode);
}

static int
set_owner(const struct sim__posix_inode *inode, uid_t user, gid_t group)
{
    uid_t own = sim__posix_getuid();
    bool stays = (user == own || user == (uid_t)-1) && (group == own || group == (gid_t)-1);
    if (inode == NULL) {
        return -1;
    }
    return stays ? 0 : sim__posix_error(EPERM);
}

int
sim__posix_chown(const char *path, uid_t user, gid_t group)
{
    return set_owner(sim__posix_inode_at(AT_FDCWD, path), user, group);
}

int
sim__posix_fchown(int fd, uid_t user, gid_t group)
{
    return set_owner(inode_of_fd(fd), user, group);
}

int
sim__posix_fchownat(int folder, const char *path, uid_t user, gid_t group, int flags)
{
    bool itself = path[0] == '\0' && (flags & AT_EMPTY_PATH) != 0;
    return set_owner(itself ? inode_of_fd(folder) : sim__posix_inode_at(folder, path), user, group);
}

/* ---- Times. ---------------------------------------------------------------------------------- */

static bool
valid_time(const struct timespec *time)
{
    const struct timespec after = {0, time->tv_nsec}; /* A file may be from before 1970. */
    return time->tv_nsec == UTIME_NOW || time->tv_nsec == UTIME_OMIT || sim__posix_valid(&after);
}

/* `times`: accessed and modified; NULL: now. */
static int
set_times(struct sim__posix_inode *inode, const struct timespec *times)
{
    static const struct timespec both_now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    const struct timespec *asked = times != NULL ? times : both_now;
    struct stat before;
    struct timespec now;
    if (inode == NULL) {
        return -1;
    }
    if (!valid_time(&asked[0]) || !valid_time(&asked[1])) {
        return sim__posix_error(EINVAL);
    }
    sim__posix_inode_stat(inode, &before);
    (void)sim__posix_clock_gettime(CLOCK_REALTIME, &now);
    const struct timespec was[2] = {before.st_atim, before.st_mtim};
    for (int i = 0; i < 2; i++) {
        bool omitted = asked[i].tv_nsec == UTIME_OMIT;
        inode->times[i] = omitted ? was[i] : asked[i].tv_nsec == UTIME_NOW ? now : asked[i];
    }
    inode->timed = true;
    return 0;
}

int
sim__posix_utimensat(int folder, const char *path, const struct timespec *times, int flags)
{
    char whole[SIM__POSIX_PATH];
    bool itself = path != NULL && (flags & AT_SYMLINK_NOFOLLOW) != 0;
    const char *named = itself ? sim__posix_path_at(folder, path, whole) : NULL;
    struct sim__posix_inode *link = named != NULL ? sim__posix_named(whole) : NULL;
    if (link != NULL && link->kind == SIM__POSIX_LINK && !link->gone) {
        return set_times(link, times);
    }
    return set_times(path != NULL ? sim__posix_inode_at(folder, path) : inode_of_fd(folder), times);
}

int
sim__posix_futimens(int fd, const struct timespec *times)
{
    return set_times(inode_of_fd(fd), times);
}

static int
set_micro_times(struct sim__posix_inode *inode, const struct timeval *times)
{
    struct timespec fine[2];
    for (int i = 0; i < 2 && times != NULL; i++) {
        fine[i] = (struct timespec){times[i].tv_sec, times[i].tv_usec * 1000};
    }
    return set_times(inode, times != NULL ? fine : NULL);
}

int
sim__posix_utimes(const char *path, const struct timeval *times)
{
    return set_micro_times(sim__posix_inode_at(AT_FDCWD, path), times);
}

int
sim__posix_futimes(int fd, const struct timeval *times)
{
    return set_micro_times(inode_of_fd(fd), times);
}

int
sim__posix_utime(const char *path, const struct utimbuf *times)
{
    struct timespec fine[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    if (times != NULL) {
        fine[0] = (struct timespec){times->actime, 0};
        fine[1] = (struct timespec){times->modtime, 0};
    }
    return set_times(sim__posix_inode_at(AT_FDCWD, path), fine);
}

/* ---- Space. ---------------------------------------------------------------------------------- */

/* 0 or an errno. */
static int
allocate(const struct sim__posix_file *file, int mode, off_t place, off_t size)
{
    struct sim__posix_inode *inode = file->inode;
    if ((file->flags & O_ACCMODE) == O_RDONLY) {
        return EBADF;
    }
    if (place < 0 || size <= 0) {
        return EINVAL;
    }
    uint64_t end = (uint64_t)place + (uint64_t)size;
    bool hole = mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
    if (hole && (uint64_t)place < inode->size) {
        uint64_t most = end < inode->size ? end : inode->size;
        memset(inode->bytes + place, 0, (size_t)(most - (uint64_t)place));
    }
    if (mode != 0) {
        return hole || mode == FALLOC_FL_KEEP_SIZE ? 0 : EOPNOTSUPP;
    }
    return end <= inode->size || sim__posix_inode_resize(inode, end) ? 0 : EFBIG;
}

int
sim__posix_posix_fallocate(int fd, off_t place, off_t size)
{
    const struct sim__posix_file *file = sim__posix_file(fd);
    if (file == NULL) {
        return sim__posix_description(fd) != NULL ? ENODEV : EBADF;
    }
    return allocate(file, 0, place, size);
}

int
sim__posix_fallocate(int fd, int mode, off_t place, off_t size)
{
    const struct sim__posix_file *file = sim__posix_file(fd);
    int error = file == NULL ? sim__posix_posix_fallocate(fd, place, size)
                             : allocate(file, mode, place, size);
    return error != 0 ? sim__posix_error(error) : 0;
}

/* ---- The file system: one of 4 GB, half empty. ----------------------------------------------- */

#define BLOCK 4096
#define BLOCKS (1u << 20)

static int
say_system(const struct sim__posix_inode *inode, struct statfs *ret)
{
    if (inode == NULL) {
        return -1;
    }
    *ret = (struct statfs){.f_type = EXT4_SUPER_MAGIC,
            .f_bsize = BLOCK,
            .f_frsize = BLOCK,
            .f_blocks = BLOCKS,
            .f_bfree = BLOCKS / 2,
            .f_bavail = BLOCKS / 2,
            .f_files = BLOCKS,
            .f_ffree = BLOCKS / 2,
            .f_namelen = 255};
    return 0;
}

int
sim__posix_statfs(const char *path, struct statfs *ret)
{
    return say_system(sim__posix_inode_at(AT_FDCWD, path), ret);
}

int
sim__posix_fstatfs(int fd, struct statfs *ret)
{
    return say_system(inode_of_fd(fd), ret);
}

static int
say_posix_system(const struct sim__posix_inode *inode, struct statvfs *ret)
{
    struct statfs all;
    if (say_system(inode, &all) != 0) {
        return -1;
    }
    *ret = (struct statvfs){.f_bsize = BLOCK,
            .f_frsize = BLOCK,
            .f_blocks = all.f_blocks,
            .f_bfree = all.f_bfree,
            .f_bavail = all.f_bavail,
            .f_files = all.f_files,
            .f_ffree = all.f_ffree,
            .f_favail = all.f_ffree,
            .f_namemax = 255};
    return 0;
}

int
sim__posix_statvfs(const char *path, struct statvfs *ret)
{
    return say_posix_system(sim__posix_inode_at(AT_FDCWD, path), ret);
}

int
sim__posix_fstatvfs(int fd, struct statvfs *ret)
{
    return say_posix_system(inode_of_fd(fd), ret);
}
