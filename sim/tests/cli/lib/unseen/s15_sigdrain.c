/* Cause: next_job(), line 54: the queue is checked, and only then the thread unblocks the signal and pauses; a
 * signal in between is handled before the pause, which sleeps for ever; repair: sigsuspend with the old mask. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* A batch thread in the old style: it sleeps in pause(), and producers wake it with SIGUSR1. */

#define JOBS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[JOBS];
static int put_count;
static int taken;
static pthread_t batch_thread;
static volatile sig_atomic_t wakes;

static void
on_wake(int number)
{
    (void)number;
    wakes++;
}

static int
try_take(int *job)
{
    int found = 0;
    pthread_mutex_lock(&lock);
    if (taken < put_count) {
        *job = queue[taken++];
        found = 1;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int
next_job(void)
{
    sigset_t usr1;
    sigset_t before;
    int job = 0;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, &before);
    while (!try_take(&job)) {
#ifdef FIXED
        sigsuspend(&before);
#else
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pause();
        pthread_sigmask(SIG_BLOCK, &usr1, &before);
#endif
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return job;
}

static void *
batch(void *argument)
{
    int sum = 0;
    for (int i = 0; i < JOBS; i++) {
        sum += next_job();
    }
    *(int *)argument = sum;
    return NULL;
}

static void *
producer(void *argument)
{
    for (int i = 1; i <= JOBS; i++) {
        pthread_mutex_lock(&lock);
        queue[put_count++] = i;
        pthread_mutex_unlock(&lock);
        pthread_kill(batch_thread, SIGUSR1);
        usleep(1000);
    }
    return argument;
}

int
main(void)
{
    struct sigaction action = {.sa_handler = on_wake};
    pthread_t producers;
    int sum = 0;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&batch_thread, NULL, batch, &sum);
    pthread_create(&producers, NULL, producer, NULL);
    pthread_join(producers, NULL);
    pthread_join(batch_thread, NULL);
    assert(sum == 10);
    printf("sum %d after %d wakes\n", sum, (int)wakes);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
