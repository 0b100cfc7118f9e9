/*
 * system.c -- what a program may ask about its process and its machine: the same answer everywhere.
 *
 * The machine has two processors: a thread pool sized by them has two threads, which is enough for
 * any interleaving of a pair, and keeps runs short.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sim/posix/number.h"
#include "sim/posix/state.h"

#define PROCESSORS 2
#define PROCESS 1000 /* Its number; the user's too. */
#define PAGES (1L << 20)
#define PAGE 4096

pid_t
sim__posix_getpid(void)
{
    return PROCESS;
}

pid_t
sim__posix_getppid(void)
{
    return 1;
}

/* The first thread's number is the process's. */
pid_t
sim__posix_gettid(void)
{
    return PROCESS + (pid_t)sim_thread_now->number;
}

pid_t
sim__posix_getpgid(pid_t pid)
{
    return pid == 0 || pid == PROCESS ? PROCESS : sim__posix_error(ESRCH);
}

uid_t
sim__posix_getuid(void)
{
    return PROCESS;
}

int
sim__posix_uname(struct utsname *ret)
{
    static const struct utsname fixed = {
        .sysname = "Linux",
        .nodename = "rewake",
        .release = "6.1.0",
        .version = "#1 SMP",
#if defined(__x86_64__)
        .machine = "x86_64",
#else
        .machine = "aarch64",
#endif
        .domainname = "(none)"
    };
    *ret = fixed;
    return 0;
}

int
sim__posix_gethostname(char *to, size_t size)
{
    static const char name[] = "rewake";
    if (size < sizeof(name)) {
        return sim__posix_error(ENAMETOOLONG);
    }
    memcpy(to, name, sizeof(name));
    return 0;
}

/* ---- Processors and memory. ------------------------------------------------------------------ */

long
sim__posix_sysconf(int name)
{
    switch (name) {
    case _SC_NPROCESSORS_ONLN:
    case _SC_NPROCESSORS_CONF:
        return PROCESSORS;
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
        return PAGES;
    case _SC_OPEN_MAX:
        return 1024;
    default: {
        struct sim_thread *paused = sim_thread_pause();
        long value = sim__real.sysconf(name);
        sim_thread_resume(paused);
        return value;
    }
    }
}

int
sim__posix_get_nprocs(void)
{
    return PROCESSORS;
}

long
sim__posix_get_phys_pages(void)
{
    return PAGES;
}

int
sim__posix_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
    (void)pid;
    if (size < sizeof(long)) {
        return sim__posix_error(EINVAL);
    }
    memset(ret, 0, size);
    *(unsigned char *)ret = (1u << PROCESSORS) - 1;
    return 0;
}

int
sim__posix_pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *ret)
{
    (void)thread;
    return sim__posix_sched_getaffinity(0, size, ret) == 0 ? 0 : errno;
}

int
sim__posix_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    (void)thread;
    return sim__posix_sched_setaffinity(0, size, set);
}

/* All are equal: who runs is a decision. */
int
sim__posix_pthread_getschedparam(pthread_t thread, int *ret_policy, struct sched_param *ret)
{
    (void)thread;
    *ret_policy = SCHED_OTHER;
    *ret = (struct sched_param){0};
    return 0;
}

int
sim__posix_pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    (void)thread;
    (void)policy;
    (void)param;
    return 0;
}

int
sim__posix_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    (void)pid;
    (void)size;
    (void)set;
    return 0;
}

int
sim__posix_sched_getcpu(void)
{
    return 0;
}

int
sim__posix_getcpu(unsigned *ret_cpu, unsigned *ret_node)
{
    if (ret_cpu != NULL) {
        *ret_cpu = 0;
    }
    if (ret_node != NULL) {
        *ret_node = 0;
    }
    return 0;
}

int
sim__posix_getloadavg(double *ret, int count)
{
    int known = count < 3 ? count : 3;
    for (int i = 0; i < known; i++) {
        ret[i] = 0;
    }
    return known;
}

