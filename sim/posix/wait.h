/*
 * wait.h -- how a call of a program blocks its thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/host.h"
#include "sim/host/sys.h"
#include "sim/posix/state.h"

enum sim__posix_woken {
    SIM__POSIX_WOKEN,
    SIM__POSIX_TIMED_OUT,
    SIM__POSIX_INTERRUPTED /* A handler has run: EINTR. */
};

struct sim__posix_wait {
    const char *reason; /* Static: what it waits for. */
    uint64_t due_ns;    /* SIM_NEVER: no end. */
    const struct rt_site *site;
    bool outside; /* A signal from outside of the run may end it. */
};

/* Blocks the calling thread until sim__posix_wake, a signal or the time. */
enum sim__posix_woken sim__posix_wait(const struct sim__posix_wait *wait);

/* Wakes `thread` from any wait of this module; it does nothing where there is none. */
void sim__posix_wake(struct sim_thread *thread);

/* Whether a call on `fd` with that result continues: a handler has run, and asked for it
 * (SA_RESTART), and no time was set for calls of the way, SIM_SYS_SHUT_READ or WRITE. */
bool sim__posix_restarts(int fd, enum sim_sys_shut way, int64_t result);

/* How threads block in calls on descriptors (host.h). */
extern const struct sim_blocking sim__posix_blocking;

/*
 * The calling thread looks at a clock, or asks without waiting. In a row, with no other call in
 * between, that costs more and more time and lets others run: a loop that does nothing else gets to
 * the time that it looks for. Returns whether this one has cost time.
 */
bool sim__posix_busy(void);

/* ---- Times of a program (time.c). ------------------------------------------------------------ */

/* Not negative, with less than a second of nanoseconds. */
bool sim__posix_valid(const struct timespec *time);

/* Nanoseconds of a valid `time`, at most 2 to the power of 62. */
uint64_t sim__posix_ns(const struct timespec *time);

/* When a wait of `time` on `clock`, on which a thread can wait, ends. */
uint64_t sim__posix_due(clockid_t clock, bool absolute, const struct timespec *time);

/* Whether a thread can wait on `clock`. */
bool sim__posix_waits_on(clockid_t clock);
