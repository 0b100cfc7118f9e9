/*
 * move.c -- reading and writing: bytes, vectors, messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"
#include "sim/posix/number.h"
#include "sim/posix/signal.h"
#include "sim/posix/wait.h"

/* ---- One buffer. ----------------------------------------------------------------------------- */

static ssize_t
read_some(int fd, void *to, size_t size, uint32_t flags, const struct rt_site *site)
{
    int64_t result = -EINTR;
    if (size == 0 && sim__posix_description(fd) != NULL) {
        return 0;
    }
    do {
        result = sim_sys_read(sim__posix_fds(), fd, to, size, flags, site);
    } while (sim__posix_restarts(fd, SIM_SYS_SHUT_READ, result));
    return (ssize_t)sim__posix_result(result);
}

static ssize_t
write_some(int fd, const void *from, size_t size, uint32_t flags, bool silent,
        const struct rt_site *site)
{
    int64_t result = -EINTR;
    do {
        result = sim_sys_write(sim__posix_fds(), fd, from, size, flags, site);
    } while (sim__posix_restarts(fd, SIM_SYS_SHUT_WRITE, result));
    if (result > 0) {
        sim_world_news(sim_world_current);
    }
    return result == -EPIPE ? sim__posix_broken_pipe(silent) : (ssize_t)sim__posix_result(result);
}

ssize_t
sim__posix_read(int fd, void *to, size_t size)
{
    const struct rt_site *site = sim__posix_begin(fd);
    return read_some(fd, to, size, 0, site);
}

ssize_t
sim__posix_write(int fd, const void *from, size_t size)
{
    const struct rt_site *site = sim__posix_begin(fd);
    return write_some(fd, from, size, 0, false, site);
}

/* ---- Vectors: one buffer, in pieces. --------------------------------------------------------- */

/* Their size; -1: too large. */
static ssize_t
vector_size(const struct iovec *vector, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        if (vector[i].iov_len > SSIZE_MAX - size) {
            return -1;
        }
        size += vector[i].iov_len;
    }
    return (ssize_t)size;
}

/* One buffer for all: the caller's own where there is one only, else a new one. NULL: errno. */
static char *
gather(const struct iovec *vector, int count, bool fill, size_t *ret_size)
{
    ssize_t size = count < 0 || count > IOV_MAX ? -1 : vector_size(vector, count);
    char *whole = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (whole == NULL) {
        errno = size < 0 ? EINVAL : ENOMEM;
        return NULL;
    }
    size_t used = 0;
    for (int i = 0; i < count && fill; i++) {
        if (vector[i].iov_len > 0) {
            memcpy(whole + used, vector[i].iov_base, vector[i].iov_len);
            used += vector[i].iov_len;
        }
    }
    *ret_size = (size_t)size;
    return whole;
}

static void
scatter(const struct iovec *vector, int count, const char *from, ssize_t size)
{
    size_t left = size > 0 ? (size_t)size : 0;
    for (int i = 0; i < count && left > 0; i++) {
        size_t part = vector[i].iov_len < left ? vector[i].iov_len : left;
        memcpy(vector[i].iov_base, from, part);
        from += part;
        left -= part;
    }
}

static ssize_t
read_vector(int fd, const struct iovec *vector, int count, uint32_t flags)
{
    const struct rt_site *site = sim__posix_begin(fd);
    size_t size = 0;
    char *whole = gather(vector, count, false, &size);
    if (whole == NULL) {
        return -1;
    }
    ssize_t moved = read_some(fd, whole, size, flags, site);
    scatter(vector, count, whole, moved);
    free(whole);
    return moved;
}

static ssize_t
write_vector(int fd, const struct iovec *vector, int count, uint32_t flags, bool silent)
{
    const struct rt_site *site = sim__posix_begin(fd);
    size_t size = 0;
    char *whole = gather(vector, count, true, &size);
    if (whole == NULL) {
        return -1;
    }
    ssize_t moved = write_some(fd, whole, size, flags, silent, site);
    free(whole);
    return moved;
}

