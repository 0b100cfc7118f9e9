/*
 * monoio-212.c -- a task becomes idle by a load and a store, and a wake between them is gone.
 *
 * bytedance/monoio#212 (2b90c77), and again #293 (5f33e2c).
 *
 * The bug. A task that was polled becomes idle: its runner loads the state, computes the next one
 * and stores it. Another thread wakes the task after the load. It sets the bit for that, finds the
 * task running, and leaves it to the runner, whose store erases the bit.
 *
 * The fix. One compare-and-exchange: transition_to_idle below.
 *
 * Here. A runner polls a task that takes two items, which another thread produces.
 *
 * Cause: erased in transition_to_idle
 * Must end in: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ITEMS 2
enum { IDLE = 0, RUNNING = 1, NOTIFIED = 2 };

static atomic_uint state = NOTIFIED;
static atomic_int produced;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t submitted = PTHREAD_COND_INITIALIZER;
static int queued = 1; /* The task is in the run queue, as at its spawn. */

static void
submit(void)
{
    pthread_mutex_lock(&mutex);
    queued++;
    pthread_cond_signal(&submitted);
    pthread_mutex_unlock(&mutex);
}

static void
wake(void)
{
    unsigned before = atomic_fetch_or(&state, NOTIFIED);
    if (before == IDLE) {
        submit();
    }
}

static bool
transition_to_idle(void)
{
#ifdef FIXED
    unsigned expected = RUNNING;
    return atomic_compare_exchange_strong(&state, &expected, IDLE);
#else
    unsigned now = atomic_load(&state);
    if (now & NOTIFIED) {
        return false;
    }
    atomic_store(&state, now & ~(unsigned)RUNNING);
    return true;
#endif
}

static bool
poll_task(void)
{
    return atomic_load(&produced) == ITEMS;
}

static void *
run(void *unused)
{
    while (true) {
        pthread_mutex_lock(&mutex);
        while (queued == 0) {
            pthread_cond_wait(&submitted, &mutex);
        }
        queued--;
        pthread_mutex_unlock(&mutex);
        do {
            atomic_store(&state, RUNNING);
            if (poll_task()) {
                return unused;
            }
        } while (!transition_to_idle());
    }
}

int
main(void)
{
    pthread_t runner;
    pthread_create(&runner, NULL, run, NULL);
    for (int i = 0; i < ITEMS; i++) {
        atomic_fetch_add(&produced, 1);
        wake();
    }
    return pthread_join(runner, NULL);
}
