/*
 * call.h -- from a name that a program calls to the function that plays it.
 *
 * The executable exports the names of calls.h and so comes first in the order of symbol lookup. A
 * call is simulated on the stack of a simulated thread, and nowhere else: on the world's stack, in
 * the parent and between runs it is the C library's.
 *
 * A simulated call returns what Linux would: -1 and errno, or a result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <utime.h>

#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/posix/calls.h"
#include "sim/thread/thread.h"

/* The C library's functions, found once, before the first constructor runs. One that it lacks
 * fails with ENOSYS. */
struct sim__posix_real {
#define SIM_POSIX_REAL(type, name, parameters, arguments) type(*name) parameters;
#define SIM_POSIX_REAL_ALIAS(type, alias, name, parameters, arguments) type(*alias) parameters;
#define SIM_POSIX_REAL_WORDS(name) long (*name)(long a, long b, long c, long d, long e, long f);
#define SIM_POSIX_REAL_FAILING(name, error) SIM_POSIX_REAL_WORDS(name)
#define SIM_POSIX_REAL_VOID(name, parameters, arguments) void(*name) parameters;
    long (*syscall)(long number, ...);
    SIM_POSIX_CALLS(SIM_POSIX_REAL)
    SIM_POSIX_ALIASES(SIM_POSIX_REAL_ALIAS)
    SIM_POSIX_VOIDS(SIM_POSIX_REAL_VOID)
    SIM_POSIX_REFUSED(SIM_POSIX_REAL_WORDS)
    SIM_POSIX_FAILING(SIM_POSIX_REAL_FAILING)
    SIM_POSIX_NOTHING(SIM_POSIX_REAL_WORDS)
#undef SIM_POSIX_REAL_WORDS
#undef SIM_POSIX_REAL_FAILING
#undef SIM_POSIX_REAL
#undef SIM_POSIX_REAL_ALIAS
#undef SIM_POSIX_REAL_VOID
};
extern struct sim__posix_real sim__real;

/* What plays them. */
#define SIM_POSIX_PLAYED(type, name, parameters, arguments) type sim__posix_##name parameters;
#define SIM_POSIX_PLAYED_VOID(name, parameters, arguments) void sim__posix_##name parameters;
SIM_POSIX_CALLS(SIM_POSIX_PLAYED)
SIM_POSIX_VOIDS(SIM_POSIX_PLAYED_VOID)
#undef SIM_POSIX_PLAYED
#undef SIM_POSIX_PLAYED_VOID

/* The call in progress on this thread's stack. Valid until the thread is switched: what needs it
 * later copies it first. */
struct sim__posix_call {
    const char *name; /* Static. */
    const void *caller;
};
extern struct sim__posix_call sim__posix_now;

/* Returns -1, with `error` (an errno) in errno. */
int sim__posix_error(int error);

/* The result of a call of the host: a negative errno becomes -1, and errno. */
int sim__posix_result(int64_t result);

/* Whether `call` (NULL: none) is a cancellation point. */
bool sim__posix_is_cancellation_point(const char *call);

/* The kernel's call `number`, by the function of the same name: its result, or -1 and errno. Ends
 * the run where it is not simulated. */
long sim__posix_by_number(long number, const long arguments[6]);

/* The program called `name`, which is not simulated: ends the run. */
__attribute__((noreturn)) void sim__posix_refuse(const char *name);
