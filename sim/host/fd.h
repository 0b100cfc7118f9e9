/*
 * fd.h -- descriptors and batches of events on the fake host, like epoll.
 *
 * For event loops that use descriptors. The lowest free number is next, so a closed
 * number is reused at once: a trap for loops that keep events by number.
 * `sim_fd_wait` fetches a batch; events in a fetched batch stay there when a
 * descriptor is closed meanwhile. A number refers to a *description*; sim_fd_dup
 * makes a second number for it, and registrations belong to the description.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_FD_IN 1u
#define SIM_FD_OUT 2u
#define SIM_FD_ERR 4u   /* Reported unasked. */
#define SIM_FD_HUP 8u   /* Reported unasked. */
#define SIM_FD_EDGE 16u /* Report changes only. */
#define SIM_FD_ONESHOT 32u
#define SIM_FD_RDHUP 64u /* The peer has shut down: no further bytes arrive. */
#define SIM_FD_PRI 128u
#define SIM_FD_EXCLUSIVE 256u /* Of several such registrations a change reaches at least one. */

struct sim_fds;

struct sim_fd_event {
    uint32_t events; /* SIM_FD_IN … */
    uint64_t data;   /* Of the registration. */
};

/* A table of descriptors on `host`; the first number is `first`. */
struct sim_fds *sim_fds_new(struct sim_host *host, int first);

/* A connected pair: two descriptors; bytes written to one arrive at the other after a latency from
 * min_ns to max_ns. A direction holds 4096 bytes, those on their way included. RT_E_FULL, as from
 * each call that opens, when of 1024 numbers too few are left, or under fault `capacity`. */
RT_MUST_CHECK rt_err sim_fd_pair(
        struct sim_fds *fds, const char *name, uint64_t min_ns, uint64_t max_ns, int ret_fd[2]);

/* An eventfd: readable while its counter is not 0. */
RT_MUST_CHECK rt_err sim_fd_event_open(struct sim_fds *fds, const char *name, int *ret_fd);

/* A listener: a connection arrives after a latency from min_ns to max_ns, `count` times. */
RT_MUST_CHECK rt_err sim_fd_listen(struct sim_fds *fds, const char *name, uint32_t count,
        uint64_t min_ns, uint64_t max_ns, int *ret_fd);
/* Takes a waiting connection: the lowest free number. RT_E_AGAIN. The peer's end is *ret_peer,
 * for the scenario; with ret_peer NULL the peer stays open and silent. */
RT_MUST_CHECK rt_err sim_fd_accept(struct sim_fds *fds, int listener, int *ret_fd, int *ret_peer);

RT_MUST_CHECK rt_err sim_fd_dup(struct sim_fds *fds, int fd, int *ret_fd);

/* Closes the number, which is free at once. RT_E_STALE: not open. */
RT_MUST_CHECK rt_err sim_fd_close(struct sim_fds *fds, int fd);

/* Registers, changes or removes interest. RT_E_STALE: not open; RT_E_BUSY: registered already;
 * RT_E_INVALID: not registered; RT_E_FULL: fault `capacity`. A registration is found by number and
 * description, and ends with the description, not with the number. */
RT_MUST_CHECK rt_err sim_fd_add(struct sim_fds *fds, int fd, uint32_t events, uint64_t data);
RT_MUST_CHECK rt_err sim_fd_modify(struct sim_fds *fds, int fd, uint32_t events, uint64_t data);
RT_MUST_CHECK rt_err sim_fd_remove(struct sim_fds *fds, int fd);

/*
 * Fetches at most `max` events; blocks until there is one, or `timeout_ns` have passed (0: does
 * not block; SIM_NEVER: forever). Returns how many; 0 is possible (time, or fault `eintr`). The
 * subset and its order are decisions. Under profile hostile a report may be spurious: the read or
 * write returns RT_E_AGAIN. Others may always run before the call returns.
 */
uint32_t sim_fd_wait(
        struct sim_fds *fds, struct sim_fd_event *ret_events, uint32_t max, uint64_t timeout_ns);

/* Bytes moved (> 0; by decision fewer than could be, at least one), 0 at the end, or an error
 * (< 0): RT_E_AGAIN, RT_E_STALE, RT_E_CLOSED (write to a peer that is known to be closed),
 * RT_E_INVALID (size 0, not 8 for an eventfd, or a listener). */
#define sim_fd_read(fds, fd, buffer, size) sim_fd_read_at((fds), (fd), (buffer), (size), RT_HERE)
#define sim_fd_write(fds, fd, buffer, size) sim_fd_write_at((fds), (fd), (buffer), (size), RT_HERE)
int64_t sim_fd_read_at(
        struct sim_fds *fds, int fd, void *buffer, size_t size, const struct rt_site *await);
int64_t sim_fd_write_at(
        struct sim_fds *fds, int fd, const void *buffer, size_t size, const struct rt_site *await);

/* Adds to the counter of an eventfd; reading it takes all (8 bytes, host order). */
RT_MUST_CHECK rt_err sim_fd_notify(struct sim_fds *fds, int fd);

#ifdef __cplusplus
}
#endif
