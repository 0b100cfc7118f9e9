/*
 * syscall.c -- syscall(): by its number, to the function of the same name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/posix/call.h"
#include "sim/posix/numbers.h"

/* N(name, (arguments)): the kernel's arguments, in its order, are the function's. */
/* clang-format off */
#define AS_IS(N) \
    N(read, ((int)a, (void *)b, (size_t)c)) \
    N(write, ((int)a, (const void *)b, (size_t)c)) \
    N(readv, ((int)a, (const struct iovec *)b, (int)c)) \
    N(writev, ((int)a, (const struct iovec *)b, (int)c)) \
    N(close, ((int)a)) \
    N(close_range, ((unsigned)a, (unsigned)b, (int)c)) \
    N(dup, ((int)a)) \
    N(dup3, ((int)a, (int)b, (int)c)) \
    N(fcntl, ((int)a, (int)b, c)) \
    N(ioctl, ((int)a, (unsigned long)b, (void *)c)) \
    N(pipe2, ((int *)a, (int)b)) \
    N(memfd_create, ((const char *)a, (unsigned)b)) \
    N(fallocate, ((int)a, (int)b, (off_t)c, (off_t)d)) \
    N(fchmod, ((int)a, (mode_t)b)) \
    N(fchown, ((int)a, (uid_t)b, (gid_t)c)) \
    N(utimensat, ((int)a, (const char *)b, (const struct timespec *)c, (int)d)) \
    N(readlinkat, ((int)a, (const char *)b, (char *)c, (size_t)d)) \
    N(tgkill, ((pid_t)a, (pid_t)b, (int)c)) \
    N(openat, ((int)a, (const char *)b, (int)c, (mode_t)d)) \
    N(lseek, ((int)a, (off_t)b, (int)c)) \
    N(fsync, ((int)a)) \
    N(ftruncate, ((int)a, (off_t)b)) \
    N(getcwd, ((char *)a, (size_t)b)) \
    N(mmap, ((void *)a, (size_t)b, (int)c, (int)d, (int)e, (off_t)f)) \
    N(munmap, ((void *)a, (size_t)b)) \
    N(mprotect, ((void *)a, (size_t)b, (int)c)) \
    N(madvise, ((void *)a, (size_t)b, (int)c)) \
    N(epoll_create1, ((int)a)) \
    N(epoll_ctl, ((int)a, (int)b, (int)c, (struct epoll_event *)d)) \
    N(epoll_pwait, ((int)a, (struct epoll_event *)b, (int)c, (int)d, (const sigset_t *)e)) \
    N(ppoll, ((struct pollfd *)a, (nfds_t)b, (const struct timespec *)c, (const sigset_t *)d)) \
    N(timerfd_create, ((clockid_t)a, (int)b)) \
    N(timerfd_settime, ((int)a, (int)b, (const struct itimerspec *)c, (struct itimerspec *)d)) \
    N(timerfd_gettime, ((int)a, (struct itimerspec *)b)) \
    N(clock_gettime, ((clockid_t)a, (struct timespec *)b)) \
    N(clock_getres, ((clockid_t)a, (struct timespec *)b)) \
    N(gettimeofday, ((struct timeval *)a, (void *)b)) \
    N(nanosleep, ((const struct timespec *)a, (struct timespec *)b)) \
    N(sched_yield, ()) \
    N(getrandom, ((void *)a, (size_t)b, (unsigned)c)) \
    N(getpid, ()) \
    N(getppid, ()) \
    N(gettid, ()) \
    N(getuid, ()) \
    N(uname, ((struct utsname *)a)) \
    N(getcpu, ((unsigned *)a, (unsigned *)b)) \
    N(getrusage, ((int)a, (struct rusage *)b)) \
    N(prctl, ((int)a, b, c, d, e)) \
    N(kill, ((pid_t)a, (int)b)) \
    N(shutdown, ((int)a, (int)b)) \
    N(socketpair, ((int)a, (int)b, (int)c, (int *)d)) \
    N(socket, ((int)a, (int)b, (int)c)) \
    N(bind, ((int)a, (const struct sockaddr *)b, (socklen_t)c)) \
    N(listen, ((int)a, (int)b)) \
    N(connect, ((int)a, (const struct sockaddr *)b, (socklen_t)c)) \
    N(accept4, ((int)a, (struct sockaddr *)b, (socklen_t *)c, (int)d)) \
    N(getsockname, ((int)a, (struct sockaddr *)b, (socklen_t *)c)) \
    N(getpeername, ((int)a, (struct sockaddr *)b, (socklen_t *)c)) \
    N(setsockopt, ((int)a, (int)b, (int)c, (const void *)d, (socklen_t)e)) \
    N(getsockopt, ((int)a, (int)b, (int)c, (void *)d, (socklen_t *)e)) \
    N(sendto, ((int)a, (const void *)b, (size_t)c, (int)d, (const struct sockaddr *)e, \
            (socklen_t)f)) \
    N(recvfrom, ((int)a, (void *)b, (size_t)c, (int)d, (struct sockaddr *)e, (socklen_t *)f)) \
    N(sendmmsg, ((int)a, (struct mmsghdr *)b, (unsigned)c, (int)d)) \
    N(recvmmsg, ((int)a, (struct mmsghdr *)b, (unsigned)c, (int)d, (struct timespec *)e)) \
    N(preadv, ((int)a, (const struct iovec *)b, (int)c, (off_t)d)) \
    N(pwritev, ((int)a, (const struct iovec *)b, (int)c, (off_t)d)) \
    N(sendmsg, ((int)a, (const struct msghdr *)b, (int)c)) \
    N(recvmsg, ((int)a, (struct msghdr *)b, (int)c)) \
    N(fstat, ((int)a, (struct stat *)b)) \
    N(statx, ((int)a, (const char *)b, (int)c, (unsigned)d, (struct statx *)e)) \
    N(faccessat, ((int)a, (const char *)b, (int)c, 0)) \
    N(unlinkat, ((int)a, (const char *)b, (int)c)) \
    N(mkdirat, ((int)a, (const char *)b, (mode_t)c)) \
    N(renameat, ((int)a, (const char *)b, (int)c, (const char *)d)) \
    N(truncate, ((const char *)a, (off_t)b)) \
    N(chdir, ((const char *)a)) \
    N(umask, ((mode_t)a))

