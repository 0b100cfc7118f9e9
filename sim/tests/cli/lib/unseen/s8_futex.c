// Cause: lock(): a thread that was woken takes the lock with compare-and-swap from 0 to 1 ("nobody waits") and not
// with 2. When two threads sleep in futex_wait, the one that is woken forgets the other one: its unlock() finds 1,
// wakes nobody, and the second sleeper stays in the futex forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 3

/* 0: free, 1: locked, 2: locked, and perhaps somebody waits */
static atomic_int word;
static int counter;

static void futex_wait(atomic_int *futex, int value)
{
    syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(atomic_int *futex)
{
    syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int swap_if(int expected, int desired)
{
    atomic_compare_exchange_strong(&word, &expected, desired);
    return expected;
}

static void lock(void)
{
    int seen = swap_if(0, 1);
    while (seen != 0) {
        if (seen == 2 || swap_if(1, 2) != 0)
            futex_wait(&word, 2);
#ifdef FIXED
        seen = swap_if(0, 2);
#else
        seen = swap_if(0, 1);
#endif
    }
}

static void unlock(void)
{
    if (atomic_exchange(&word, 0) == 2)
        futex_wake(&word);
}

static void *count(void *argument)
{
    lock();
    int before = counter;
    usleep(500);
    counter = before + 1;
    unlock();
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", counter);
    return counter == THREADS ? 0 : 1;
}