int
sim__posix_sysinfo(struct sysinfo *ret)
{
    *ret = (struct sysinfo){
            .uptime = 1000, .totalram = PAGES, .freeram = PAGES / 2, .procs = 1, .mem_unit = PAGE};
    return 0;
}

/* ---- Limits and settings of the process. ----------------------------------------------------- */

int
sim__posix_getrusage(int who, struct rusage *ret)
{
    *ret = (struct rusage){0};
    if (who != RUSAGE_CHILDREN) {
        uint64_t us = sim_now(sim_world_current) / 1000;
        ret->ru_utime = (struct timeval){(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    }
    return 0;
}

int
sim__posix_getrlimit(int what, struct rlimit *ret)
{
    if (what < 0 || what >= RLIM_NLIMITS) {
        return sim__posix_error(EINVAL);
    }
    *ret = sim__posix_state()->limits[what];
    return 0;
}

int
sim__posix_setrlimit(int what, const struct rlimit *limit)
{
    if (what < 0 || what >= RLIM_NLIMITS || limit->rlim_cur > limit->rlim_max) {
        return sim__posix_error(EINVAL);
    }
    struct rlimit *now = &sim__posix_state()->limits[what];
    if (limit->rlim_max > now->rlim_max) {
        return sim__posix_error(EPERM);
    }
    *now = *limit;
    if (what == RLIMIT_NOFILE) {
        sim_sys_set_limit(sim__posix_fds(), (uint32_t)limit->rlim_cur);
    }
    return 0;
}

int
sim__posix_getpriority(int which, id_t who)
{
    (void)which;
    (void)who;
    return sim__posix_state()->priority;
}

int
sim__posix_setpriority(int which, id_t who, int value)
{
    struct sim__posix *state = sim__posix_state();
    int least = value > 19 ? 19 : value;
    (void)which;
    (void)who;
    if (least < state->priority) { /* It has no right to be preferred. */
        return sim__posix_error(EACCES);
    }
    state->priority = least;
    return 0;
}

int
sim__posix_prctl(int what, long a, long b, long c, long d)
{
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    bool harmless = what == PR_SET_NAME || what == PR_SET_TIMERSLACK || what == PR_SET_PDEATHSIG ||
                    what == PR_SET_DUMPABLE || what == PR_SET_NO_NEW_PRIVS;
    return harmless ? 0 : sim__posix_error(EINVAL);
}

int
sim__posix_sched_getparam(pid_t pid, struct sched_param *ret)
{
    (void)pid;
    *ret = (struct sched_param){0};
    return 0;
}

/* The limits of an ext4 file system. */
long
sim__posix_pathconf(const char *path, int name)
{
    static const struct {
        int name;
        long value;
    } limits[] = {{_PC_LINK_MAX, 65000}, {_PC_NAME_MAX, 255}, {_PC_PATH_MAX, 4096},
            {_PC_PIPE_BUF, 4096}, {_PC_CHOWN_RESTRICTED, 1}, {_PC_NO_TRUNC, 1},
            {_PC_FILESIZEBITS, 64}, {_PC_MAX_CANON, 255}, {_PC_MAX_INPUT, 255}};
    (void)path;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].name == name) {
            return limits[i].value;
        }
    }
    return -1; /* No limit: errno stays as it is. */
}

long
sim__posix_fpathconf(int fd, int name)
{
    (void)fd;
    return sim__posix_pathconf("", name);
}

/* No descriptor is a terminal. */
int
sim__posix_ttyname_r(int fd, char *to, size_t size)
{
    (void)fd;
    (void)to;
    (void)size;
    return ENOTTY;
}

char *
sim__posix_ttyname(int fd)
{
    errno = sim__posix_ttyname_r(fd, NULL, 0);
    return NULL;
}

mode_t
sim__posix_umask(mode_t mask)
{
    struct sim__posix *state = sim__posix_state();
    mode_t before = state->umask;
    state->umask = mask & 0777;
    return before;
}