ssize_t
sim__posix_readv(int fd, const struct iovec *vector, int count)
{
    return read_vector(fd, vector, count, 0);
}

ssize_t
sim__posix_writev(int fd, const struct iovec *vector, int count)
{
    return write_vector(fd, vector, count, 0, false);
}

ssize_t
sim__posix_preadv(int fd, const struct iovec *vector, int count, off_t place)
{
    size_t size = 0;
    char *whole = gather(vector, count, false, &size);
    if (whole == NULL) {
        return -1;
    }
    ssize_t moved = sim__posix_pread(fd, whole, size, place);
    scatter(vector, count, whole, moved);
    free(whole);
    return moved;
}

ssize_t
sim__posix_pwritev(int fd, const struct iovec *vector, int count, off_t place)
{
    size_t size = 0;
    char *whole = gather(vector, count, true, &size);
    if (whole == NULL) {
        return -1;
    }
    ssize_t moved = sim__posix_pwrite(fd, whole, size, place);
    free(whole);
    return moved;
}

/* sendfile from a file to a descriptor. */
ssize_t
sim__posix_sendfile(int to, int from, off_t *place, size_t size)
{
    struct sim__posix_file *file = sim__posix_file(from);
    if (file == NULL) {
        return sim__posix_error(sim__posix_description(from) != NULL ? EINVAL : EBADF);
    }
    uint64_t at = place != NULL ? (uint64_t)*place : file->place;
    uint64_t left = at < file->inode->size ? file->inode->size - at : 0;
    size_t part = size < left ? size : (size_t)left;
    ssize_t moved = part > 0 ? sim__posix_write(to, file->inode->bytes + at, part) : 0;
    if (moved > 0 && place != NULL) {
        *place += moved;
    } else if (moved > 0) {
        file->place += (uint64_t)moved;
    }
    return moved;
}

/* ---- Printing into a descriptor. ------------------------------------------------------------- */

__attribute__((format(printf, 2, 0))) int
sim__posix_vdprintf(int fd, const char *format, va_list arguments)
{
    char *text = NULL;
    int size = vasprintf(&text, format, arguments);
    if (size < 0) {
        return -1;
    }
    ssize_t moved = sim__posix_write(fd, text, (size_t)size);
    free(text);
    return (int)moved;
}

/* ---- Messages. ------------------------------------------------------------------------------- */

static uint32_t
flags_of(int flags)
{
    return ((flags & MSG_DONTWAIT) != 0 ? SIM_SYS_DONTWAIT : 0) |
           ((flags & MSG_PEEK) != 0 ? SIM_SYS_PEEK : 0);
}

/* Errors come by SO_ERROR alone: their queue is empty. */
static bool
supported(int flags)
{
    if ((flags & MSG_OOB) != 0) {
        sim__posix_refuse("bytes out of band");
    }
    return (flags & MSG_ERRQUEUE) == 0;
}

ssize_t
sim__posix_recv(int fd, void *to, size_t size, int flags)
{
    const struct rt_site *site = sim__posix_begin(fd);
    if (!supported(flags)) {
        return sim__posix_error(EAGAIN);
    }
    ssize_t moved = read_some(fd, to, size, flags_of(flags), site);
    size_t done = moved > 0 ? (size_t)moved : 0;
    while ((flags & MSG_WAITALL) != 0 && moved > 0 && done < size) {
        moved = read_some(fd, (char *)to + done, size - done, flags_of(flags), site);
        done += moved > 0 ? (size_t)moved : 0;
    }
    return done > 0 ? (ssize_t)done : moved;
}

ssize_t
sim__posix_send(int fd, const void *from, size_t size, int flags)
{
    const struct rt_site *site = sim__posix_begin(fd);
    if (!supported(flags)) {
        return sim__posix_error(EINVAL);
    }
    return write_some(fd, from, size, flags_of(flags), (flags & MSG_NOSIGNAL) != 0, site);
}
