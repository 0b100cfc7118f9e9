/*
 * number.c -- the table of descriptors, and the calls on numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/number.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"
#include "sim/posix/signal.h"
#include "sim/posix/wait.h"

static void
open_usual(void)
{
    int input = sim__posix_input_open();
    int output = sim__posix_output_open(false);
    int errors = sim__posix_output_open(true);
    rt_assert(input == STDIN_FILENO && output == STDOUT_FILENO && errors == STDERR_FILENO);
}

struct sim_fds *
sim__posix_fds(void)
{
    struct sim__posix *state = sim__posix_state();
    if (state->fds == NULL) {
        struct sim_host *host = sim_host_new(state->world, "the kernel", SIM_PROFILE_FD);
        sim_host_block_by(host, &sim__posix_blocking);
        state->fds = sim_fds_new(host, 0);
        open_usual();
    }
    return state->fds;
}

struct sim__description *
sim__posix_description(int fd)
{
    return sim__fd_get(sim__posix_fds(), fd);
}

const struct rt_site *
sim__posix_begin(int fd)
{
    const struct rt_site *site = sim_thread_site(sim__posix_now.caller);
    sim__posix_state()->clock_reads = 0;
    sim_thread_point();
    const struct sim__description *description = sim__posix_description(fd);
    sim_thread_now->called = (struct sim_called){.call = {.fd = (uint32_t)fd},
            .object = description != NULL ? description->source->object : 0,
            .site = site != NULL ? site->id : 0,
            .begun = true};
    return site;
}

void
sim__posix_note(uint32_t second, uint64_t value)
{
    struct sim_called *called = &sim_thread_now->called;
    called->call.second = second;
    called->call.value = value;
    called->valued = true;
}

void
sim__posix_note_pair(const int ends[2])
{
    struct sim_called *called = &sim_thread_now->called;
    called->object = sim__posix_description(ends[0])->source->object;
    called->call.fd = (uint32_t)ends[0];
    called->call.second = (uint32_t)ends[1];
}

int
sim__posix_opened(int number, int flags)
{
    struct sim_fds *fds = sim__posix_fds();
    if (number >= 0 && (flags & O_NONBLOCK) != 0) {
        (void)sim_sys_set_status(fds, number, SIM_SYS_NONBLOCK);
    }
    if (number >= 0 && (flags & O_CLOEXEC) != 0) {
        (void)sim_sys_set_number_flags(fds, number, SIM_SYS_CLOEXEC);
    }
    return sim__posix_result(number);
}

int
sim__posix_close(int fd)
{
    if (sim__posix_description(fd) ==
            NULL) { /* No step: programs close all numbers up to a limit. */
        return sim__posix_error(EBADF);
    }
    (void)sim__posix_begin(fd);
    return sim__posix_result(sim_sys_close(sim__posix_fds(), fd));
}

int
sim__posix_close_range(unsigned first, unsigned last, int flags)
{
    (void)flags;
    (void)sim__posix_begin(-1);
    struct sim_fds *fds = sim__posix_fds();
    unsigned end = (unsigned)fds->capacity;
    for (unsigned fd = first; fd <= last && fd < end; fd++) {
        (void)sim_sys_close(fds, (int)fd);
    }
    return 0;
}

void
sim__posix_closefrom(int first)
{
    (void)sim__posix_close_range(first < 0 ? 0 : (unsigned)first, ~0u, 0);
}

int
sim__posix_dup(int fd)
{
    (void)sim__posix_begin(fd);
    return sim__posix_result(sim_sys_dup(sim__posix_fds(), fd, 0));
}

int
sim__posix_dup2(int fd, int to)
{
    (void)sim__posix_begin(fd);
    sim__posix_note((uint32_t)to, 0);
    return sim__posix_result(sim_sys_dup_to(sim__posix_fds(), fd, to));
}

int
sim__posix_dup3(int fd, int to, int flags)
{
    (void)sim__posix_begin(fd);
    sim__posix_note((uint32_t)to, 0);
    if (fd == to) {
        return sim__posix_error(EINVAL);
    }
    return sim__posix_opened(sim_sys_dup_to(sim__posix_fds(), fd, to), flags & O_CLOEXEC);
}

