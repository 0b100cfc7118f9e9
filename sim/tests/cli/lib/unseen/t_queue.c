// Cause: t_queue.c:44 producers and consumers share one condition and pthread_cond_signal may wake one of the own kind, which waits again
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>

#define CAP 1
#define EACH 2

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_cond_t space;
    int slot[CAP];
    int head, count;
};

static struct queue q = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

#ifdef FIXED
#define SPACE space
#else
#define SPACE changed
#endif

static void put(struct queue *q, int value)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == CAP)
        pthread_cond_wait(&q->SPACE, &q->lock);
    q->slot[(q->head + q->count++) % CAP] = value;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static int get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    int value = q->slot[q->head];
    q->head = (q->head + 1) % CAP;
    q->count--;
    pthread_cond_signal(&q->SPACE);
    pthread_mutex_unlock(&q->lock);
    return value;
}

static void *producer(void *arg)
{
    for (int i = 0; i < EACH; i++)
        put(&q, i);
    return arg;
}

static void *consumer(void *arg)
{
    long *sum = arg;
    for (int i = 0; i < EACH; i++)
        *sum += get(&q);
    return arg;
}

int main(void)
{
    pthread_t p[2], c[2];
    long sum[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        pthread_create(&c[i], NULL, consumer, &sum[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&p[i], NULL, producer, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(p[i], NULL);
        pthread_join(c[i], NULL);
    }
    printf("%ld\n", sum[0] + sum[1]);
    return 0;
}
