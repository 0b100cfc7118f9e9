/* A bounded buffer on two semaphores, with time limits, that an operator can pause for a while.
 * Cause: buffer_put() (line 62): a put that finds the buffer paused leaves with the unit of `space` that it has taken,
 * so that each such attempt makes the buffer smaller. Repair: post `space` before that return. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CAPACITY 2
#define PRODUCERS 2
#define EACH 4

struct buffer {
    sem_t space, filled;
    pthread_mutex_t lock;
    int items[CAPACITY];
    unsigned head, tail;
    bool paused;
};

static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void deadline_in(struct timespec *until, long ms)
{
    clock_gettime(CLOCK_REALTIME, until);
    until->tv_nsec += ms * 1000000;
    until->tv_sec += until->tv_nsec / 1000000000;
    until->tv_nsec %= 1000000000;
}

static int sem_take(sem_t *sem, long limit_ms)
{
    struct timespec until;
    int err;
    if (limit_ms == 0) {
        while ((err = sem_wait(sem)) != 0 && errno == EINTR)
            ;
        return err == 0 ? 0 : errno;
    }
    deadline_in(&until, limit_ms);
    while ((err = sem_timedwait(sem, &until)) != 0 && errno == EINTR)
        ;
    return err == 0 ? 0 : errno;
}

/* 0; EAGAIN: paused, ETIMEDOUT: it was full for `limit_ms`. */
static int buffer_put(struct buffer *b, int item, long limit_ms)
{
    int err = sem_take(&b->space, limit_ms);
    if (err != 0)
        return err;
    pthread_mutex_lock(&b->lock);
    if (b->paused) {
        pthread_mutex_unlock(&b->lock);
#ifdef FIXED
        sem_post(&b->space);
#endif
        return EAGAIN;
    }
    b->items[b->tail] = item;
    b->tail = (b->tail + 1) % CAPACITY;
    pthread_mutex_unlock(&b->lock);
    sem_post(&b->filled);
    return 0;
}

static int buffer_get(struct buffer *b, int *item, long limit_ms)
{
    int err = sem_take(&b->filled, limit_ms);
    if (err != 0)
        return err;
    pthread_mutex_lock(&b->lock);
    *item = b->items[b->head];
    b->head = (b->head + 1) % CAPACITY;
    pthread_mutex_unlock(&b->lock);
    sem_post(&b->space);
    return 0;
}

static void buffer_pause(struct buffer *b, bool paused)
{
    pthread_mutex_lock(&b->lock);
    b->paused = paused;
    pthread_mutex_unlock(&b->lock);
}

static void *producer(void *argument)
{
    int first = (int)(long)argument * 100;
    for (int i = 0; i < EACH;) {
        switch (buffer_put(&buffer, first + i, i % 2 == 0 ? 0 : 50)) {
        case 0:
            i++;
            usleep(1000);
            break;
        case EAGAIN:
            usleep(3000);
            break;
        default:
            usleep(100);
        }
    }
    return NULL;
}

static void *consumer(void *argument)
{
    int *sum = argument;
    for (int i = 0; i < PRODUCERS * EACH; i++) {
        int item;
        while (buffer_get(&buffer, &item, 0) != 0)
            ;
        *sum += item;
    }
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS], eater;
    int sum = 0;
    sem_init(&buffer.space, 0, CAPACITY);
    sem_init(&buffer.filled, 0, 0);
    pthread_create(&eater, NULL, consumer, &sum);
    for (long i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer, (void *)i);
    for (int i = 0; i < 2; i++) {
        usleep(i == 0 ? 1400 : 900);
        buffer_pause(&buffer, true);
        usleep(200);
        buffer_pause(&buffer, false);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    pthread_join(eater, NULL);
    assert(sum == 6 + 406);
    printf("sum %d\n", sum);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
