// Cause: barrier_wait(), the loop `while (arrived != 0)`: the barrier has no generation. The thread that comes last sets
// `arrived` to 0 and may enter the next round, where it sets it to 1, before the others have looked at it; they take
// that for the old round, wait again, and all threads wait for one that is already inside.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t complete = PTHREAD_COND_INITIALIZER;
static int arrived;
#ifdef FIXED
static int generation;
#endif

static void barrier_wait(void)
{
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    int own = generation;
#endif
    if (++arrived == THREADS) {
        arrived = 0;
#ifdef FIXED
        generation++;
#endif
        pthread_cond_broadcast(&complete);
    } else {
#ifdef FIXED
        while (own == generation)
#else
        while (arrived != 0)
#endif
            pthread_cond_wait(&complete, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void *simulate(void *argument)
{
    int *cells = argument;
    for (int round = 0; round < ROUNDS; round++) {
        usleep(1000); /* It computes its part. */
        ++*cells;
        barrier_wait();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int cells[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, simulate, &cells[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d %d\n", cells[0], cells[1], cells[2]);
    return 0;
}