/* Those that a kernel may lack: their callers have another way. */
#define LACKING(L) \
    L(io_uring_setup) L(io_uring_enter) L(io_uring_register) L(clone3) L(epoll_pwait2) L(rseq) \
    L(openat2) L(faccessat2) L(copy_file_range) L(pidfd_open) L(membarrier) \
    L(landlock_create_ruleset) L(futex_waitv) L(process_madvise) L(set_mempolicy) L(get_mempolicy) \
    L(mbind) L(preadv2) L(pwritev2) L(kcmp)
/* clang-format on */

/* Ends the run. */
__attribute__((noreturn)) static void
refuse(long number)
{
#define NAMED(name) [SYS_##name] = #name,
    static const char *const names[] = {SIM__NUMBERS(NAMED) SIM__NUMBERS_OLD(NAMED)};
    size_t count = sizeof(names) / sizeof(*names);
    char text[48];
    if (number >= 0 && (size_t)number < count && names[number] != NULL) {
        (void)snprintf(text, sizeof(text), "the kernel's %s", names[number]);
    } else {
        (void)snprintf(text, sizeof(text), "the kernel's call %ld", number);
    }
    sim__posix_refuse(text);
}

static long
futex(const long arguments[6])
{
    const struct sim_futex call = {.word = (uint32_t *)arguments[0],
            .operation = (int)arguments[1],
            .value = (uint32_t)arguments[2],
            .time = (const struct timespec *)arguments[3],
            .value2 = (uint32_t)arguments[3],
            .word2 = (uint32_t *)arguments[4],
            .value3 = (uint32_t)arguments[5],
            .site = sim_thread_site(sim__posix_now.caller)};
    return sim_thread_futex(&call);
}

/* With AT_EMPTY_PATH: of the descriptor itself. */
static long
stat_at(int folder, const char *path, struct stat *ret, int flags)
{
    bool itself = (flags & AT_EMPTY_PATH) != 0 && path[0] == '\0';
    return itself ? sim__posix_fstat(folder, ret)
                  : sim__posix_fstatat(folder, path, ret, flags & ~AT_EMPTY_PATH);
}

/* The kernel's sets of signals are shorter than the C library's, and end before it does. */
static long
change_mask(int how, const uint64_t *set, uint64_t *ret_before)
{
    sigset_t whole;
    sigset_t whole_before;
    (void)sigemptyset(&whole);
    if (set != NULL) {
        memcpy(&whole, set, sizeof(*set));
    }
    int error = sim__posix_pthread_sigmask(how, set != NULL ? &whole : NULL, &whole_before);
    if (error == 0 && ret_before != NULL) {
        memcpy(ret_before, &whole_before, sizeof(*ret_before));
    }
    return error != 0 ? sim__posix_error(error) : 0;
}

