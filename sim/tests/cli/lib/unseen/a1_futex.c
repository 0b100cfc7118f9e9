// Cause: a1_futex.c:31 a thread that has slept takes the lock as 1 (no waiters) instead of 2, so its unlock wakes no other sleeper
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

// 0: free, 1: locked, 2: locked, and somebody may sleep
typedef struct {
    atomic_int state;
} lock_t;

static int compare_exchange(atomic_int *p, int expected, int desired)
{
    atomic_compare_exchange_strong(p, &expected, desired);
    return expected;
}

static void lock_slow(lock_t *l, int state)
{
    do {
        if (state == 2 || compare_exchange(&l->state, 1, 2) != 0)
            syscall(SYS_futex, &l->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
#ifdef FIXED
        state = compare_exchange(&l->state, 0, 2);
#else
        state = compare_exchange(&l->state, 0, 1);
#endif
    } while (state != 0);
}

static void lock(lock_t *l)
{
    int state = compare_exchange(&l->state, 0, 1);
    if (state != 0)
        lock_slow(l, state);
}

static void unlock(lock_t *l)
{
    if (atomic_fetch_sub(&l->state, 1) == 1)
        return;
    atomic_store(&l->state, 0);
    syscall(SYS_futex, &l->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static lock_t journal_lock;
static int entries;

static void *writer(void *argument)
{
    for (int i = 0; i < 2; i++) {
        lock(&journal_lock);
        int before = entries;
        usleep(20); // writes the entry
        entries = before + 1;
        unlock(&journal_lock);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(entries == 6);
    return 0;
}
