// Cause: s4_barrier.c:36 a waiting thread asks whether the count is zero instead of whether its own round is over, so that a faster thread that has entered the next round makes it sleep on, and that round is never complete.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Three threads compute in rounds: each round needs the results of all in the round before. */

enum { THREADS = 3, ROUNDS = 4 };

struct barrier {
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    int count;
    unsigned round;
};

static struct barrier barrier = {.mutex = PTHREAD_MUTEX_INITIALIZER, .all_here = PTHREAD_COND_INITIALIZER};
static int cells[2][THREADS];

static void barrier_wait(struct barrier *b)
{
    pthread_mutex_lock(&b->mutex);
    if (++b->count == THREADS) {
        b->count = 0;
        b->round++;
        pthread_cond_broadcast(&b->all_here);
    } else {
#ifdef FIXED
        unsigned mine = b->round;
        while (b->round == mine)
#else
        while (b->count != 0)
#endif
            pthread_cond_wait(&b->all_here, &b->mutex);
    }
    pthread_mutex_unlock(&b->mutex);
}

static void *compute(void *argument)
{
    int self = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        const int *from = cells[round % 2];
        int *to = cells[1 - round % 2];
        int sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += from[i];
        to[self] = sum;
        usleep(300 + 200 * ((round + self) % 2));
        barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int selves[THREADS];
    for (int i = 0; i < THREADS; i++)
        cells[0][i] = 1;
    for (int i = 0; i < THREADS; i++) {
        selves[i] = i;
        pthread_create(&threads[i], NULL, compute, &selves[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert(cells[ROUNDS % 2][i] == 3 * 3 * 3 * 3);
    printf("%d\n", cells[ROUNDS % 2][0]);
    return 0;
}
