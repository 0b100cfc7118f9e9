/*
 * s11_cohort.c -- a lock and a condition on futexes, without the C library's: whoever waits for the
 * next round of a computation is moved to the lock's queue when the round begins.
 *
 * Cause: cond_wait() (line 67) takes the lock again as if nobody else waited for it, so the unlock wakes none of those that were moved to it
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORKERS 2
#define ROUNDS 2

/* 0: free, 1: held, 2: held, and others may wait. */
struct lock {
    atomic_int state;
};

struct cond {
    atomic_int sequence;
};

static long
futex(atomic_int *word, int op, int value, long value2, atomic_int *word2, int value3)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, value2, word2, value3);
}

static void
lock_wait(struct lock *lock)
{
    while (atomic_exchange(&lock->state, 2) != 0) {
        futex(&lock->state, FUTEX_WAIT, 2, 0, NULL, 0);
    }
}

static void
lock_take(struct lock *lock)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong(&lock->state, &expected, 1)) {
        lock_wait(lock);
    }
}

static void
lock_give(struct lock *lock)
{
    if (atomic_exchange(&lock->state, 0) == 2) {
        futex(&lock->state, FUTEX_WAKE, 1, 0, NULL, 0);
    }
}

static void
cond_wait(struct cond *cond, struct lock *lock)
{
    int sequence = atomic_load(&cond->sequence);
    lock_give(lock);
    futex(&cond->sequence, FUTEX_WAIT, sequence, 0, NULL, 0);
#ifdef FIXED
    lock_wait(lock);
#else
    lock_take(lock);
#endif
}

/* With the lock held: one waits for it right away, the others in its queue. */
static void
cond_broadcast(struct cond *cond, struct lock *lock)
{
    int sequence = atomic_fetch_add(&cond->sequence, 1) + 1;
    atomic_store(&lock->state, 2);
    futex(&cond->sequence, FUTEX_CMP_REQUEUE, 1, INT_MAX, &lock->state, sequence);
}

static struct board {
    struct lock lock;
    struct cond begins, ends;
    int round;
    int working;
    long sum;
} board;

static void *
worker_main(void *argument)
{
    long weight = (long)argument;
    for (int round = 1; round <= ROUNDS; round++) {
        lock_take(&board.lock);
        while (board.round < round) {
            cond_wait(&board.begins, &board.lock);
        }
        board.sum += weight * round;
        if (--board.working == 0) {
            cond_broadcast(&board.ends, &board.lock);
        }
        lock_give(&board.lock);
    }
    return NULL;
}

int
main(void)
{
    pthread_t workers[WORKERS];
    for (long i = 0; i < WORKERS; i++) {
        pthread_create(&workers[i], NULL, worker_main, (void *)(i + 1));
    }
    for (int round = 1; round <= ROUNDS; round++) {
        lock_take(&board.lock);
        board.working = WORKERS;
        board.round = round;
        cond_broadcast(&board.begins, &board.lock);
        while (board.working > 0) {
            cond_wait(&board.ends, &board.lock);
        }
        printf("round %d: %ld\n", round, board.sum);
        lock_give(&board.lock);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
    }
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
