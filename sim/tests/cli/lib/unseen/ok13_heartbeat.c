/* A writer that is told of new samples only if the lock for that is free, and looks every 10 ms anyway:
 * correct, as the wait has a time-out and samples may be late by design. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define PRODUCERS 2
#define SAMPLES 4
#define RING 16

static struct {
    pthread_mutex_t bell_lock;
    pthread_cond_t bell;
    bool rung;

    pthread_mutex_t ring_lock;
    int ring[RING];
    unsigned head;
    unsigned tail;
} samples = {
    .bell_lock = PTHREAD_MUTEX_INITIALIZER,
    .bell = PTHREAD_COND_INITIALIZER,
    .ring_lock = PTHREAD_MUTEX_INITIALIZER,
};

/* Never waits for the writer: a producer is a thread with a deadline. */
static void bell_ring(void)
{
    if (pthread_mutex_trylock(&samples.bell_lock) != 0)
        return;
    samples.rung = true;
    pthread_cond_signal(&samples.bell);
    pthread_mutex_unlock(&samples.bell_lock);
}

static void sample_put(int value)
{
    pthread_mutex_lock(&samples.ring_lock);
    assert(samples.head - samples.tail < RING);
    samples.ring[samples.head++ % RING] = value;
    pthread_mutex_unlock(&samples.ring_lock);
    bell_ring();
}

static unsigned samples_take(int *ret_values)
{
    unsigned n = 0;

    pthread_mutex_lock(&samples.ring_lock);
    while (samples.tail != samples.head)
        ret_values[n++] = samples.ring[samples.tail++ % RING];
    pthread_mutex_unlock(&samples.ring_lock);
    return n;
}

static void bell_wait(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 10 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&samples.bell_lock);
    if (!samples.rung)
        pthread_cond_timedwait(&samples.bell, &samples.bell_lock, &until);
    samples.rung = false;
    pthread_mutex_unlock(&samples.bell_lock);
}

static void *writer_main(void *argument)
{
    int values[RING];
    unsigned written = 0;
    long *sum = argument;

    while (written < PRODUCERS * SAMPLES) {
        unsigned n = samples_take(values);
        for (unsigned i = 0; i < n; i++)
            *sum += values[i];
        written += n;
        if (n == 0)
            bell_wait();
    }
    return NULL;
}

static void *producer_main(void *argument)
{
    struct timespec period = {0, 700 * 1000};

    for (int i = 1; i <= SAMPLES; i++) {
        sample_put(i);
        nanosleep(&period, NULL);
    }
    return argument;
}

int main(void)
{
    pthread_t writer, producers[PRODUCERS];
    long sum = 0;

    pthread_create(&writer, NULL, writer_main, &sum);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer_main, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    pthread_join(writer, NULL);
    assert(sum == PRODUCERS * SAMPLES * (SAMPLES + 1) / 2);
    printf("%ld\n", sum);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
