// Cause: put() and take() wait for one condition variable, `changed`, and wake with pthread_cond_signal(). With two
// producers, two consumers and room for one item, the signal of a consumer (take) can reach the other consumer instead
// of a producer; that one finds the buffer empty and waits again, and nobody signals the producers any more.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define ITEMS 4 /* of each producer */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int item;
static int full;
static int taken;

static void tell(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void put(int value)
{
    pthread_mutex_lock(&mutex);
    while (full)
        pthread_cond_wait(&changed, &mutex);
    item = value;
    full = 1;
    tell();
    pthread_mutex_unlock(&mutex);
}

static int take(void)
{
    pthread_mutex_lock(&mutex);
    while (!full)
        pthread_cond_wait(&changed, &mutex);
    int value = item;
    full = 0;
    taken++;
    tell();
    pthread_mutex_unlock(&mutex);
    return value;
}

static void *producer(void *argument)
{
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return argument;
}

static void *consumer(void *argument)
{
    for (int i = 1; i <= ITEMS; i++)
        assert(take() > 0);
    return argument;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? consumer : producer, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d taken\n", taken);
    return 0;
}
