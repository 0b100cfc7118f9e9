// Correct: main polls a flag and a queue every millisecond; two workers never wake it.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 2
#define RESULTS 3 /* of each */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int results;
static atomic_int running = WORKERS;

static void *worker(void *argument)
{
    for (int i = 0; i < RESULTS; i++) {
        usleep(argument != NULL ? 2500 : 4000);
        pthread_mutex_lock(&mutex);
        results++;
        pthread_mutex_unlock(&mutex);
    }
    running--;
    return argument;
}

static int take_results(void)
{
    pthread_mutex_lock(&mutex);
    int taken = results;
    results = 0;
    pthread_mutex_unlock(&mutex);
    return taken;
}

int main(void)
{
    pthread_t threads[WORKERS];
    int taken = 0;
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    while (running > 0) {
        taken += take_results();
        usleep(1000);
    }
    taken += take_results();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d results\n", taken);
    return taken == WORKERS * RESULTS ? 0 : 1;
}
