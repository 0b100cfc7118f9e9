/*
 * hostile.c -- a program that does, by its first argument, what a simulated run cannot stand.
 *
 * It knows nothing of rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int never;
static jmp_buf elsewhere;

/* ---- System calls of its own. ---------------------------------------------------------------- */

static long
call(long number, long a, long b, long c)
{
    register long d __asm__("r10") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d)
                     : "rcx", "r11", "memory");
    return result;
}

static int
raw_write(void)
{
    return call(SYS_write, 1, (long)"by itself\n", 10) != 10;
}

static int
raw_pid(void)
{
    return call(SYS_getpid, 0, 0, 0) != getpid();
}

static int
raw_uring(void)
{
    return call(SYS_io_uring_setup, 8, 0, 0) != -38; /* ENOSYS */
}

static int
raw_fork(void)
{
    return call(SYS_fork, 0, 0, 0) != 0;
}

static int
raw_unknown(void)
{
    return call(9999, 0, 0, 0) != 0;
}

static int
run_clone(void *argument)
{
    (void)argument;
    return 0;
}

static int
raw_clone(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    return clone(run_clone, stack + sizeof(stack), SIGCHLD, NULL) < 0;
}

static int
mask(void)
{
    sigset_t set;
    sigset_t now;
    sigjmp_buf there;
    sigemptyset(&set);
    if (sigsetjmp(there, 1) == 0) {
        sigaddset(&set, SIGUSR1);
        sigprocmask(SIG_BLOCK, &set, NULL);
        siglongjmp(there, 1);
    }
    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGUSR1);
}

/* Two threads that wait for each other by futexes of their own: the doorbell is rung in time. */
static int bell;

static void *
ring(void *argument)
{
    __atomic_store_n(&bell, 1, __ATOMIC_SEQ_CST);
    (void)call(SYS_futex, (long)&bell, 1, 1);
    return argument;
}

static int
raw_futex(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, ring, NULL);
    while (__atomic_load_n(&bell, __ATOMIC_SEQ_CST) == 0) {
        (void)call(SYS_futex, (long)&bell, 0, 0);
    }
    return pthread_join(thread, NULL);
}

/* ---- The processor. -------------------------------------------------------------------------- */

static int
tsc(void)
{
    unsigned long long first = __builtin_ia32_rdtsc();
    unsigned processor = 77;
    unsigned long long last = __builtin_ia32_rdtscp(&processor);
    printf("%llu %llu %u\n", first, last - first, processor);
    return last < first;
}

static int
tsc_spin(void)
{
    unsigned long long end = __builtin_ia32_rdtsc() + 1000000;
    while (__builtin_ia32_rdtsc() < end) {
    }
    return 0;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

static void *
spin(void *argument)
{
    while (never == 0) {
    }
    return argument;
}

static void *
descend(void *argument)
{
    volatile char frame[4096];
    frame[0] = 1;
    return frame[0] + (char *)descend((void *)&frame[0]);
}

static void *
leap(void *argument)
{
    (void)argument;
    longjmp(elsewhere, 1);
}

static void *
wait_forever(void *argument)
{
    pthread_mutex_lock(&lock);
    return argument;
}

static int
with_thread(void *(*fn)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, fn, NULL);
    return pthread_join(thread, NULL);
}

static int
spin_thread(void)
{
    return with_thread(spin);
}

static int
overflow(void)
{
    return with_thread(descend);
}

static int
leap_between(void)
{
    return setjmp(elsewhere) == 0 ? with_thread(leap) : 0;
}

static int
leave_running(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, wait_forever, NULL);
    return 0;
}

static void
lock_in_handler(int number)
{
    (void)number;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static int
handler_locks(void)
{
    signal(SIGUSR1, lock_in_handler);
    pthread_mutex_lock(&lock);
    raise(SIGUSR1);
    return pthread_mutex_unlock(&lock);
}

static void *
sends(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
    return NULL;
}

/* The same, where the signal comes from another thread, between two calls. */
static int
handler_locks_later(void)
{
    pthread_t thread, self = pthread_self();
    signal(SIGUSR1, lock_in_handler);
    pthread_create(&thread, NULL, sends, &self);
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return pthread_join(thread, NULL);
}

/* 100,000 ticks of a clock are work, and no livelock. */
static int
tick(void)
{
    const struct timespec ms = {0, 1000000};
    for (int i = 0; i < 100000; i++) {
        nanosleep(&ms, NULL);
    }
    return 0;
}

static int bell;

static void *
rings_then_writes(void *done)
{
    eventfd_write(bell, 1);
    *(int *)done = 1;
    return NULL;
}

/* The thread that is woken frees what the other one still writes to. */
static int
free_at_bell(void)
{
    pthread_t thread;
    eventfd_t value;
    int *done = malloc(sizeof(*done));
    bell = eventfd(0, 0);
    pthread_create(&thread, NULL, rings_then_writes, done);
    eventfd_read(bell, &value);
    free(done);
    return pthread_join(thread, NULL);
}

static int
signal_destroyed(void)
{
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_cond_destroy(&cond);
    return pthread_cond_signal(&cond);
}

/* ---- The process. ---------------------------------------------------------------------------- */

static int
close_all(void)
{
    for (int fd = 0; fd < 20000; fd++) {
        close(fd);
    }
    closefrom(0);
    printf("nobody reads this\n");
    return 0;
}

static int
close_raw(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        (void)call(SYS_close, fd, 0, 0);
    }
    return 0;
}

static int
run_fork(void)
{
    return fork() < 0;
}

static int
run_exec(void)
{
    return execl("/bin/true", "true", (char *)NULL);
}

static int
load(void)
{
    return dlopen("libm.so.6", RTLD_NOW) == NULL;
}

static const struct {
    const char *name;
    int (*fn)(void);
} deeds[] = {
        {"raw-write", raw_write},
        {"raw-getpid", raw_pid},
        {"raw-uring", raw_uring},
        {"raw-fork", raw_fork},
        {"raw-unknown", raw_unknown},
        {"raw-futex", raw_futex},
        {"raw-close", close_raw},
        {"clone", raw_clone},
        {"mask", mask},
        {"tsc", tsc},
        {"tsc-spin", tsc_spin},
        {"spin", spin_thread},
        {"overflow", overflow},
        {"leap", leap_between},
        {"leave", leave_running},
        {"handler", handler_locks},
        {"handler-late", handler_locks_later},
        {"destroyed", signal_destroyed},
        {"tick", tick},
        {"bell", free_at_bell},
        {"close", close_all},
        {"fork", run_fork},
        {"exec", run_exec},
        {"dlopen", load},
};

int
main(int count, char **arguments)
{
    for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++) {
        if (count > 1 && strcmp(arguments[1], deeds[i].name) == 0) {
            return deeds[i].fn();
        }
    }
    return 9;
}
