/* Correct: a job queue whose producers signal outside of the lock and only sometimes, with a poll every few ms as the
 * net below. The consumer that misses a signal is late by design, by at most one period, and never stuck. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define JOBS 6
#define PRODUCERS 2
#define PERIOD_MS 5

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t hint;
    int jobs[JOBS * PRODUCERS];
    int head, tail;
    atomic_bool consumer_idle;
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .hint = PTHREAD_COND_INITIALIZER};

static void queue_put(struct queue *q, int job)
{
    pthread_mutex_lock(&q->lock);
    q->jobs[q->tail++] = job;
    pthread_mutex_unlock(&q->lock);
    /* A hint only: where the consumer is about to wait, it may be missed. */
    if (atomic_load(&q->consumer_idle))
        pthread_cond_signal(&q->hint);
}

/* At most one period; true: there is something. */
static bool queue_wait(struct queue *q)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PERIOD_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&q->lock);
    if (q->head == q->tail) {
        pthread_mutex_unlock(&q->lock);
        atomic_store(&q->consumer_idle, true);
        pthread_mutex_lock(&q->lock);
        pthread_cond_timedwait(&q->hint, &q->lock, &until);
        atomic_store(&q->consumer_idle, false);
    }
    bool some = q->head != q->tail;
    pthread_mutex_unlock(&q->lock);
    return some;
}

static bool queue_take(struct queue *q, int *job)
{
    pthread_mutex_lock(&q->lock);
    bool some = q->head != q->tail;
    if (some)
        *job = q->jobs[q->head++];
    pthread_mutex_unlock(&q->lock);
    return some;
}

static void *producer(void *argument)
{
    for (int i = 0; i < JOBS; i++) {
        queue_put(&queue, i);
        usleep(400);
    }
    return argument;
}

static void *consumer(void *argument)
{
    int *sum = argument;
    for (int done = 0; done < JOBS * PRODUCERS;) {
        int job;
        while (queue_take(&queue, &job)) {
            *sum += job;
            done++;
        }
        if (done < JOBS * PRODUCERS)
            (void)queue_wait(&queue);
    }
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS], eater;
    int sum = 0;
    pthread_create(&eater, NULL, consumer, &sum);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    pthread_join(eater, NULL);
    assert(sum == PRODUCERS * JOBS * (JOBS - 1) / 2);
    printf("sum %d\n", sum);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
