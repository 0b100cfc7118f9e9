/*
 * state.h -- what a program's calls have left behind in this run.
 *
 * Ownership. In the arena, as a binding of the world, so that it ends, and is copied, with the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/base/list.h"
#include "sim/posix/call.h"

#define SIM__SECOND_NS UINT64_C(1000000000)
/* The date at which every run begins: 2026-01-01. */
#define SIM__DATE_NS (UINT64_C(1767225600) * SIM__SECOND_NS)

#define SIM__POSIX_SIGNALS 65
#define SIM__POSIX_NUMBERS 1024

struct sim__posix_timers;

struct sim__posix {
    struct sim_world *world;
    struct sim_binding binding;
    uint64_t randoms;     /* Words taken from the random numbers. */
    uint32_t clock_reads; /* In a row, with no other call between; see sim__posix_busy. */
    mode_t umask;
    int priority;
    struct rlimit limits[RLIM_NLIMITS];
    const char *cwd;       /* NULL: as the process has it. */
    struct rt_list inodes; /* The files that it has seen (inode.h). */
    uint32_t inode_count;
    struct sim_fds *fds;                      /* NULL: none was asked for yet. */
    uint8_t timer_clocks[SIM__POSIX_NUMBERS]; /* By number, of a timerfd. */
    struct rt_list threads;                   /* Those that have made a call (signal.h). */
    struct rt_list pending;                   /* Signals. */
    bool signals_queue;                       /* Each one; else a second one of a kind is lost. */
    struct rt_list signalfds;                 /* (signalfd.c). */
    struct sim__posix_timers *timers;         /* NULL: none was asked for yet (interval.c). */
    struct rt_list semaphores;                /* With names (shared.c). */
    struct rt_list streams;                   /* Of the C library (stdio.c). */
    struct sim_fd_event *events;              /* Of the epoll_wait that returns (event.c). */
    uint32_t events_capacity;
    struct sigaction actions[SIM__POSIX_SIGNALS];
};

/* Of the run in progress; made by the first call. */
struct sim__posix *sim__posix_state(void);

/* The same; NULL: no call has made it yet. */
struct sim__posix *sim__posix_state_made(void);
