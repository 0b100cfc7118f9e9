/* A pipeline of a source, three workers that batch their results, and a sink, which ends at an end marker.
 * Cause: worker() (line 93): a worker leaves the count of the active ones before its last batch is flushed, so the
 * last one may send the end marker first. Repair: flush, then leave. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define WORKERS 3
#define ITEMS 9
#define CAPACITY 4
#define BATCH 2
#define END (-1)

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    int items[CAPACITY];
    unsigned head, count;
};

#define QUEUE_INIT \
    {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER}

static struct queue raw = QUEUE_INIT, cooked = QUEUE_INIT;
static atomic_int active = WORKERS;

static void queue_put(struct queue *q, int item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == CAPACITY)
        pthread_cond_wait(&q->not_full, &q->lock);
    q->items[(q->head + q->count++) % CAPACITY] = item;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

static int queue_get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->not_empty, &q->lock);
    int item = q->items[q->head];
    q->head = (q->head + 1) % CAPACITY;
    q->count--;
    pthread_cond_signal(&q->not_full);
    pthread_mutex_unlock(&q->lock);
    return item;
}

struct batch {
    int items[BATCH];
    int used;
};

static void batch_flush(struct batch *b)
{
    for (int i = 0; i < b->used; i++)
        queue_put(&cooked, b->items[i]);
    b->used = 0;
}

static void batch_add(struct batch *b, int item)
{
    b->items[b->used++] = item;
    if (b->used == BATCH)
        batch_flush(b);
}

static void *source(void *argument)
{
    for (int i = 0; i < ITEMS; i++)
        queue_put(&raw, i);
    for (int i = 0; i < WORKERS; i++)
        queue_put(&raw, END);
    return argument;
}

static void *worker(void *argument)
{
    struct batch batch = {.used = 0};
    for (;;) {
        int item = queue_get(&raw);
        if (item == END)
            break;
        batch_add(&batch, item * item);
    }
#ifdef FIXED
    batch_flush(&batch);
    int left = atomic_fetch_sub(&active, 1) - 1;
#else
    int left = atomic_fetch_sub(&active, 1) - 1;
    batch_flush(&batch);
#endif
    if (left == 0)
        queue_put(&cooked, END);
    return argument;
}

static void *sink(void *argument)
{
    int *sum = argument;
    for (;;) {
        int item = queue_get(&cooked);
        if (item == END)
            return NULL;
        *sum += item;
    }
}

int main(void)
{
    pthread_t threads[WORKERS + 2];
    int sum = 0, expected = 0;
    for (int i = 0; i < ITEMS; i++)
        expected += i * i;
    pthread_create(&threads[0], NULL, source, NULL);
    pthread_create(&threads[1], NULL, sink, &sum);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[2 + i], NULL, worker, NULL);
    pthread_join(threads[1], NULL);
    assert(sum == expected);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[2 + i], NULL);
    pthread_join(threads[0], NULL);
    printf("sum %d\n", sum);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
