/*
 * wasmtime-5871.c -- a wait times out while an unpark is under way to it.
 *
 * bytecodealliance/wasmtime#5871.
 *
 * The bug. A spot where threads park counts how many are parked, and how many of these have been
 * unparked and have not continued yet. A waiter whose time is over leaves, although it may be one
 * of the unparked. The last one to leave finds an unpark that no waiter has taken: "missed unpark".
 *
 * The fix. A waiter takes an unpark also where its time is over: park below.
 *
 * Here. A thread parks for 1 ms, and another one unparks it after as long.
 *
 * Cause: not-a-wake in park
 * Must end in: invariant, the assertion of the original.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int parked;
static int unparked; /* Of these. */

static bool
park(const struct timespec *until)
{
    bool taken = false;
    pthread_mutex_lock(&mutex);
    parked++;
    while (!taken) {
        bool timed_out = pthread_cond_timedwait(&cond, &mutex, until) != 0;
#ifdef FIXED
        taken = unparked > 0;
#else
        taken = unparked > 0 && !timed_out;
#endif
        if (timed_out) {
            break;
        }
    }
    unparked -= taken;
    parked--;
    assert(parked > 0 || unparked == 0); /* Missed unpark. */
    pthread_mutex_unlock(&mutex);
    return taken;
}

static void *
unpark(void *unused)
{
    usleep(1000);
    pthread_mutex_lock(&mutex);
    if (unparked < parked) {
        unparked++;
        pthread_cond_signal(&cond);
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

int
main(void)
{
    pthread_t thread;
    struct timespec until;
    pthread_create(&thread, NULL, unpark, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    park(&until);
    return pthread_join(thread, NULL);
}
