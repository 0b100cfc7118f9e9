// Cause: queue_take() loads the key (`epoch`) after its last look into the queue (queue_pop), not before. A job
// pushed, and notified, between that look and the load is in the key already, so FUTEX_WAIT sleeps although a job is
// there. Load the key first, look then, and wait with that key.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* atomics */
/* A work queue whose consumers sleep on an event count (a futex word with a number of epochs), so
 * that a producer makes no system call while nobody sleeps. */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JOBS 4
#define CONSUMERS 2

struct eventcount {
    atomic_uint epoch;
    atomic_uint sleepers;
};

static struct eventcount available;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[JOBS];
static int head, tail;
static bool closed;
static atomic_int done;

static void
futex(atomic_uint *word, int op, unsigned value)
{
    syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void
eventcount_notify(struct eventcount *ec, int count)
{
    atomic_fetch_add(&ec->epoch, 1);
    if (atomic_load(&ec->sleepers) > 0) {
        futex(&ec->epoch, FUTEX_WAKE, (unsigned)count);
    }
}

/* 1: a job; 0: none now; -1: there will be none. */
static int
queue_pop(int *ret_job)
{
    int answer = 0;
    pthread_mutex_lock(&queue_lock);
    if (head < tail) {
        *ret_job = queue[head++];
        answer = 1;
    } else if (closed) {
        answer = -1;
    }
    pthread_mutex_unlock(&queue_lock);
    return answer;
}

static int
queue_take(int *ret_job)
{
    int answer = queue_pop(ret_job);
    while (answer == 0) {
        atomic_fetch_add(&available.sleepers, 1);
#ifdef FIXED
        unsigned key = atomic_load(&available.epoch);
        answer = queue_pop(ret_job);
        if (answer == 0) {
            futex(&available.epoch, FUTEX_WAIT, key);
        }
#else
        answer = queue_pop(ret_job);
        unsigned key = atomic_load(&available.epoch);
        if (answer == 0) {
            futex(&available.epoch, FUTEX_WAIT, key);
        }
#endif
        atomic_fetch_sub(&available.sleepers, 1);
        if (answer == 0) {
            answer = queue_pop(ret_job);
        }
    }
    return answer;
}

static void *
consumer(void *argument)
{
    int job;
    while (queue_take(&job) > 0) {
        atomic_fetch_add(&done, job);
    }
    return argument;
}

int
main(void)
{
    pthread_t threads[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++) {
        pthread_create(&threads[i], NULL, consumer, NULL);
    }
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&queue_lock);
        queue[tail++] = 1;
        pthread_mutex_unlock(&queue_lock);
        eventcount_notify(&available, 1);
    }
    pthread_mutex_lock(&queue_lock);
    closed = true;
    pthread_mutex_unlock(&queue_lock);
    eventcount_notify(&available, INT_MAX);
    for (int i = 0; i < CONSUMERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d jobs\n", atomic_load(&done));
    return 0;
}