/* ---- fcntl, ioctl. --------------------------------------------------------------------------- */

static int
status_flags(int fd)
{
    int status = sim_sys_status(sim__posix_fds(), fd);
    const struct sim__posix_file *file = sim__posix_file(fd);
    if (status < 0) {
        return sim__posix_result(status);
    }
    int nonblock = ((uint32_t)status & SIM_SYS_NONBLOCK) != 0 ? O_NONBLOCK : 0;
    return nonblock | (file != NULL ? file->flags & (O_ACCMODE | O_APPEND) : O_RDWR);
}

static int
set_status_flags(int fd, long flags)
{
    struct sim__posix_file *file = sim__posix_file(fd);
    if (file != NULL) {
        file->flags = (file->flags & ~O_APPEND) | ((int)flags & O_APPEND);
    }
    uint32_t status = (flags & O_NONBLOCK) != 0 ? SIM_SYS_NONBLOCK : 0;
    return sim__posix_result(sim_sys_set_status(sim__posix_fds(), fd, status));
}

static int
set_pipe_size(int fd, long size)
{
    if (size < 0 || size > INT_MAX) {
        return sim__posix_error(EINVAL);
    }
    return sim__posix_result(sim_sys_set_pipe_size(sim__posix_fds(), fd, (uint32_t)size));
}

int
sim__posix_fcntl(int fd, int command, long argument)
{
    struct sim_fds *fds = sim__posix_fds();
    if (sim__posix_description(fd) == NULL) { /* No step: as in close. */
        return sim__posix_error(EBADF);
    }
    (void)sim__posix_begin(fd);
    switch (command) {
    case F_DUPFD:
        return sim__posix_result(sim_sys_dup(fds, fd, (int)argument));
    case F_DUPFD_CLOEXEC:
        return sim__posix_opened(sim_sys_dup(fds, fd, (int)argument), O_CLOEXEC);
    case F_GETFD:
        return sim__posix_result(sim_sys_number_flags(fds, fd));
    case F_SETFD: {
        uint32_t flags = (argument & FD_CLOEXEC) != 0 ? SIM_SYS_CLOEXEC : 0;
        return sim__posix_result(sim_sys_set_number_flags(fds, fd, flags));
    }
    case F_GETFL:
        return status_flags(fd);
    case F_SETFL:
        return set_status_flags(fd, argument);
    case F_SETLK: /* One process: no lock is held by another. */
    case F_SETLKW:
    case F_SETOWN:
        return sim__posix_description(fd) != NULL ? 0 : sim__posix_error(EBADF);
    case F_GETPIPE_SZ:
        return sim__posix_result(sim_sys_pipe_size(fds, fd));
    case F_SETPIPE_SZ:
        return set_pipe_size(fd, argument);
    default:
        return sim__posix_error(EINVAL);
    }
}

int
sim__posix_flock(int fd, int operation)
{
    (void)operation;
    return sim__posix_description(fd) != NULL ? 0 : sim__posix_error(EBADF);
}

int
sim__posix_lockf(int fd, int operation, off_t size)
{
    (void)size;
    return sim__posix_flock(fd, operation);
}

static int
set_nonblock(int fd, bool on)
{
    int flags = status_flags(fd);
    return flags < 0 ? flags : set_status_flags(fd, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

int
sim__posix_ioctl(int fd, unsigned long request, void *argument)
{
    struct sim_fds *fds = sim__posix_fds();
    (void)sim__posix_begin(fd);
    switch (request) {
    case FIONBIO:
        return set_nonblock(fd, *(const int *)argument != 0);
    case FIOCLEX:
        return sim__posix_result(sim_sys_set_number_flags(fds, fd, SIM_SYS_CLOEXEC));
    case FIONCLEX:
        return sim__posix_result(sim_sys_set_number_flags(fds, fd, 0));
    case FIONREAD: {
        int64_t size = sim_sys_readable(fds, fd);
        *(int *)argument = size > 0 ? (int)size : 0;
        return sim__posix_result(size < 0 ? size : 0);
    }
    default:
        return sim__posix_error(sim__posix_description(fd) != NULL ? ENOTTY : EBADF);
    }
}
