// Cause: s6_futex.c:55 a thread that was woken takes the lock as "locked, nobody waits" although others may still wait; its unlock then wakes nobody.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 5

/* 0: free. 1: locked, nobody waits. 2: locked, and there may be others who wait. */
struct lock {
    atomic_int state;
};

static struct lock lock;
static int journal[2];
static int balance;

static void futex_wait(atomic_int *word, int value)
{
    if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0) != 0 &&
            errno != EAGAIN && errno != EINTR)
        abort();
}

static void futex_wake_one(atomic_int *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int swap_if(atomic_int *word, int expected, int desired)
{
    atomic_compare_exchange_strong(word, &expected, desired);
    return expected;
}

static void lock_take(struct lock *l)
{
    int was = swap_if(&l->state, 0, 1);
    if (was == 0)
        return;
    do {
        if (was == 2 || swap_if(&l->state, 1, 2) != 0)
            futex_wait(&l->state, 2);
#ifdef FIXED
        was = swap_if(&l->state, 0, 2);
#else
        was = swap_if(&l->state, 0, 1);
#endif
    } while (was != 0);
}

static void lock_give(struct lock *l)
{
    if (atomic_exchange(&l->state, 0) == 2)
        futex_wake_one(&l->state);
}

static void *teller(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock_take(&lock);
        int read = balance;
        while (write(journal[1], "+", 1) < 0 && errno == EINTR)
            ;
        usleep(20);
        balance = read + 1;
        lock_give(&lock);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    char line[THREADS * ROUNDS];
    int lines = 0;
    if (pipe(journal) != 0)
        return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, teller, NULL);
    while (lines < THREADS * ROUNDS) {
        ssize_t n = read(journal[0], line, sizeof line);
        lines += n > 0 ? (int)n : 0;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", balance);
    return balance == THREADS * ROUNDS ? 0 : 1;
}
