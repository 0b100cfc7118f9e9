/* ok16_drain.c -- a queue with one consumer: signals only when it was empty, outside of the lock.
 *
 * Correct: the consumer takes all that is there, and waits only after it has seen an empty queue
 * under the lock, so every put that finds it empty signals, and no other one needs to. The unlocked
 * look at `count` is only a hint, and is made again under the lock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define PRODUCERS 3
#define ITEMS 3

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    pthread_cond_t emptied;
    int items[4];
    atomic_uint count;
    int stopping;
};

static struct queue queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
        .filled = PTHREAD_COND_INITIALIZER,
        .emptied = PTHREAD_COND_INITIALIZER};

static void
put(int item)
{
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == 4) {
        pthread_cond_wait(&queue.emptied, &queue.mutex);
    }
    int was_empty = queue.count == 0;
    queue.items[queue.count] = item;
    queue.count++;
    pthread_mutex_unlock(&queue.mutex);
    if (was_empty) {
        pthread_cond_signal(&queue.filled);
    }
}

/* Takes all; 0: the end. */
static unsigned
take_all(int *items)
{
    if (queue.count == 0) {
        usleep(50); /* Perhaps there is something soon. */
    }
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == 0 && !queue.stopping) {
        pthread_cond_wait(&queue.filled, &queue.mutex);
    }
    unsigned count = queue.count;
    for (unsigned i = 0; i < count; i++) {
        items[i] = queue.items[i];
    }
    queue.count = 0;
    pthread_mutex_unlock(&queue.mutex);
    pthread_cond_broadcast(&queue.emptied);
    return count;
}

static void *
consumer(void *argument)
{
    int *sum = argument;
    int items[4];
    for (unsigned n; (n = take_all(items)) > 0;) {
        for (unsigned i = 0; i < n; i++) {
            *sum += items[i];
        }
    }
    return NULL;
}

static void *
producer(void *argument)
{
    for (int i = 1; i <= ITEMS; i++) {
        put(i);
    }
    return argument;
}

int
main(void)
{
    pthread_t consuming;
    pthread_t producing[PRODUCERS];
    int sum = 0;
    pthread_create(&consuming, NULL, consumer, &sum);
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_create(&producing[i], NULL, producer, NULL);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        pthread_join(producing[i], NULL);
    }
    pthread_mutex_lock(&queue.mutex);
    queue.stopping = 1;
    pthread_mutex_unlock(&queue.mutex);
    pthread_cond_signal(&queue.filled);
    pthread_join(consuming, NULL);
    assert(sum == PRODUCERS * ITEMS * (ITEMS + 1) / 2);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
