/*
 * guard.h -- system calls that a program does not make by a name of the C library.
 *
 *      program, libc's inside ── syscall ──▶ kernel: a simulated thread runs ── SIGSYS ──▶ guard.c:
 *                                                                   played by number, or refused
 *
 * The names that a program calls are played (calls.h). An instruction `syscall` of its own, and
 * calls of the C library's inside, would reach the kernel, and bring chance into the run. The
 * kernel sends such a call back (Syscall User Dispatch, Linux 5.11), and it is played as by
 * syscall(). Between runs, and on the world's stack, calls are not looked at: it costs one store at
 * each switch of threads (sim_thread_guarded).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

/* Whether this machine can guard: a kernel that does it, a processor for which it is done here. */
bool sim_guard_possible(void);

/* From now on the calling thread is guarded while a simulated thread runs. Called by a worker, when
 * its signal handlers are set. False: not possible; the runs are made without. */
bool sim_guard_begin(void);
