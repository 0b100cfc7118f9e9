// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A worker that beats while it works, a watchdog that looks every 50 ms whether it has beaten and
 * says so if not, and a monitor that polls the progress with a period. None decides anything. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define STEPS 8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool over;
static atomic_int beats, progress, complaints, samples;

static void after(struct timespec *time, long ms)
{
    clock_gettime(CLOCK_REALTIME, time);
    time->tv_nsec += ms * 1000000;
    time->tv_sec += time->tv_nsec / 1000000000;
    time->tv_nsec %= 1000000000;
}

static void *watchdog(void *argument)
{
    int seen = -1;
    pthread_mutex_lock(&mutex);
    while (!over) {
        struct timespec deadline;
        int now = atomic_load(&beats);
        if (now == seen)
            atomic_fetch_add(&complaints, 1);
        seen = now;
        after(&deadline, 50);
        while (!over && pthread_cond_timedwait(&ended, &mutex, &deadline) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *monitor(void *argument)
{
    while (atomic_load(&progress) < STEPS) {
        atomic_fetch_add(&samples, 1);
        usleep(10000);
    }
    return argument;
}

static void *worker(void *argument)
{
    for (int i = 0; i < STEPS; i++) {
        usleep(i % 4 == 3 ? 60000 : 5000);
        atomic_fetch_add(&beats, 1);
        atomic_fetch_add(&progress, 1);
    }
    pthread_mutex_lock(&mutex);
    over = true;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, watchdog, NULL);
    pthread_create(&threads[1], NULL, monitor, NULL);
    pthread_create(&threads[2], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    fprintf(stderr, "%d complaints, %d samples\n", atomic_load(&complaints), atomic_load(&samples));
    return 0;
}
