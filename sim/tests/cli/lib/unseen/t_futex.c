// Cause: t_futex.c:47 a thread that has waited takes the mutex with state 1 (no waiters) instead of 2: its unlock wakes none, the third thread sleeps on
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

// 0 free, 1 locked, 2 locked and another waits
struct mutex {
    atomic_int state;
};

#ifdef FIXED
#define AFTER_WAIT 2
#else
#define AFTER_WAIT 1
#endif

static void futex_wait(atomic_int *a, int value)
{
    syscall(SYS_futex, a, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(atomic_int *a)
{
    syscall(SYS_futex, a, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int cas(atomic_int *a, int from, int to)
{
    atomic_compare_exchange_strong(a, &from, to);
    return from;
}

static void lock(struct mutex *m)
{
    int c = cas(&m->state, 0, 1);
    if (c == 0)
        return;
    do {
        if (c == 2 || cas(&m->state, 1, 2) != 0)
            futex_wait(&m->state, 2);
    } while ((c = cas(&m->state, 0, AFTER_WAIT)) != 0);
}

static void unlock(struct mutex *m)
{
    if (atomic_fetch_sub(&m->state, 1) != 1) {
        atomic_store(&m->state, 0);
        futex_wake(&m->state);
    }
}

static struct mutex m;
static long counter;

static void *adder(void *arg)
{
    for (int i = 0; i < 2; i++) {
        lock(&m);
        counter++;
        unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, adder, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", counter);
    return counter == 6 ? 0 : 1;
}