/* What a thread is scheduled by, in its first form; later kernels add fields behind. */
struct attr {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

static long
get_attr(pid_t thread, void *ret, size_t size, long flags)
{
    if (thread < 0 || ret == NULL || flags != 0 || size < sizeof(struct attr) || size > 4096) {
        return sim__posix_error(EINVAL);
    }
    const struct attr attr = {
            .size = sizeof(attr), .nice = sim__posix_getpriority(PRIO_PROCESS, (id_t)thread)};
    memset(ret, 0, size);
    memcpy(ret, &attr, sizeof(attr));
    return 0;
}

/* Priorities have no effect; those of real time are not for the user of a run. */
static long
set_attr(pid_t thread, const struct attr *attr, long flags)
{
    if (thread < 0 || attr == NULL || flags != 0) {
        return sim__posix_error(EINVAL);
    }
    bool real_time = attr->policy != SCHED_OTHER && attr->policy != SCHED_BATCH &&
                     attr->policy != SCHED_IDLE;
    bool preferred = attr->nice < sim__posix_getpriority(PRIO_PROCESS, (id_t)thread);
    return real_time || preferred ? sim__posix_error(EPERM) : 0;
}

/* Those whose arguments differ from the C library's, and older forms of others. */
static long
play_other(long number, long a, long b, long c, long d)
{
    switch (number) {
#ifdef SYS_open
    case SYS_stat:
        return sim__posix_stat((const char *)a, (struct stat *)b);
    case SYS_lstat:
        return sim__posix_stat((const char *)a, (struct stat *)b);
    case SYS_access:
        return sim__posix_access((const char *)a, (int)b);
    case SYS_unlink:
        return sim__posix_unlink((const char *)a);
    case SYS_newfstatat:
        return stat_at((int)a, (const char *)b, (struct stat *)c, (int)d);
    case SYS_open:
        return sim__posix_open((const char *)a, (int)b, (mode_t)c);
    case SYS_poll:
        return sim__posix_poll((struct pollfd *)a, (nfds_t)b, (int)c);
    case SYS_epoll_wait:
        return sim__posix_epoll_wait((int)a, (struct epoll_event *)b, (int)c, (int)d);
    case SYS_epoll_create:
        return sim__posix_epoll_create((int)a);
    case SYS_eventfd:
        return sim__posix_eventfd((unsigned)a, 0);
    case SYS_pipe:
        return sim__posix_pipe((int *)a);
    case SYS_dup2:
        return sim__posix_dup2((int)a, (int)b);
    case SYS_time:
        return sim__posix_time((time_t *)a);
#endif
    case SYS_rt_sigprocmask:
        return change_mask((int)a, (const uint64_t *)b, (uint64_t *)c);
    case SYS_exit_group:
        _exit((int)a);
    case SYS_pread64:
        return sim__posix_pread((int)a, (void *)b, (size_t)c, (off_t)d);
    case SYS_pwrite64:
        return sim__posix_pwrite((int)a, (const void *)b, (size_t)c, (off_t)d);
    case SYS_geteuid:
        return sim__posix_getuid();
    case SYS_getgid:
        return sim__posix_getuid();
    case SYS_getegid:
        return sim__posix_getuid();
    case SYS_fdatasync:
        return sim__posix_fsync((int)a);
    case SYS_eventfd2:
        return sim__posix_eventfd((unsigned)a, (int)b);
    case SYS_clock_nanosleep: {
        int error = sim__posix_clock_nanosleep(
                (clockid_t)a, (int)b, (const struct timespec *)c, (struct timespec *)d);
        return error != 0 ? sim__posix_error(error) : 0;
    }
    case SYS_sched_getaffinity: {
        int error = sim__posix_sched_getaffinity((pid_t)a, (size_t)b, (cpu_set_t *)c);
        return error != 0 ? error : (long)sizeof(long); /* The kernel says how much it wrote. */
    }
    case SYS_sched_getattr:
        return get_attr((pid_t)a, (void *)b, (size_t)c, d);
    case SYS_sched_setattr:
        return set_attr((pid_t)a, (const struct attr *)b, c);
    case SYS_signalfd4:
        return sim__posix_signalfd((int)a, (const sigset_t *)b, (int)d);
    case SYS_tkill:
        return sim__posix_tgkill(sim__posix_getpid(), (pid_t)a, (int)b);
    default:
        refuse(number);
    }
}

static long
play(long number, const long arguments[6])
{
    long a = arguments[0];
    long b = arguments[1];
    long c = arguments[2];
    long d = arguments[3];
    long e = arguments[4];
    long f = arguments[5];
#define PLAYED(name, passed) \
    case SYS_##name: \
        return (long)sim__posix_##name passed;
#define LACKED(name) case SYS_##name:
    switch (number) {
        AS_IS(PLAYED)
        LACKING(LACKED)
        return sim__posix_error(ENOSYS);
    default:
        return play_other(number, a, b, c, d);
    }
}

long
sim__posix_by_number(long number, const long arguments[6])
{
    sim_thread_now->call = NULL;
    return number == SYS_futex ? futex(arguments) : play(number, arguments);
}

long sim__posix_export_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__(
        "syscall");

long
sim__posix_export_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (sim_thread_now == NULL) {
        return sim__real.syscall(number, a, b, c, d, e, f);
    }
    sim__posix_now = (struct sim__posix_call){"syscall", __builtin_return_address(0)};
    const long arguments[6] = {a, b, c, d, e, f};
    return sim__posix_by_number(number, arguments);
}
