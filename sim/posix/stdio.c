/*
 * stdio.c -- streams of the C library upon descriptors of the run.
 *
 * The C library's own streams would make system calls from inside of it. A stream that a run opens
 * has functions instead (fopencookie), which call what the program's read and write would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/core/process/output.h"
#include "sim/posix/state.h"

/* Of file.h, which includes a header of the host with a macro sim_output_write. */
void sim__posix_print(bool errors, const char *bytes, size_t size);

struct stream {
    struct rt_list link; /* In state->streams. */
    FILE *file;
    int fd;
};

static struct stream *
stream_of(struct rt_list *node)
{
    return rt_container_of(node, struct stream, link);
}

/* NULL: it is not one of the run's. */
static struct stream *
find(const FILE *file)
{
    rt_list_each(node, &sim__posix_state()->streams)
    {
        if (stream_of(node)->file == file) {
            return stream_of(node);
        }
    }
    return NULL;
}

/* ---- Its functions. After the run they do nothing. ------------------------------------------- */

static ssize_t
stream_read(void *cookie, char *to, size_t size)
{
    const struct stream *stream = cookie;
    if (sim_thread_now == NULL) {
        return 0;
    }
    sim_thread_now->call = "read";
    ssize_t moved = sim__posix_read(stream->fd, to, size);
    if (sim_thread_now->cut) { /* The C library unlocks the stream when its frames are unwound. */
        sim_thread_cancel_point();
    }
    return moved;
}

/* 0, not -1, is how a cookie says that it failed. */
static ssize_t
stream_write(void *cookie, const char *from, size_t size)
{
    const struct stream *stream = cookie;
    size_t done = 0;
    while (done < size && sim_thread_now != NULL) {
        ssize_t moved = sim__posix_write(stream->fd, from + done, size - done);
        if (moved <= 0) {
            return (ssize_t)done;
        }
        done += (size_t)moved;
    }
    return (ssize_t)size;
}

static int
stream_seek(void *cookie, off64_t *place, int whence)
{
    const struct stream *stream = cookie;
    off_t at = sim_thread_now != NULL ? sim__posix_lseek(stream->fd, *place, whence) : -1;
    *place = at >= 0 ? at : *place;
    return at >= 0 ? 0 : -1;
}

static int
stream_close(void *cookie)
{
    struct stream *stream = cookie;
    if (sim_thread_now == NULL) {
        return 0;
    }
    rt_list_unlink(&stream->link);
    return sim__posix_close(stream->fd);
}

static FILE *
open_stream(int fd, const char *mode)
{
    static const cookie_io_functions_t functions = {
            .read = stream_read, .write = stream_write, .seek = stream_seek, .close = stream_close};
    struct sim__posix *state = sim__posix_state();
    struct stream *stream = sim_new(state->world, struct stream);
    stream->fd = fd;
    stream->file = fopencookie(stream, mode, functions);
    if (stream->file != NULL) {
        rt_list_init(&stream->link);
        rt_list_push_back(&state->streams, &stream->link);
    }
    return stream->file;
}

void
sim__posix_print(bool errors, const char *bytes, size_t size)
{
    sim_output_write(errors ? SIM_OUTPUT_STDERR : SIM_OUTPUT_STDOUT, bytes, size);
}

/* ---- Opening. -------------------------------------------------------------------------------- */

/* The flags of open for `mode`; -1: no mode. */
static int
flags_of(const char *mode)
{
    int more = strchr(mode, '+') != NULL ? O_RDWR : 0;
    int rest =
            (strchr(mode, 'x') != NULL ? O_EXCL : 0) | (strchr(mode, 'e') != NULL ? O_CLOEXEC : 0);
    switch (mode[0]) {
    case 'r':
        return (more != 0 ? O_RDWR : O_RDONLY) | rest;
    case 'w':
        return (more != 0 ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC | rest;
    case 'a':
        return (more != 0 ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | rest;
    default:
        return -1;
    }
}

FILE *
sim__posix_fopen(const char *path, const char *mode)
{
    int flags = flags_of(mode);
    if (flags < 0) {
        errno = EINVAL;
        return NULL;
    }
    int fd = sim__posix_open(path, flags, 0666);
    return fd >= 0 ? open_stream(fd, mode) : NULL;
}

FILE *
sim__posix_fdopen(int fd, const char *mode)
{
    if (flags_of(mode) < 0) {
        errno = EINVAL;
        return NULL;
    }
    return sim__posix_fcntl(fd, F_GETFD, 0) >= 0 ? open_stream(fd, mode) : NULL;
}

FILE *
sim__posix_tmpfile(void)
{
    char name[] = "/tmp/tmpfXXXXXX";
    int fd = sim__posix_mkstemp(name);
    if (fd >= 0) {
        (void)sim__posix_unlink(name);
    }
    return fd >= 0 ? open_stream(fd, "w+") : NULL;
}

int
sim__posix_fileno(FILE *file)
{
    const struct stream *stream = find(file);
    if (stream != NULL) {
        return stream->fd;
    }
    return file == stdin    ? STDIN_FILENO
           : file == stdout ? STDOUT_FILENO
           : file == stderr ? STDERR_FILENO
                            : sim__posix_error(EBADF);
}
