/* Cause: swap_buffers(), line 33: after the barrier one thread exchanges the two buffers, but nothing makes the others wait until it has done so; one that goes on first smooths the old buffer once more and writes to the one that is read, and the sum at the end is wrong; repair: a second pthread_barrier_wait after the exchange. */
/*
 * Smooths a ring of samples in several rounds. Each thread has a part of the ring; samples are
 * read from one buffer and written to the other, which change roles after each round.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SAMPLES 12
#define THREADS 3
#define ROUNDS 3

static pthread_barrier_t round_over;
static long buffers[2][SAMPLES];
static long *source = buffers[0];
static long *target = buffers[1];

static void smooth(const long *from, long *to, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        long left = from[(i + SAMPLES - 1) % SAMPLES];
        long right = from[(i + 1) % SAMPLES];
        to[i] = left + 2 * from[i] + right;
    }
}

/* Called by all threads at the end of a round. */
static void swap_buffers(void)
{
    if (pthread_barrier_wait(&round_over) == PTHREAD_BARRIER_SERIAL_THREAD) {
        long *old = source;
        source = target;
        target = old;
    }
#ifdef FIXED
    pthread_barrier_wait(&round_over);
#endif
}

static void *part(void *argument)
{
    int number = (int)(intptr_t)argument;
    int begin = SAMPLES / THREADS * number;
    for (int round = 0; round < ROUNDS; round++) {
        smooth(source, target, begin, begin + SAMPLES / THREADS);
        swap_buffers();
    }
    return NULL;
}

/* The same by one thread, to compare with. */
static void reference(long *values)
{
    long other[SAMPLES];
    for (int round = 0; round < ROUNDS; round++) {
        smooth(values, other, 0, SAMPLES);
        memcpy(values, other, sizeof(other));
    }
}

int main(void)
{
    long expected[SAMPLES];
    pthread_t threads[THREADS];

    for (int i = 0; i < SAMPLES; i++)
        source[i] = expected[i] = i * i % 7;
    reference(expected);

    pthread_barrier_init(&round_over, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, part, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&round_over);

    assert(memcmp(source, expected, sizeof(expected)) == 0);
    printf("first sample %ld\n", source[0]);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
