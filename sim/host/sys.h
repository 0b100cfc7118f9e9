/*
 * sys.h -- the calls of a kernel on descriptors: what Linux returns, on a table of the fake host.
 *
 *      number ──▶ description (status flags) ◀── registration (number, description) ── epoll
 *
 * For what plays system calls to programs (sim/posix), and for scenarios that want several epoll
 * instances, timers, pipes or datagrams. fd.h has the older calls, on the same table; reading,
 * writing, closing and waiting of either work on the descriptors of both.
 *
 * Results. What the system call returns: 0 or more, or a negative errno. A call on a number that is
 * not open is -EBADF, one that has no meaning for its kind -EINVAL (-ENOTSOCK for calls on
 * sockets), a table that is full or fault `capacity` -EMFILE.
 *
 * Blocking. A call on a description that is not SIM_SYS_NONBLOCK blocks as Linux does: a write
 * until all is written, a read until there is something. It can in a sim_loop, and in an actor for
 * which sim_host_block_by was called; elsewhere that ends the run with verdict contract. -EINTR:
 * interrupted, nothing was done.
 *
 * Freedoms. What Linux, POSIX or a manual page leaves open is a decision; what local kinds promise
 * is kept: bytes in a pipe, a Unix socket or an eventfd are there when the write returns, and
 * epoll_wait reports everything that is ready, up to `max`, in any order. README.md has the list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/fd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Numbers and descriptions. --------------------------------------------------------------- */

/* The lowest free number from `least` on (F_DUPFD; 0: dup). */
int sim_sys_dup(struct sim_fds *fds, int fd, int least);

/* `to` refers to what `fd` does, and is closed before; the same number: no change (dup2; dup3 is
 * -EINVAL then, which its caller checks). -EBADF: `to` is outside of the table. */
int sim_sys_dup_to(struct sim_fds *fds, int fd, int to);

int sim_sys_close(struct sim_fds *fds, int fd);

/* From now on numbers below `limit` are given alone (RLIMIT_NOFILE); those that are open stay. */
void sim_sys_set_limit(struct sim_fds *fds, uint32_t limit);

/* No number is free. */
bool sim_sys_is_full(const struct sim_fds *fds);

/* Status flags, of the description. */
#define SIM_SYS_NONBLOCK 1u
int sim_sys_status(struct sim_fds *fds, int fd);
int sim_sys_set_status(struct sim_fds *fds, int fd, uint32_t flags);

/* Flags of the number. */
#define SIM_SYS_CLOEXEC 1u
int sim_sys_number_flags(struct sim_fds *fds, int fd);
int sim_sys_set_number_flags(struct sim_fds *fds, int fd, uint32_t flags);

/* ---- Making them. `name` is borrowed, and appears in reports. -------------------------------- */

int sim_sys_epoll(struct sim_fds *fds, const char *name);

/* ret_fd[0] reads, ret_fd[1] writes: 16 pages of 4096 bytes. */
int sim_sys_pipe(struct sim_fds *fds, const char *name, int ret_fd[2]);
/* How much fits into the pipe of either end; set to the next power of two pages. Both return it.
 * -EBADF: no pipe; -EBUSY: there is more in it; -EPERM: more than 1 MiB. */
int sim_sys_pipe_size(const struct sim_fds *fds, int fd);
int sim_sys_set_pipe_size(struct sim_fds *fds, int fd, uint32_t size);

enum sim_sys_socket { SIM_SYS_STREAM, SIM_SYS_DGRAM };

/* A connected pair of Unix sockets. */
int sim_sys_socketpair(
        struct sim_fds *fds, const char *name, enum sim_sys_socket type, int ret_fd[2]);

int sim_sys_eventfd(struct sim_fds *fds, const char *name, uint64_t count, bool semaphore);

/* Not armed. */
int sim_sys_timerfd(struct sim_fds *fds, const char *name);

struct sim_sys_timer {
    uint64_t due_ns;      /* On the clock of the run; SIM_NEVER: not armed. */
    uint64_t interval_ns; /* 0: it expires once. */
};
/* Arms or disarms it, and forgets expirations that were not read. `ret_old` may be NULL. -EINVAL:
 * no timer. */
int sim_sys_timerfd_set(struct sim_fds *fds, int fd, const struct sim_sys_timer *timer,
        struct sim_sys_timer *ret_old);
int sim_sys_timerfd_get(struct sim_fds *fds, int fd, struct sim_sys_timer *ret);

#define SIM_SYS_SIGNAL_SIZE 128u /* Of one struct signalfd_siginfo. */

