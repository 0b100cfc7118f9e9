/*
 * A collector that is woken for a full batch only; the last, short one is taken when the queue is closed. The wake is
 * sent after the unlock, and a producer that has to wait for space sends none at all.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define BATCH 3
#define SPACE 4

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t batch, space;
    int count, producers;
};

static struct queue queue = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .batch = PTHREAD_COND_INITIALIZER,
        .space = PTHREAD_COND_INITIALIZER,
        .producers = 2,
};

static void queue_put(struct queue *q)
{
    bool full;
    pthread_mutex_lock(&q->lock);
    while (q->count == SPACE)
        pthread_cond_wait(&q->space, &q->lock);
    full = ++q->count == BATCH;
    pthread_mutex_unlock(&q->lock);
    if (full)
        pthread_cond_signal(&q->batch);
}

static void queue_leave(struct queue *q)
{
    bool last;
    pthread_mutex_lock(&q->lock);
    last = --q->producers == 0;
    pthread_mutex_unlock(&q->lock);
    if (last)
        pthread_cond_signal(&q->batch);
}

/* All that is there; 0: there is nothing, and nothing will come. */
static int queue_take(struct queue *q)
{
    int taken;
    pthread_mutex_lock(&q->lock);
    while (q->count < BATCH && q->producers > 0)
        pthread_cond_wait(&q->batch, &q->lock);
    taken = q->count;
    q->count = 0;
    pthread_cond_broadcast(&q->space);
    pthread_mutex_unlock(&q->lock);
    return taken;
}

static void *producer(void *argument)
{
    for (int i = 0; i < 5; i++) {
        queue_put(&queue);
        if (i % 2 == 1)
            usleep(100);
    }
    queue_leave(&queue);
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    int total = 0, taken;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, producer, NULL);
    while ((taken = queue_take(&queue)) > 0)
        total += taken;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d items\n", total);
    return total == 10 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
