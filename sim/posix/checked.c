/*
 * checked.c -- calls as a program makes them that was compiled with -D_FORTIFY_SOURCE: with the
 * room that the compiler knows of, or without the mode of a file that is not created.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <stdlib.h>

#include "sim/posix/call.h"

/* As the C library does it: the program ends. */
static void
check(size_t size, size_t room)
{
    if (size > room) {
        abort();
    }
}

ssize_t
sim__posix___read_chk(int fd, void *to, size_t size, size_t room)
{
    check(size, room);
    return sim__posix_read(fd, to, size);
}

ssize_t
sim__posix___pread_chk(int fd, void *to, size_t size, off_t place, size_t room)
{
    check(size, room);
    return sim__posix_pread(fd, to, size, place);
}

ssize_t
sim__posix___recv_chk(int fd, void *to, size_t size, size_t room, int flags)
{
    check(size, room);
    return sim__posix_recv(fd, to, size, flags);
}

ssize_t
sim__posix___recvfrom_chk(int fd, void *to, size_t size, size_t room, int flags,
        struct sockaddr *ret, socklen_t *ret_size)
{
    check(size, room);
    return sim__posix_recvfrom(fd, to, size, flags, ret, ret_size);
}

char *
sim__posix___getcwd_chk(char *to, size_t size, size_t room)
{
    check(size, room);
    return sim__posix_getcwd(to, size);
}

int
sim__posix___gethostname_chk(char *to, size_t size, size_t room)
{
    check(size, room);
    return sim__posix_gethostname(to, size);
}

ssize_t
sim__posix___readlink_chk(const char *path, char *to, size_t size, size_t room)
{
    check(size, room);
    return sim__posix_readlink(path, to, size);
}

char *
sim__posix___realpath_chk(const char *path, char *to, size_t room)
{
    check(PATH_MAX, room);
    return sim__posix_realpath(path, to);
}

/* Names that stat had in programs linked before glibc 2.33. */
int
sim__posix___xstat(int version, const char *path, struct stat *ret)
{
    (void)version;
    return sim__posix_stat(path, ret);
}

int
sim__posix___lxstat(int version, const char *path, struct stat *ret)
{
    (void)version;
    return sim__posix_lstat(path, ret);
}

int
sim__posix___fxstat(int version, int fd, struct stat *ret)
{
    (void)version;
    return sim__posix_fstat(fd, ret);
}

int
sim__posix___open_2(const char *path, int flags)
{
    return sim__posix_open(path, flags, 0);
}

int
sim__posix___openat_2(int folder, const char *path, int flags)
{
    return sim__posix_openat(folder, path, flags, 0);
}

int
sim__posix___vdprintf_chk(int fd, int flag, const char *format, va_list arguments)
{
    (void)flag;
    return sim__posix_vdprintf(fd, format, arguments);
}