/* A queue of signals, which its caller fills: readable while it is not empty. */
int sim_sys_signalfd(struct sim_fds *fds, const char *name);
/* Appends a struct signalfd_siginfo (copied). -EAGAIN: 64 are queued. */
int sim_sys_signalfd_push(struct sim_fds *fds, int fd, const void *info);

/* ---- Bytes. ---------------------------------------------------------------------------------- */

#define SIM_SYS_DONTWAIT 1u /* As if the description were NONBLOCK. */
#define SIM_SYS_PEEK 2u     /* Sockets: what is read stays there. */
#define SIM_SYS_RECEIVE 4u  /* The call is recv, not read: on no socket it is -ENOTSOCK. */

/* `flags`: SIM_SYS_…; 0 for read and write. A write to a pipe or stream without a reader is
 * -EPIPE; SIGPIPE is its caller's. `await` is for reports. */
int64_t sim_sys_read(struct sim_fds *fds, int fd, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await);
int64_t sim_sys_write(struct sim_fds *fds, int fd, const void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await);

/* How many bytes a read would find (FIONREAD). */
int64_t sim_sys_readable(struct sim_fds *fds, int fd);

enum sim_sys_shut { SIM_SYS_SHUT_READ = 1, SIM_SYS_SHUT_WRITE = 2, SIM_SYS_SHUT_BOTH = 3 };
int sim_sys_shutdown(struct sim_fds *fds, int fd, enum sim_sys_shut how);

/* How long a call on a socket waits that reads or accepts (SHUT_READ), or that writes or connects
 * (SHUT_WRITE): then it is -EAGAIN, or a connect -EINPROGRESS. SIM_NEVER: without end. What a
 * listener accepts has its times, but for Unix sockets. -ENOTSOCK. */
int sim_sys_set_socket_wait(struct sim_fds *fds, int fd, enum sim_sys_shut way, uint64_t wait_ns);
/* SIM_NEVER also where `fd` is no socket. */
uint64_t sim_sys_socket_wait(const struct sim_fds *fds, int fd, enum sim_sys_shut way);

/*
 * How much of what a socket sends (SHUT_WRITE, SO_SNDBUF) or receives (SHUT_READ, SO_RCVBUF) may be
 * unread. Of TCP it is what the sender and the receiver give together, at most 32 KiB each, as it
 * is where nothing is set; of Unix sockets the sender's alone, for a pair as Linux counts it: with
 * the memory of each message, up to twice as much. Datagrams with an address have no such bound.
 * Fewer bytes than SIM_SYS_BUFFER_MIN count as so many, as on Linux (socket(7)). -ENOTSOCK.
 */
#define SIM_SYS_BUFFER_MIN 2304u
int sim_sys_set_buffer(struct sim_fds *fds, int fd, enum sim_sys_shut way, uint32_t bytes);

/* The pending error of a socket (SO_ERROR), as a positive errno, once; 0: none. */
int sim_sys_socket_error(struct sim_fds *fds, int fd);

/* ---- Waiting. -------------------------------------------------------------------------------- */

/* SIM_FD_IN, OUT, PRI, ERR, HUP, RDHUP that hold now; -EBADF (POLLNVAL). */
int64_t sim_sys_events(struct sim_fds *fds, int fd);

struct sim_sys_poll {
    int fd;              /* Negative: skipped. */
    uint32_t events;     /* SIM_FD_…; ERR and HUP are reported unasked. */
    uint32_t ret_events; /* … or SIM_SYS_INVALID: it is not open. */
};
#define SIM_SYS_INVALID 0x8000u

/* Waits until one of `count` is ready, or `timeout_ns` have passed; returns how many are. For poll
 * and select. */
int sim_sys_poll(struct sim_fds *fds, struct sim_sys_poll *polls, uint32_t count,
        uint64_t timeout_ns, const struct rt_site *await);

/* As epoll_ctl. -EEXIST, -ENOENT, -EINVAL (no epoll instance, itself, EXCLUSIVE where it must not
 * be), -ELOOP (instances in a circle, or more than 5 in a row), -ENOSPC (fault `capacity`). */
int sim_sys_epoll_add(struct sim_fds *fds, int epoll, int fd, uint32_t events, uint64_t data);
int sim_sys_epoll_modify(struct sim_fds *fds, int epoll, int fd, uint32_t events, uint64_t data);
int sim_sys_epoll_remove(struct sim_fds *fds, int epoll, int fd);

/* How many registrations the instance has; no instance: 0. */
uint32_t sim_sys_epoll_length(struct sim_fds *fds, int epoll);

/* As epoll_wait; SIM_NEVER: no timeout, and then never 0. -EINTR, also by fault `eintr`. */
int sim_sys_epoll_wait(struct sim_fds *fds, int epoll, struct sim_fd_event *ret_events,
        uint32_t max, uint64_t timeout_ns, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
