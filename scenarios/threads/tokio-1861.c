/*
 * tokio-1861.c -- the scheduler that a thread spawns to is taken for the one that it runs.
 *
 * tokio-rs/tokio#1861, which repairs #1851.
 *
 * The bug. A scheduler has a queue for its own thread, which needs no lock and no wake, and one for
 * other threads. schedule() asks by a thread-local variable which of them to take. But that one
 * says to which scheduler this thread spawns, and it is also set on threads that do not run it. A
 * task that such a thread schedules is in the local queue of a scheduler that sleeps.
 *
 * The fix. A variable of its own that is set only while a thread runs the scheduler.
 *
 * Here. The main thread enters a scheduler that runs on another thread, and spawns two tasks.
 *
 * Cause: never-fired in schedule
 * Must end in: lost-wakeup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#define TASKS 2

struct scheduler {
    pthread_mutex_t mutex;
    pthread_cond_t unparked;
    int shared; /* Tasks that other threads have scheduled. */
    int local;  /* Tasks that its own thread has scheduled. */
    int ran;
};

static _Thread_local struct scheduler *spawns_to;
static _Thread_local struct scheduler *runs;

static void
schedule(struct scheduler *scheduler)
{
#ifdef FIXED
    struct scheduler *current = runs;
#else
    struct scheduler *current = spawns_to;
#endif
    if (current == scheduler) {
        scheduler->local++;
        return;
    }
    pthread_mutex_lock(&scheduler->mutex);
    scheduler->shared++;
    pthread_cond_signal(&scheduler->unparked);
    pthread_mutex_unlock(&scheduler->mutex);
}

static void *
run(void *argument)
{
    struct scheduler *scheduler = argument;
    spawns_to = runs = scheduler;
    pthread_mutex_lock(&scheduler->mutex);
    while (scheduler->ran < TASKS) {
        while (scheduler->local == 0 && scheduler->shared == 0) {
            pthread_cond_wait(&scheduler->unparked, &scheduler->mutex);
        }
        scheduler->ran += scheduler->local + scheduler->shared;
        scheduler->local = scheduler->shared = 0;
    }
    pthread_mutex_unlock(&scheduler->mutex);
    return NULL;
}

int
main(void)
{
    static struct scheduler scheduler = {
            .mutex = PTHREAD_MUTEX_INITIALIZER, .unparked = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    pthread_create(&thread, NULL, run, &scheduler);
    spawns_to = &scheduler;
    for (int i = 0; i < TASKS; i++) {
        schedule(&scheduler);
    }
    return pthread_join(thread, NULL);
}
